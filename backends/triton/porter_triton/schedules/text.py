"""A module of Triton kernels as its syntax tree, with the place of every node in the text."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from porter.python_tree import module_tree
from porter.source.edit import Edit

_JIT = "jit"
_TUNERS = frozenset(("autotune", "heuristics"))


@dataclass(frozen=True)
class Launch:
    """`kernel[grid](...)` in the function `host`; `call` is all of it."""

    kernel: str
    grid: ast.expr
    call: ast.Call
    host: ast.FunctionDef

    def keyword(self, name: str) -> ast.expr | None:
        """Returns what is passed as `name`."""
        return next((k.value for k in self.call.keywords if k.arg == name), None)


@dataclass(frozen=True)
class ModuleText:
    """A module that parses, whoever wrote it."""

    text: str
    tree: ast.Module

    @classmethod
    def of(cls, text: str) -> ModuleText | None:
        """Returns the module; None where the text is not Python, or has carriage returns."""
        try:
            return None if "\r" in text else cls(text, module_tree(text))
        except (SyntaxError, ValueError, RecursionError):
            return None

    @cached_property
    def functions(self) -> Mapping[str, ast.FunctionDef]:
        """The functions at the module's top, by name."""
        return {node.name: node for node in self.tree.body if isinstance(node, ast.FunctionDef)}

    @cached_property
    def jitted(self) -> Mapping[str, ast.FunctionDef]:
        """The functions that Triton compiles, kernels and what they call."""
        return {name: f for name, f in self.functions.items() if _JIT in map(last_name, f.decorator_list)}

    @cached_property
    def launches(self) -> tuple[Launch, ...]:
        """Returns where kernels are launched by name, outside of autotuned code."""
        tuned = {name for name, f in self.functions.items() if _TUNERS & set(map(last_name, f.decorator_list))}
        hosts = (node for name, node in self.functions.items() if name not in self.jitted)
        found = (launch for host in hosts for launch in self._launches(host))
        return tuple(launch for launch in found if launch.kernel in self.jitted and launch.kernel not in tuned)

    @cached_property
    def families(self) -> Mapping[str, tuple[str, ...]]:
        """The kernels that are launched, by the name before `__2`: instances of one template are turned together."""
        families: dict[str, list[str]] = {}
        for name in dict.fromkeys(launch.kernel for launch in self.launches):
            stem, _, number = name.rpartition("__")
            families.setdefault(stem if number.isdecimal() and stem in self.jitted else name, []).append(name)
        return {family: tuple(names) for family, names in families.items()}

    @cached_property
    def language(self) -> str:
        """Returns what the module calls `triton.language`; empty where it has no name for it."""
        for node in self.tree.body:
            for alias in node.names if isinstance(node, ast.Import) else ():
                if alias.name == "triton.language" and alias.asname:
                    return alias.asname
        return ""

    def start(self, node: ast.expr | ast.stmt) -> int:
        """Returns where `node` begins, in characters of `text`."""
        return self._offset(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt) -> int:
        """Returns where `node` ends."""
        return self._offset(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)

    def replaced(self, node: ast.expr, text: str) -> Edit:
        """Puts `text` in the place of `node`."""
        return Edit(self.start(node), self.end(node), text)

    def with_keywords(self, call: ast.Call, keywords: Mapping[str, str]) -> Iterator[Edit]:
        """Yields `call` with `keywords`, which replace those of these names."""
        own = {k.arg: k.value for k in call.keywords if k.arg}
        yield from (self.replaced(own[name], text) for name, text in keywords.items() if name in own)
        if added := ", ".join(f"{name}={text}" for name, text in keywords.items() if name not in own):
            last = [*call.args, *(k.value for k in call.keywords)]
            at = max(map(self.end, last), default=self.end(call) - 1)
            yield Edit(at, at, f", {added}" if last else added)

    def _offset(self, line: int, column: int) -> int:
        whole = self._lines[line - 1]
        return self._starts[line - 1] + len(whole.encode()[:column].decode())

    @cached_property
    def _lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def _starts(self) -> list[int]:
        starts = [0]
        for line in self._lines:
            starts.append(starts[-1] + len(line) + 1)
        return starts

    def _launches(self, host: ast.FunctionDef) -> Iterator[Launch]:
        for node in ast.walk(host):
            match node:
                case ast.Call(func=ast.Subscript(value=ast.Name(id=kernel), slice=grid)):
                    yield Launch(kernel, grid, node, host)


def last_name(node: ast.expr) -> str:
    """Returns `jit` of `@triton.jit`, `@jit` and `@triton.jit(...)`."""
    match node:
        case ast.Call(func=function):
            return last_name(function)
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


def number(node: ast.expr | None) -> int | None:
    """Returns the whole number that is written there."""
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None
