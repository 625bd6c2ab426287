"""A few turns of a loop that moves vectors, written out with the loads of all of them first.

`for (int k = 0; k < 4; ++k) { float4 v = x[i + k]; ...; y[i + k] = v; }` is there to have four loads on their way. A
device's compiler moves no load before a store unless it is told, by `__restrict__`, that these are of two buffers, and
Triton does not tell it. On an H200 such a loop took 1.75 times as long as the original.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from porter_triton.lower.context import Context
from porter_triton.lower.emit import Line, Loop, Node, Steps, renamed
from porter_triton.lower.naming import stem

_MOST_TURNS, _MOST_LINES = 8, 64  # that are written out


def written_out(cx: Context, loop: Loop, lines: Sequence[Line], carried: frozenset[str]) -> list[Node] | None:
    """The turns of `loop`, whose body is `lines` and hands on the variables `carried`; None where it stays a loop."""
    steps = loop.steps
    turns = None if steps is None or steps.masked else steps.turns
    if steps is None or turns is None or not 2 <= turns <= _MOST_TURNS or turns * len(lines) > _MOST_LINES:
        return None
    early = _early(cx, lines, carried)
    if not any(lines[at].bases for at in early) or not any(line.effect for line in lines):
        return None
    first: list[Node] = []
    then: list[Node] = []
    for turn in range(turns):
        for at, line in enumerate(_turn(cx, loop.variable, _counter(steps, turn), lines, carried)):
            (first if at in early else then).append(line)
    cx.ahead = True
    return [*first, *then]


def _early(cx: Context, lines: Sequence[Line], carried: frozenset[str]) -> frozenset[int]:
    """The loads that need nothing of the turn before and read what nobody writes, and what their addresses need."""
    waiting = set(carried)
    free: list[int] = []
    for at, line in enumerate(lines):
        bases = line.bases or (line.pointer.bases if line.pointer is not None else frozenset())
        moves = not line.loads or (bool(bases) and not bases & cx.decisions.stored)
        is_free = moves and not line.effect and not line.reads & waiting and line.target not in carried
        (waiting.discard if is_free else waiting.add)(line.target)
        free += [at] * is_free
    needed: set[str] = set()
    early: set[int] = set()
    for at in reversed(free):
        if lines[at].loads or lines[at].target in needed:
            early.add(at)
            needed = (needed - {lines[at].target}) | lines[at].reads
    return frozenset(early)


def _turn(cx: Context, variable: str, counter: str, lines: Sequence[Line], carried: frozenset[str]) -> Iterator[Line]:
    """The statements of one turn, with variables of its own but for those it hands on."""
    names = {variable: counter}
    for line in lines:
        text = line.text.removesuffix(f" + {variable}") if counter == "0" else line.text
        text = renamed(text, names)
        if line.target and line.target not in carried:
            names[line.target] = cx.names.temporary(stem(line.target))
        yield replace(line, text=text, target=names.get(line.target, line.target))


def _counter(steps: Steps, turn: int) -> str:
    start, step = steps.start.fixed, steps.step.fixed
    assert start is not None
    assert step is not None
    return str(start + turn * step)
