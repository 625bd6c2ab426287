"""Loads of several turns before the first of them goes on, where a turn needs what the one before it has left.

A running mean is updated turn by turn, but what it is updated with does not depend on it. A device's compiler writes
out such loops and moves the loads together, but not across the branches of a division that is rounded to nearest. So
there the loads of four turns come first, then the turns. Those behind the loop's end are masked, as in the source the
threads behind it are.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace

from porter.python_tree import expression_tree
from porter_triton.lower.context import Context
from porter_triton.lower.emit import Line, Loop, Node, Steps, Suite, names_in, renamed
from porter_triton.lower.gathering import chosen
from porter_triton.lower.independent import elementwise, load_parts, vanishes
from porter_triton.lower.naming import is_temporary, stem
from porter_triton.lower.ranges import tiled
from porter_triton.lower.values import PRODUCT

_TURNS = 4
_BRANCHES = re.compile(r"tl\.(div|sqrt)_rn\(")  # for what is subnormal, infinite or no number
_LARGEST_STEP = 4096  # of which several do not pass the counter's type, unless what it counts to nearly does
_MOST_LINES = 16  # that wait for the turn before: they are written out for each


def loads_ahead(cx: Context, loop: Loop, lines: list[Line], carried: frozenset[str]) -> list[Node] | None:
    """The loop with the loads of several turns first; None where there is nothing to move, or it may tell."""
    steps = loop.steps
    assert steps is not None
    if not steps.masked or not steps.step.known_within(1, _LARGEST_STEP):
        return None
    early = list(_early(cx, lines, carried))
    late = [line for line in lines if line not in early]
    loading = any(line.pointer is not None and line.pointer.varying for line in early)
    if not loading or not any(_BRANCHES.search(line.text) for line in late) or len(late) > _MOST_LINES:
        return None
    wide = _wide(lines, loop.variable)
    if not all(_guarded(line, wide, carried) for line in late):
        return None
    return [_written(cx, loop, steps, early, late)]


def _early(cx: Context, lines: list[Line], carried: frozenset[str]) -> Iterator[Line]:
    """Yields what a turn computes before it needs the one before it."""
    assignments = Counter(line.target for line in lines)
    waiting = {line.target for line in lines} | carried
    for line in lines:
        if line.effect or line.reads & waiting or assignments[line.target] > 1 or line.target in carried:
            continue
        plain = line.pointer is not None and not line.pointer.bases & cx.decisions.stored
        if plain or (not line.loads and elementwise(line.text)):
            waiting.discard(line.target)
            yield line


def _wide(lines: list[Line], variable: str) -> set[str]:
    """The names that depend on the loop's counter."""
    wide = {variable}
    for line in lines:
        if line.reads & wide:
            wide.add(line.target)
    return wide


def _guarded(line: Line, wide: set[str], carried: frozenset[str]) -> bool:
    """Returns whether a statement changes nothing in a turn that the source does not have."""
    if line.store is not None:
        return line.store.mask is not None and bool(line.store.mask.names & wide)
    if line.effect or line.value is None:
        return False
    if line.pointer is not None:
        _, (pointer, *_), mask, _ = load_parts(line.text)
        return not names_in(pointer) & wide or bool(names_in(mask) & wide)
    if line.target not in carried:
        return elementwise(line.text)
    match expression_tree(line.text):
        case ast.BinOp(op=ast.Add() | ast.Sub(), left=ast.Name(id=name), right=term) if name == line.target:
            return vanishes(term, wide, ()) and elementwise(line.text)
    kept = chosen(line)
    return kept is not None and bool(names_in(kept[0]) & wide) and elementwise(line.text)


def _written(cx: Context, loop: Loop, steps: Steps, early: list[Line], late: list[Line]) -> Loop:
    tile = cx.names.temporary(f"{loop.variable.removesuffix('_base')}_tile")
    made = [line.target for line in (*early, *late) if is_temporary(line.target) or line in early]
    copies = {line.target: line.text for line in early if line.text.isidentifier()}
    first: list[Node] = []
    then: list[Node] = []
    for turn in range(_TURNS):
        names = {name: cx.names.temporary(stem(name)) for name in made}
        names[loop.variable] = cx.names.temporary(loop.variable) if turn else tile
        names |= {name: names.get(of, of) for name, of in copies.items()}
        if turn:
            by = f" * {steps.step.within(PRODUCT)}"
            first.append(Line(f"{tile} + {turn}{by}", names[loop.variable]))
        first += [_renamed(line, names, stays=bool(line.pointer)) for line in early if line.target not in copies]
        then += [_renamed(line, names) for line in late]
    return Loop(tile, tiled(steps, _TURNS), Suite([*first, *then]), turns=_TURNS)


def _renamed(line: Line, names: Mapping[str, str], *, stays: bool = False) -> Line:
    """One turn's statement; what `stays` is not moved to where it is read."""
    target = names.get(line.target, line.target)
    return replace(line, text=renamed(line.text, names), target=target, temporary=line.temporary and not stays)
