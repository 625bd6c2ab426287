"""CUDA in the strings of a Python file, found without running it."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from porter.errors import InputError
from porter.findings import Finding
from porter.source.findings import finding
from porter.source.functions import kernel_definitions
from porter.source.lexer import TokenKind, significant, tokens
from porter.source.text import Source

_LOADERS = ("load_inline", "_load_inline")
# What `load_inline` writes above the CUDA it is given; the headers of the run-time, too, but those are known anyway.
_PREPENDED = "#include <torch/types.h>"
_TORCH_HEADERS = ("<torch/", "<ATen/", "<c10/")
_DEEPEST = 20


@dataclass(frozen=True, slots=True)
class Literal:
    """A string Python would build from constants alone, and the line it begins on."""

    text: str
    line: int


def cuda_strings(path: Path, text: str) -> tuple[tuple[Source, ...], tuple[Finding, ...]]:
    """The CUDA strings of the Python file `text`, in order, and findings on those put together at run time.

    Raises `InputError` when `text` is not Python.
    """
    try:
        module = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None) or 1
        raise InputError(f"{path}:{line}: not Python: {error.args[0]}") from error
    strings = _Strings(module)
    exported = strings.exports()
    literals = {literal.line: literal for literal in strings.whole() if holds_kernels(literal.text)}
    compiled = [_as_compiled(literal) if exported else literal for _, literal in sorted(literals.items())]
    sources = tuple(Source(path, c.text, c.line, tuple(n for n in exported if n in c.text)) for c in compiled)
    whole = Source(path, text)
    findings = tuple(_refused(whole, node) for node in strings.built_at_run_time())
    return sources, findings


def holds_kernels(text: str) -> bool:
    """Whether `text` defines or launches a kernel, rather than mention one."""
    if "__global__" not in text and "<<<" not in text:
        return False
    words = significant(tokens(text))
    return bool(kernel_definitions(words)) or any(t.kind is TokenKind.LAUNCH_CLOSE for t in words)


def _as_compiled(literal: Literal) -> Literal:
    """`literal` below the header `load_inline` prepends, on the rest of the opening line where that is blank."""
    if any(header in literal.text for header in _TORCH_HEADERS):
        return literal
    line, stop, rest = literal.text.partition("\n")
    if stop and not line.strip():
        return Literal(f"{_PREPENDED}\n{rest}", literal.line)
    return Literal(f"{_PREPENDED}\n{literal.text}", literal.line - 1)


def _refused(source: Source, node: ast.expr) -> Finding:
    start = source.line_starts[node.lineno - 1] + node.col_offset
    return finding(
        "PORT2005", source.span(start, start + 1), "this string of CUDA is put together when the program runs"
    )


@dataclass
class _Strings:
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

    def exports(self) -> tuple[str, ...]:
        """The names in `functions=` of every `load_inline` call."""
        found: dict[str, None] = {}
        for node in ast.walk(self.module):
            if isinstance(node, ast.Call) and _called_name(node) in _LOADERS:
                for keyword in node.keywords:
                    if keyword.arg == "functions":
                        found.update(dict.fromkeys(self._names(keyword.value)))
        return tuple(found)

    def _names(self, node: ast.expr) -> Iterator[str]:
        if isinstance(node, ast.Name):
            for value in self.assigned.get(node.id, [])[:1]:
                yield from self._names(value)
        elements = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", [node])
        for element in elements:
            literal = self.value(element) if isinstance(element, ast.expr) else None
            if literal is not None and literal.text.isidentifier():
                yield literal.text


def _constants(node: ast.AST) -> list[str]:
    return [c.value for c in ast.walk(node) if isinstance(c, ast.Constant) and isinstance(c.value, str)]


def _called_name(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _is_format(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Attribute) and node.func.attr in (
        "format",
        "substitute",
        "safe_substitute",
        "render",
    )
