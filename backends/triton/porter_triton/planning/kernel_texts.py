"""Reads the text of a kernel, and the meaning of the names in it.

Decorators are left out. A chain such as `math.pi` or `Sizes.BLOCK` becomes a name that is bound to its value; lines
stay where they are. All of it is checked when the kernel is rebuilt.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import FunctionType, ModuleType
from typing import Any

import triton.language as tl
from triton.runtime.autotuner import Autotuner, Heuristics
from triton.runtime.jit import JITFunction, KernelParam

from porter.execution.job import FaultKind
from porter.launch_plan.steps import ElementType, KernelName, Scalar
from porter.launch_plan.wire import encode
from porter.python_tree import module_tree
from porter.source.edit import Edit, apply_edits
from porter_triton.kernel_rules import bound_in
from porter_triton.language import LANGUAGE, names_of
from porter_triton.planning.recorder import Recorder
from porter_triton.records import Binding, Builtin, CompileTime, Foreign, KernelText, LanguageName, Values

_DIGITS = 16  # of a key: equal texts are one kernel


class KernelTexts:
    """The kernels of a module by their keys; the text of each is recorded once."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._keys: dict[int, str] = {}
        self._kept: list[object] = []  # kept alive, so that no other object gets their identity
        self._looked: dict[int, list[_Constant]] = {}
        self._language = names_of()

    def key_of(self, kernel: object) -> str:
        """Returns what plans call `kernel`."""
        while isinstance(kernel, (Autotuner, Heuristics)):
            kernel = kernel.fn
        if id(kernel) not in self._keys:
            if not isinstance(kernel, JITFunction) or not isinstance(kernel.fn, FunctionType):
                self._recorder.refuse(
                    FaultKind.UNKNOWN, f"it launches a {type(kernel).__name__}, which is no Triton kernel"
                )
            assert isinstance(kernel, JITFunction)
            self._keys[id(kernel)] = ""  # while its text is read, which names others
            self._kept.append(kernel)
            text = self._text(kernel)
            self._keys[id(kernel)] = text.key
            self._recorder.kernel(text)
        elif changed := next((c for c in self._looked.get(id(kernel), ()) if self.binding(c.now()) != c.then), None):
            message = f"the kernel's {changed.name} is another than when it was launched first"
            self._recorder.refuse(FaultKind.HOST_CHECK, message)  # as Triton does, or compiles it again or does not
        if not self._keys[id(kernel)]:
            self._recorder.refuse(FaultKind.UNKNOWN, "it launches a kernel that calls itself")
        return self._keys[id(kernel)]

    def _text(self, kernel: JITFunction[Any]) -> KernelText:
        reading = _Reading(self, kernel)
        text, bindings = reading.result()
        self._looked[id(kernel)] = reading.looked
        code = kernel.fn.__code__
        line = int(getattr(kernel, "starting_line_number", code.co_firstlineno)) + _lines_before(kernel)
        found = KernelText("", reading.function.name, text, bindings, bool(kernel.noinline), code.co_filename, line)
        digest = hashlib.sha256(encode(found).encode()).hexdigest()[:_DIGITS]
        return replace(found, key=f"{found.name}_{digest}")

    def binding(self, value: object) -> Binding:
        """Returns what a name stands for."""
        match value:
            case tl.constexpr():
                return CompileTime(self.binding(value.value))
            case None | bool() | str():
                return Scalar(value)
            case tl.dtype():
                return ElementType(value.name)
            case JITFunction() | Autotuner() | Heuristics():
                return KernelName(self.key_of(value))
            case tuple() | list():
                return Values(tuple(map(self.binding, value)))
        if type(value) in (int, float):
            return Scalar(value)  # type: ignore[arg-type]
        if isinstance(value, ModuleType):
            return LanguageName("tl") if value is tl else Foreign(f"the module {value.__name__}")
        if (path := self._language.get(id(value))) is not None:
            return LanguageName(path)
        name = getattr(value, "__name__", "")
        if isinstance(name, str) and getattr(builtins, name, LANGUAGE) is value:
            return Builtin(name)
        return Foreign(f"a {type(value).__name__}")


@dataclass(frozen=True, slots=True)
class _Constant:
    """A name of a kernel's text: its meaning when the text was read, and how to ask for its meaning `now`."""

    name: str
    now: Callable[[], object]
    then: Binding


class _Reading:
    """One kernel's text with its names resolved."""

    def __init__(self, texts: KernelTexts, kernel: JITFunction[Any]) -> None:
        self._texts = texts
        self._kernel = kernel
        self._fn: FunctionType = kernel.fn
        source = textwrap.dedent(kernel.src)
        tree = module_tree(source).body[0]
        assert isinstance(tree, ast.FunctionDef)
        self.function = tree
        self._source = source
        self._starts = _line_starts(source)
        self._scope = _scope_of(self._fn)
        self._local = frozenset(bound_in(tree))
        self._bindings: dict[str, Binding] = {}
        self.looked: list[_Constant] = []

    def result(self) -> tuple[str, tuple[tuple[str, Binding], ...]]:
        """Returns the text from `def` on, and its bindings."""
        edits = [*self._annotations(), *self._defaults()]
        for statement in self.function.body:
            edits += self._resolved(statement)
        begin = self._at(self.function.lineno, self.function.col_offset)
        moved = [Edit(e.start - begin, e.end - begin, e.replacement) for e in edits if e.start >= begin]
        text = apply_edits(self._source[begin:], moved)
        return text.rstrip() + "\n", tuple(sorted(self._bindings.items()))

    def _annotations(self) -> Iterator[Edit]:
        """Parameters are compile-time values, have a type that Triton reads, or say nothing that matters."""
        notes = {parameter.name: _annotation(parameter) for parameter in self._kernel.params}
        arguments = self.function.args
        for parameter in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg):
            if parameter is None or parameter.annotation is None:
                continue
            note = notes.get(parameter.arg, "")
            first = self._at(parameter.lineno, parameter.col_offset) + len(parameter.arg)
            yield Edit(first, self._end(parameter.annotation), f": {note}" if note else "")
            if note:
                self._bindings["tl"] = LanguageName("tl")
        if self.function.returns is not None:
            arrow = self._source.rindex(
                "->", 0, self._at(self.function.returns.lineno, self.function.returns.col_offset)
            )
            yield Edit(arrow, self._end(self.function.returns), "")

    def _defaults(self) -> Iterator[Edit]:
        values = inspect.signature(self._fn).parameters
        arguments = self.function.args
        positional = [*arguments.posonlyargs, *arguments.args]
        given = [
            *zip(reversed(positional), reversed(arguments.defaults), strict=False),
            *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
        ]
        for parameter, default in given:
            if default is not None:
                name = f"_default_{parameter.arg}"
                self._bindings[name] = self._texts.binding(values[parameter.arg].default)
                yield Edit(self._at(default.lineno, default.col_offset), self._end(default), name)

    def _resolved(self, node: ast.AST) -> Iterator[Edit]:
        """Yields edits of the chains below `node` that begin with a name of the module's; binds its other names."""
        if isinstance(node, ast.Attribute) and (edit := self._chain(node)) is not None:
            yield edit
            return
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in self._local:
            self._bind(node.id)
        for inner in ast.iter_child_nodes(node):
            yield from self._resolved(inner)

    def _chain(self, node: ast.Attribute) -> Edit | None:
        """Returns `math.pi` as a name of its own; None where the chain begins with a local name, or is `tl.load`."""
        members: list[ast.Attribute] = []
        base: ast.expr = node
        while isinstance(base, ast.Attribute):
            members.append(base)
            base = base.value
        if not isinstance(base, ast.Name) or base.id in self._local or base.id not in self._scope:
            return None
        value, path = self._scope[base.id], [base.id]
        if value is tl and not isinstance(getattr(tl, members[-1].attr, None), ModuleType):
            return None
        for member in reversed(members):
            if not isinstance(value, (ModuleType, type)) and not hasattr(type(value), "__dataclass_fields__"):
                break
            value = _member(value, member.attr)
            path.append(member.attr)
            if not isinstance(value, (ModuleType, type)):
                name = "_".join(("_bound", *path))
                found = self._texts.binding(value)
                self._look(".".join(path), lambda: _reached(_scope_of(self._fn), path), found)
                self._bindings[name] = CompileTime(found) if isinstance(found, Scalar) else found
                return Edit(self._at(node.lineno, node.col_offset), self._end(member), name)
        return None

    def _bind(self, name: str) -> None:
        if name in self._scope:
            found = self._texts.binding(self._scope[name])
            self._bindings.setdefault(name, found)
            self._look(name, lambda: _scope_of(self._fn).get(name), found)
        elif hasattr(builtins, name):
            self._bindings.setdefault(name, Builtin(name))
        else:
            self._bindings.setdefault(name, Foreign("nothing"))

    def _look(self, name: str, now: Callable[[], object], then: Binding) -> None:
        """Keeps in mind what may be another at a later launch; a function also for what its own text names."""
        if isinstance(then, (Scalar, CompileTime, ElementType, Values, KernelName)):
            self.looked.append(_Constant(name, now, then))

    def _at(self, line: int, column: int) -> int:
        """Returns the place in the text of a line and a column in bytes, as `ast` counts."""
        begin = self._starts[line - 1]
        end = self._source.find("\n", begin)
        text = self._source[begin : len(self._source) if end < 0 else end]
        return begin + len(text.encode()[:column].decode())

    def _end(self, node: ast.expr) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self._at(node.end_lineno, node.end_col_offset)


def _member(value: object, name: str) -> object:
    """Returns an attribute, without running anything that a class has for it."""
    if isinstance(value, ModuleType):
        return getattr(value, name, LANGUAGE)
    return inspect.getattr_static(value, name, LANGUAGE)


def _reached(scope: Mapping[str, object], path: list[str]) -> object:
    """Returns what a chain of names leads to now."""
    value: object = scope.get(path[0])
    for name in path[1:]:
        value = _member(value, name)
    return value


def _annotation(parameter: KernelParam) -> str:
    """Returns what Triton reads of a parameter's annotation, whichever way that is spelt: `tl.int8`, `"i8"`, `int`."""
    if parameter.is_constexpr:
        return "tl.constexpr"
    return f'"{parameter.annotation_type}"' if parameter.annotation_type else ""


def _scope_of(function: FunctionType) -> Mapping[str, object]:
    scope = dict(function.__globals__)
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=False)
    for name, cell in cells:
        try:
            scope[name] = cell.cell_contents
        except ValueError:  # not filled yet
            continue
    return scope


def _line_starts(text: str) -> list[int]:
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def _lines_before(kernel: JITFunction[Any]) -> int:
    """Returns how many lines of decorators stand before `def`, which Triton's text of a kernel leaves out."""
    raw = getattr(kernel, "raw_src", None)
    lines = list(raw) if isinstance(raw, list) else []
    return next((index for index, line in enumerate(lines) if line.lstrip().startswith("def ")), 0)
