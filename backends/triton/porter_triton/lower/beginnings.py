"""Whether a `while` begins, where that is known when Triton compiles.

A loop that never begins is dead code to Triton's compiler, which in its pass for coalescing fails on loads in it.
"""

from __future__ import annotations

import re

from porter_triton.lower.context import Context
from porter_triton.lower.emit import Line, assigned, names_in, suites_of
from porter_triton.lower.folding import holds
from porter_triton.lower.launch import CONSTEXPRS
from porter_triton.lower.types import LONG

_NUMBERS = re.compile(r"(\d+)(?: // (\d+))? (<=?|>=?|==|!=) (\d+)")


def told(cx: Context, condition: str) -> str | None:
    """`condition` in numbers of the launch alone; empty where it is false, None where it is true or a run decides."""
    known = {p.name for p in cx.parameters if p.kind in CONSTEXPRS}
    for name in names_in(condition) - known:
        value = _last(cx, name)
        if value is None or not names_in(value) <= known:
            return None
        plain = re.fullmatch(r"\w+|\w+ // \w+", value) is not None
        condition = re.sub(rf"\b{name}\b", value if plain else f"({value})", condition)
    begins = _evaluated(cx, condition)
    return None if begins else condition if names_in(condition) else "" if begins is False else None


def _evaluated(cx: Context, condition: str) -> bool | None:
    """The truth of a comparison of numbers and of extents that are known; None for anything else."""
    for extent in cx.launch.block:
        if extent.name and extent.value is not None:
            condition = re.sub(rf"\b{extent.name}\b", str(extent.value), condition)
    found = _NUMBERS.fullmatch(condition)
    return None if found is None else holds(found[3], int(found[1]) // int(found[2] or 1), int(found[4]), LONG)


def _last(cx: Context, name: str) -> str | None:
    """Returns what a variable was assigned last, if that was here and not under a condition."""
    for node in reversed(cx.suite.nodes):
        if isinstance(node, Line) and node.target == name:
            return node.text
        if any(name in assigned(inner) for inner in suites_of(node)):
            return None
    return None
