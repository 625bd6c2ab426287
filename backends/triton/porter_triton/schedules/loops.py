"""Loops of kernels: how many turns are under way at once, and how many are written out."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain

from porter.evolve.candidate import Value
from porter.evolve.proposing.edited import EditedKnob, Edits, edited_knob
from porter.source.edit import Edit
from porter_triton.schedules.text import ModuleText, last_name

STAGES, UNROLL = "num_stages", "loop_unroll_factor"
_VALUES = {STAGES: (1, 2, 3, 4), UNROLL: (2, 4, 8)}


def loops(module: ModuleText) -> Iterator[EditedKnob]:
    """Yields, for each kernel with innermost `range` loops that load, a knob for the stages and one for unrolling."""
    for family, names in module.families.items() if module.language else ():
        found = [call for name in names for call in _ranges(module.jitted[name])]
        for option, values in _VALUES.items() if found else ():
            yield edited_knob(f"{family}.{option}", values, partial(_edits, module, found, option))


def _edits(module: ModuleText, found: Sequence[ast.Call], option: str, value: Value) -> Edits:
    return list(chain.from_iterable(_with(module, call, option, str(value)) for call in found))


def _with(module: ModuleText, call: ast.Call, option: str, value: str) -> Iterator[Edit]:
    if isinstance(call.func, ast.Name):
        # Both knobs of a loop ask for this; equal edits count once.
        yield module.replaced(call.func, f"{module.language}.range")
    yield from module.with_keywords(call, {option: value})


def _ranges(kernel: ast.FunctionDef) -> Iterator[ast.Call]:
    for node in ast.walk(kernel):
        if not isinstance(node, ast.For) or not isinstance(node.iter, ast.Call) or not _is_range(node.iter.func):
            continue
        inside = [inner for statement in node.body for inner in ast.walk(statement)]
        calls = [last_name(inner.func) for inner in inside if isinstance(inner, ast.Call)]
        if "load" in calls and not any(isinstance(inner, (ast.For, ast.While)) for inner in inside):
            yield node.iter


def _is_range(function: ast.expr) -> bool:
    match function:
        case ast.Name(id="range") | ast.Attribute(value=ast.Name(), attr="range"):
            return True
    return False
