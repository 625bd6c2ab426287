"""The names that a file binds at its top level, also within `try` and `if`, and the names that code reads."""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from porter.python_tree import module_tree


@dataclass(frozen=True, slots=True)
class Imported:
    """A name that an import binds: `member` of `module`, all of `module` where `member` is empty."""

    module: str
    member: str
    level: int

    @property
    def target(self) -> str:
        """Returns what it means, with dots."""
        return ".".join(part for part in (self.module, self.member) if part)


@dataclass(frozen=True, slots=True)
class Absent:
    """Says that a name is None, which a `try` imports from a package that is none of the allowed ones."""

    statement: ast.stmt


Binding = ast.stmt | Imported | Absent


def bindings(tree: ast.Module) -> dict[str, list[Binding]]:
    """Returns what each top-level name of a file may mean."""
    found: dict[str, list[Binding]] = {}
    for node in tree.body:
        for name, binding in _bound([node]):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                found[name] = []  # what the name meant before is gone
            found.setdefault(name, []).append(binding)
    return found


def _bound(body: Sequence[ast.stmt]) -> Iterator[tuple[str, Binding]]:
    for node in body:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, node
            case ast.Import(names=names):
                for alias in names:
                    root = alias.name.partition(".")[0]
                    yield alias.asname or root, Imported(alias.name if alias.asname else root, "", 0)
            case ast.ImportFrom(module=module, names=names, level=level):
                for alias in names:
                    if alias.name != "*":
                        yield alias.asname or alias.name, Imported(module or "", alias.name, level)
            case ast.Assign() | ast.AnnAssign():
                for name in _targets(node):
                    yield name, node
            case ast.Try():
                yield from _tried(node)
            case ast.If(body=inner, orelse=orelse):
                yield from _bound(inner)
                yield from _bound(orelse)


def _tried(node: ast.Try) -> Iterator[tuple[str, Binding]]:
    """Yields what a `try` binds. What its handlers bind comes first: they are there for a package that may be missing,
    as all but torch are. A name that they leave unbound is None then.
    """
    first = [pair for handler in node.handlers for pair in _bound(handler.body)]
    yield from first
    known = {name for name, _ in first}
    for name, binding in _bound([*node.body, *node.orelse, *node.finalbody]):
        yield name, binding
        if isinstance(binding, Imported) and name not in known:
            absent = ast.Assign([ast.Name(name, ast.Store())], ast.Constant(None))
            yield name, Absent(ast.fix_missing_locations(ast.copy_location(absent, node)))


def _targets(node: ast.Assign | ast.AnnAssign) -> Iterator[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if node.value is not None else []
    for target in targets:
        for inner in ast.walk(target):
            if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store):
                yield inner.id


class _WithoutAnnotations(ast.NodeTransformer):
    """Takes annotations away, which are not evaluated where `from __future__ import annotations` stands."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        """Leaves the name alone."""
        return ast.copy_location(ast.arg(node.arg), node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Leaves no type for what it returns."""
        self.generic_visit(node)
        node.returns = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AnnAssign:
        """Leaves a type that reads nothing."""
        self.generic_visit(node)
        node.annotation = ast.Constant(0)
        return node


def without_annotations(text: str) -> ast.Module:
    """Returns the tree of `text` without annotations."""
    tree = module_tree(text)
    _WithoutAnnotations().visit(tree)
    return ast.fix_missing_locations(tree)


def names_read(node: ast.stmt) -> set[str]:
    """Returns the names of its file, or of Python, that a top-level statement reads when it runs or is called."""
    found: set[str] = set()
    bare = ast.unparse(without_annotations(ast.unparse(node)))
    tables = [symtable.symtable(bare, "<class>", "exec")]
    is_top = True
    while tables:
        table = tables.pop()
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (is_top or symbol.is_global()):
                found.add(symbol.get_name())
        tables.extend(table.get_children())
        is_top = False
    return found


def names_bound_within(node: ast.AST) -> set[str]:
    """Returns the names that are bound anywhere within: parameters, variables, definitions."""
    found: set[str] = set()
    for inner in ast.walk(node):
        match inner:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                if inner is not node:
                    found.add(name)
    return found
