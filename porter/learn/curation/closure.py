"""A class with all that it needs of its repository, as one file that imports torch and Python's own library alone."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field

from porter.learn.curation.bindings import Absent, Binding, Imported, names_bound_within
from porter.learn.curation.sources import Repository, SourceFile

# Of Python's own library what computes, and reaches nothing outside of the process.
_ALLOWED = frozenset(
    ("torch", "math", "typing", "functools", "itertools", "collections", "dataclasses", "copy", "enum", "warnings",
     "operator", "numbers", "abc", "types", "contextlib", "string", "re", "logging", "__future__", "inspect")
)  # fmt: skip
_MOST_PARTS, _MOST_LINES = 150, 2500
_PYTHONS_OWN = frozenset(dir(builtins)) | {"__name__", "__file__", "__class__"}
_OF_TASKS = ("Model", "reference", "get_inputs", "get_init_inputs")
_DEEPEST = 12  # re-exports that are followed


class NeedsMoreError(Exception):
    """Why a class cannot stand alone."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A statement of a file, under the name that it has there."""

    file: str
    name: str


@dataclass
class _Closure:
    """The parts gathered so far; `order` has parts after those that they need."""

    repository: Repository
    imports: dict[str, str] = field(default_factory=dict)  # a name in the result, and what it means, with dots
    names: dict[str, _Part] = field(default_factory=dict)  # a name in the result, and the part that binds it
    order: list[str] = field(default_factory=list)
    seen: set[int] = field(default_factory=set)  # the statements

    def take(self, file: SourceFile, name: str, depth: int = 0) -> str:
        """Adds what `name` means in `file`, and returns what it is called in the result. Raises `NeedsMoreError`."""
        options = file.bindings.get(name, [])
        failure = NeedsMoreError(f"{name} is not defined in its repository")
        for binding in sorted(options, key=lambda one: isinstance(one, Absent)):
            try:
                return self._bind(file, name, binding, depth)
            except NeedsMoreError as error:
                failure = error
        for star in file.stars:
            origin = self._origin(file, Imported(star.module or "", "", star.level))
            if origin is not None and depth < _DEEPEST and name in origin.bindings:
                return self.take(origin, name, depth + 1)
        raise failure

    def _bind(self, file: SourceFile, name: str, binding: Binding, depth: int) -> str:
        if isinstance(binding, Imported):
            return self._import(file, name, binding, depth)
        return self._define(file, name, binding.statement if isinstance(binding, Absent) else binding)

    def _import(self, file: SourceFile, name: str, wanted: Imported, depth: int) -> str:
        root = wanted.target.partition(".")[0]
        if not wanted.level and root in _ALLOWED:
            return self._import_allowed(name, wanted.target)
        origin = self._origin(file, wanted)
        if origin is None:
            raise NeedsMoreError(f"needs the package {root}" if not wanted.level else f"needs a missing file ({name})")
        if not wanted.member:
            raise NeedsMoreError("uses a file of its repository as a whole")
        if depth > _DEEPEST:
            raise NeedsMoreError("is imported in a circle")
        return self.take(origin, wanted.member, depth + 1)

    def _import_allowed(self, name: str, target: str) -> str:
        if self.imports.get(name, target) != target or name in self.names:
            raise NeedsMoreError("needs two things of one name")
        self.imports[name] = target
        return name

    def _origin(self, file: SourceFile, wanted: Imported) -> SourceFile | None:
        if not wanted.level:
            return self.repository.module(wanted.module)
        folder = file.path.split("/")[: -wanted.level]
        base = "/".join([*folder, *wanted.module.split(".")]) if wanted.module else "/".join(folder)
        for path in (f"{base}.py", f"{base}/__init__.py"):
            if path in self.repository.files:
                return self.repository.files[path]
        return None

    def _define(self, file: SourceFile, name: str, node: ast.stmt) -> str:
        part = _Part(file.path, name)
        called = name
        while self.names.get(called, part) != part or called in self.imports or called in _OF_TASKS:
            called += "_"
        if called in self.names:
            return called
        self.names[called] = part
        if id(node) not in self.seen:
            self.seen.add(id(node))
            self._add(file, node, {name: called})
        elif called != name:
            raise NeedsMoreError("needs two things of one name")
        return called

    def _add(self, file: SourceFile, node: ast.stmt, renamed: dict[str, str]) -> None:
        if len(self.seen) > _MOST_PARTS:
            raise NeedsMoreError(f"needs more than {_MOST_PARTS} definitions")
        prepared = file.prepared(node)
        for needed in prepared.names:
            if needed not in renamed and (needed in file.bindings or needed not in _PYTHONS_OWN):
                renamed[needed] = self.take(file, needed)
        changed = {name: called for name, called in renamed.items() if called != name}
        self.order.append(ast.unparse(_renamed(prepared.node, changed)) if changed else prepared.text)

    def text(self) -> str:
        """Returns the file. Raises `NeedsMoreError` where it is long."""
        lines = ["from __future__ import annotations\n", *sorted(_import_line(*one) for one in self.imports.items())]
        if not any(line == "import torch" for line in lines):
            lines.insert(1, "import torch")
        text = "\n".join(lines) + "\n\n\n" + "\n\n\n".join(self.order) + "\n"
        if text.count("\n") > _MOST_LINES:
            raise NeedsMoreError(f"needs more than {_MOST_LINES} lines")
        return text


def standing_alone(repository: Repository, file: SourceFile, name: str) -> tuple[str, str]:
    """Returns the class `name` of `file` with all that it needs, as a file, and what it is called there: what the form
    of tasks has names for is called otherwise. Raises `NeedsMoreError`.
    """
    closure = _Closure(repository)
    try:
        called = closure.take(file, name)
    except RecursionError:
        raise NeedsMoreError("is nested too deeply") from None
    return closure.text(), called


def _import_line(name: str, target: str) -> str:
    if target == name:
        return f"import {name}"
    module, _, member = target.rpartition(".")
    if not module:
        return f"import {target} as {name}"
    return f"from {module} import {member}" + ("" if member == name else f" as {name}")


def _renamed(node: ast.stmt, names: dict[str, str]) -> ast.stmt:
    if names.keys() & names_bound_within(node) - _defined(node):
        raise NeedsMoreError("needs two things of one name")
    node = deepcopy(node)
    for inner in ast.walk(node):
        match inner:
            case ast.Name(id=name) if name in names:
                inner.id = names[name]
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        node.name = names.get(node.name, node.name)
    return node


def _defined(node: ast.stmt) -> set[str]:
    if isinstance(node, (ast.Assign, ast.AnnAssign)):
        return names_bound_within(node)
    return set()


def meaning(repository: Repository, file: SourceFile, expression: ast.expr) -> str | tuple[SourceFile, str]:
    """Returns what an expression of names and dots means: a name of torch or another package, or a class of a file."""
    dotted = ast.unparse(expression)
    root, _, rest = dotted.partition(".")
    place: SourceFile | None = file
    name = root
    for _ in range(_DEEPEST):
        found = _last(place, name) if place is not None else None
        if found is None:
            return dotted
        if isinstance(found, ast.stmt):
            return (place, name) if place is not None and not rest else dotted
        if isinstance(found, Absent) or place is None:
            return dotted
        origin = _Closure(repository)._origin(place, found)
        if origin is None or not found.member:
            return ".".join(part for part in (found.target, rest) if part)
        place, name = origin, found.member
    return dotted


def _last(file: SourceFile, name: str) -> Binding | None:
    options = file.bindings.get(name, [])
    return options[-1] if options else None


def classes(file: SourceFile) -> Iterator[ast.ClassDef]:
    """Yields the classes at the top level of a file, one of each name."""
    for options in file.bindings.values():
        found = next((one for one in options if isinstance(one, ast.ClassDef)), None)
        if found is not None:
            yield found
