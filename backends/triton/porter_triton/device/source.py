"""The text of the helpers a generated module carries with it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

# In this order they appear in a module: what is called stands before what calls it.
_ELEMENTWISE = ("bits", "float8", "math", "special", "integer")
_FILES = (*_ELEMENTWISE, "warp", "reduce", "vector", "atomic")


@dataclass(frozen=True, slots=True)
class Helper:
    """A @triton.jit function: its text with the decorator, and the helpers it calls itself.

    `elementwise`: of tiles, each element of the result depends on those at its place only.
    """

    name: str
    text: str
    calls: frozenset[str]
    elementwise: bool


@cache
def helpers() -> Mapping[str, Helper]:
    """Every helper by name, in the order of their appearance. Neither triton nor torch is imported."""
    found: dict[str, tuple[str, ast.FunctionDef]] = {}
    elementwise: set[str] = set()
    for file in _FILES:
        text = (files("porter_triton.device") / f"{file}.py").read_text("utf-8")
        found |= {node.name: (text, node) for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
        elementwise |= found.keys() if file in _ELEMENTWISE else set()
    return {
        name: Helper(name, _text(text, node), _names(node) & found.keys() - {name}, name in elementwise)
        for name, (text, node) in found.items()
    }


def helpers_in(expression: str) -> frozenset[str]:
    """The helpers whose names an expression mentions."""
    return _names(ast.parse(expression, mode="eval")) & helpers().keys()


def helper_source(names: Iterable[str]) -> str:
    """The text of the helpers `names` and of those they call, each once, two empty lines between them.

    Raises KeyError for a name that is no helper.
    """
    needed = with_callees(names)
    return "\n\n\n".join(helper.text for name, helper in helpers().items() if name in needed)


def with_callees(names: Iterable[str]) -> frozenset[str]:
    """The helpers `names` and those they call. Raises KeyError for a name that is no helper."""
    needed: set[str] = set()
    waiting = list(names)
    while waiting:
        name = waiting.pop()
        if name not in needed:
            needed.add(name)
            waiting += helpers()[name].calls
    return frozenset(needed)


def _text(source: str, node: ast.FunctionDef) -> str:
    first = min((d.lineno for d in node.decorator_list), default=node.lineno)
    return "\n".join(source.splitlines()[first - 1 : node.end_lineno])


def _names(node: ast.AST) -> frozenset[str]:
    return frozenset(n.id for n in ast.walk(node) if isinstance(n, ast.Name))
