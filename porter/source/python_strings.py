"""The strings of a Python file, found without running it."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field

from porter.source.functions import kernel_definitions
from porter.source.lexer import TokenKind, significant, tokens

_DEEPEST = 20


@dataclass(frozen=True, slots=True)
class Literal:
    """A string Python would build from constants alone, and the line it begins on."""

    text: str
    line: int


def holds_kernels(text: str) -> bool:
    """Returns whether `text` defines or launches a kernel, rather than mention one."""
    if "__global__" not in text and "<<<" not in text:
        return False
    words = significant(tokens(text))
    return bool(kernel_definitions(words)) or any(t.kind is TokenKind.LAUNCH_CLOSE for t in words)


@dataclass
class Strings:
    """The string expressions of a module, with the variables they go through."""

    module: ast.Module
    assigned: dict[str, list[ast.expr]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for node in ast.walk(self.module):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    self._assign(target, node.value)
            elif isinstance(node, ast.AnnAssign) and node.value is not None:
                self._assign(node.target, node.value)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            self.assigned.setdefault(target.id, []).append(value)

    def value(self, node: ast.expr, depth: int = 0) -> Literal | None:
        """The string `node` evaluates to; None when that is known only at run time."""
        if depth > _DEEPEST:
            return None
        if isinstance(node, ast.Constant):
            return Literal(str(node.value), node.lineno) if isinstance(node.value, str | int | float) else None
        if isinstance(node, ast.JoinedStr):
            return self._joined(node.values, node.lineno, depth)
        if isinstance(node, ast.FormattedValue):
            return self.value(node.value, depth + 1) if node.format_spec is None and node.conversion < 0 else None
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self._joined([node.left, node.right], node.lineno, depth)
        if isinstance(node, ast.Name):
            values = self.assigned.get(node.id, [])
            return self.value(values[0], depth + 1) if len(values) == 1 else None
        return self._called(node, depth) if isinstance(node, ast.Call) else None

    def _joined(self, parts: list[ast.expr], line: int, depth: int) -> Literal | None:
        values = [self.value(part, depth + 1) for part in parts]
        if any(v is None for v in values):
            return None
        known = [v for v in values if v is not None]
        first = known[0].line if known and isinstance(parts[0], ast.Constant | ast.BinOp) else line
        return Literal("".join(v.text for v in known), first)

    def _called(self, node: ast.Call, depth: int) -> Literal | None:
        """`textwrap.dedent(s)`, `s.strip()` and `s.replace(a, b)` of constants."""
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name == "dedent" and len(node.args) == 1 and (inner := self.value(node.args[0], depth + 1)) is not None:
            return Literal(textwrap.dedent(inner.text), inner.line)
        if not isinstance(node.func, ast.Attribute) or (inner := self.value(node.func.value, depth + 1)) is None:
            return None
        if name in ("strip", "lstrip") and not node.args:
            skipped = len(inner.text) - len(inner.text.lstrip())
            return Literal(inner.text.strip(), inner.line + inner.text[:skipped].count("\n"))
        arguments = [self.value(a, depth + 1) for a in node.args]
        if name == "replace" and len(arguments) == 2 and arguments[0] is not None and arguments[1] is not None:
            return Literal(inner.text.replace(arguments[0].text, arguments[1].text), inner.line)
        return None

    def whole(self) -> Iterator[Literal]:
        """Every string made of constants that is not a part of a larger one."""
        for node in self._outermost(self.module):
            literal = self.value(node)
            if literal is not None:
                yield literal

    def built_at_run_time(self) -> Iterator[ast.expr]:
        """String expressions with kernels in their constant parts whose whole is not constant."""
        for node in self._outermost(self.module):
            if self.value(node) is None and holds_kernels(" 0 ".join(_constants(node))):
                yield node

    def _outermost(self, node: ast.AST) -> Iterator[ast.expr]:
        """String-building expressions, not descending into those that are strings as a whole."""
        for child in ast.iter_child_nodes(node):
            builds = isinstance(child, ast.Constant | ast.JoinedStr) or (
                isinstance(child, ast.BinOp) and isinstance(child.op, ast.Add | ast.Mod)
            )
            methods = isinstance(child, ast.Call) and (self.value(child) is not None or _is_format(child))
            if isinstance(child, ast.expr) and (builds or methods) and any(_constants(child)):
                yield child
            else:
                yield from self._outermost(child)

    def elements(self, node: ast.expr | None, depth: int = 0) -> Iterator[Literal]:
        """The strings of a list, a tuple, a dictionary's keys, or the one that `node` is; unknown ones are left out."""
        if isinstance(node, ast.Name) and len(self.assigned.get(node.id, [])) == 1 and depth < _DEEPEST:
            yield from self.elements(self.assigned[node.id][0], depth + 1)
            return
        within = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", [node])
        for element in within:
            literal = self.value(element) if isinstance(element, ast.expr) else None
            if literal is not None:
                yield literal


def _constants(node: ast.AST) -> list[str]:
    return [c.value for c in ast.walk(node) if isinstance(c, ast.Constant) and isinstance(c.value, str)]


def called_name(node: ast.Call) -> str:
    """Returns what a call names: `f` for `f(x)` and `m.f(x)`."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _is_format(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Attribute) and node.func.attr in (
        "format",
        "substitute",
        "safe_substitute",
        "render",
    )
