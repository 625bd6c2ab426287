"""Counted loops as Triton's `for`, written out, or under a mask where each thread starts elsewhere."""

from __future__ import annotations

from dataclasses import replace

from porter.syntax.nodes import For
from porter_triton.lower import (
    access,
    branches,
    coordinates,
    expressions,
    leaving,
    loops,
    statements,
    variables,
    widening,
)
from porter_triton.lower.arithmetic import binary
from porter_triton.lower.comparisons import compare
from porter_triton.lower.context import Context
from porter_triton.lower.conversions import convert, settled
from porter_triton.lower.counting import Counted, bound_of, limit
from porter_triton.lower.decisions import FewTurns
from porter_triton.lower.emit import Loop, Steps, Suite
from porter_triton.lower.flow import leaves
from porter_triton.lower.places import Held
from porter_triton.lower.types import INT, LONG, UINT, ULONG, Arithmetic
from porter_triton.lower.values import ATOM, PRODUCT, Scalar, number

_MOST_COPIES = 512  # of the innermost body of loops that are written out
_FEW_COPIES = 8  # of one that threads may leave: as a loop each turn would ask all threads whether one goes on


def counted_loop(cx: Context, node: For, counted: Counted) -> None:
    """Lower a counted loop: written out, as Triton's `for`, or as `while` where that cannot be."""
    bound = bound_of(cx, counted.progress)
    step = expressions.scalar(cx, counted.progress.step)
    if counted.progress.sign == "-":
        step = binary("-", number(0), step, node.line)
    trips = counted.trips(bound, step)
    if trips is not None and len(trips) * cx.copies > _MOST_COPIES:
        trips = None
    if trips is not None and (cx.decisions.written_out(cx.key(node)) or len(trips) <= _cheap(cx, node)):
        _unrolled(cx, node, counted, trips)
        return
    begin = None if _leaves(node) or bound.varying or step.varying else _begin(cx, counted)
    if begin is None:
        loops.from_start(cx, node, counted, few=trips is not None)
    else:
        _range(cx, node, counted, *begin, bound=bound, step=step, few=trips is not None)


def _cheap(cx: Context, node: For) -> int:
    """Returns how many turns are better written out whatever the body does."""
    return _FEW_COPIES // cx.copies if _leaves(node) else 1


def _leaves(node: For) -> bool:
    return not leaves(node.body).isdisjoint({"break", "return"})


def _begin(cx: Context, counted: Counted) -> tuple[Scalar, Scalar | None] | None:
    """The start that all threads share, and how much later each begins; None where they cannot be told apart."""
    if not counted.start.varying:
        return counted.start, None
    return None if counted.progress.sign == "-" else _split(cx, counted.start, counted.type)


def _unrolled(cx: Context, node: For, counted: Counted, trips: range) -> None:
    ways = leaves(node.body) - {"continue"}
    copies, cx.copies = cx.copies, cx.copies * max(len(trips), 1)
    if "break" in ways:
        leaving.push_target(cx, "break", node=node)
    for value in trips:

        def copy(value: int = value) -> None:
            with cx.within(value), cx.scope():
                cx.bind(counted.name, Held(number(value, counted.type)))
                leaving.push_target(cx, "continue", node=node)
                statements.run(cx, node.body.statements)
                cx.targets.pop()

        if value == trips.start:
            copy()
        else:
            branches.guarded(cx, ways, copy)
    if "break" in ways:
        cx.targets.pop()
    cx.copies = copies


def _split(cx: Context, start: Scalar, type_: Arithmetic) -> tuple[Scalar, Scalar] | None:
    """A start that differs between threads, as what all share and what is at least 0 in each."""
    affine = start.affine
    if affine is None or any(c < 0 for _, c in affine.terms):
        return (number(0), start) if start.known_within(0, INT.high) else None
    if type_.kind == "uint" and start.interval is None and affine.carries:
        return None
    return widening.uniform(affine, type_), coordinates.text_of(cx, affine.terms)


def _range(
    cx: Context,
    node: For,
    counted: Counted,
    start: Scalar,
    offset: Scalar | None,
    *,
    bound: Scalar,
    step: Scalar,
    few: bool,
) -> None:
    """`for name in range(start, bound, step)`; with `offset` each thread starts so much later, under a mask."""
    interval = counted.interval(start, bound)
    arguments = _range_arguments(counted, start, limit(counted.progress.operator, bound), step)
    tail = offset is not None and _spread(cx, offset, step)
    if offset is not None and tail:
        arguments[:2] = _of_live_lanes(cx, arguments[0], arguments[1], offset)
    carried = _counting_type(arguments)
    plain = offset is None and (carried.bits == 64) == (counted.type.bits == 64)
    stem = counted.name if plain else f"{counted.name}_base"
    name = cx.names.declare(stem, (carried, False))
    cx.unchanged.add(name)
    counter = Scalar(name, carried, interval=interval, loose=True)
    body = Suite()
    loops.enter(cx)
    with cx.round(cx.key(node, "round")), cx.into(body):
        if offset is None:
            _plain_body(cx, node, counted, counter, few=few)
        else:
            _masked_body(cx, node, counted, counter, offset, bound=bound)
        steps = None if tail else Steps(arguments[0], arguments[1], arguments[2], masked=offset is not None)
    cx.suite.nodes.append(Loop(name, header([a.text for a in arguments], unit=step.fixed == 1), body, steps))


def _spread(cx: Context, offset: Scalar, step: Scalar) -> bool:
    """Returns whether only some lanes run, and these may begin whole steps behind the first."""
    if cx.mask is None or cx.mask.text == cx.inside or step.fixed is None:
        return False
    return not offset.known_within(0, step.fixed)


def _of_live_lanes(cx: Context, start: Scalar, end: Scalar, offset: Scalar) -> tuple[Scalar, Scalar]:
    """Start and end of the range for the lanes that run: it is empty where none does."""
    type_ = LONG if any(isinstance(a.type, Arithmetic) and a.type.bits == 64 for a in (start, end)) else INT
    first = convert(start, type_)
    if first.constant is None:
        first = cx.temporary(first, "begin")
    own = binary("-", replace(convert(end, type_), interval=None), offset, 0)
    assert cx.mask is not None
    last = f"tl.max(tl.where({cx.mask.text}, {own.text}, {first.text}), axis=0)"
    return first, cx.temporary(Scalar(last, type_), "end")


def tiled(steps: Steps, count: int) -> str:
    """`range(...)` for `count` turns at a time."""
    step = steps.step.within(PRODUCT)
    by = str(count * int(step)) if step.isdecimal() else f"{count} * {step}"
    return header([steps.start.text, steps.end.text, by], unit=False)


def header(arguments: list[str], *, unit: bool) -> str:
    """`range(...)` without the arguments that Python supplies."""
    given = arguments[:2] if unit else arguments
    if given[0] == "0" and len(given) == 2:
        given = given[1:]
    return f"range({', '.join(given)})"


def _counting_type(arguments: list[Scalar]) -> Arithmetic:
    """The type that Triton's counter has, from those of the arguments of `range`."""
    if not any(a.constant is None and a.type.bits == 64 for a in arguments if isinstance(a.type, Arithmetic)):
        return INT
    return ULONG if all(a.type is ULONG for a in arguments[:2]) else LONG


def _range_arguments(counted: Counted, start: Scalar, end: Scalar, step: Scalar) -> list[Scalar]:
    """Returns what `range` is given: numbers of the counter's type, of 64 bits where unsigned ones could pass 2^31."""
    type_ = counted.type
    wide = isinstance(end.type, Arithmetic) and end.type.bits > type_.bits
    arguments = [convert(start, type_), end if wide else convert(end, type_), convert(step, type_)]
    return [ranged(a) for a in arguments]


def ranged(value: Scalar) -> Scalar:
    """An argument of `range`, whose numbers are signed."""
    value = settled(value)
    if value.type is UINT and value.constant is None and not value.known_within(0, INT.high):
        return convert(value, LONG)
    return value


def _counter(cx: Context, counter: Scalar, type_: Arithmetic) -> Scalar:
    """The counter as a number of its own type."""
    if counter.type == type_:
        return counter
    if type_ is UINT and counter.type is INT:
        return Scalar(counter.text, UINT, held=INT, interval=counter.interval, loose=True)
    value = convert(counter, type_)
    return value if value.level == ATOM else cx.temporary(value)


def _plain_body(cx: Context, node: For, counted: Counted, counter: Scalar, *, few: bool) -> None:
    """The body where all threads count alike; `few`: the loop may be written out if registers are indexed by it."""
    if few:
        cx.loops.append(FewTurns(counter.text, cx.key(node)))
    cx.bind(counted.name, Held(_counter(cx, counter, counted.type)))
    cx.alike += 1
    loops.body(cx, node)
    cx.alike -= 1
    if few:
        cx.loops.pop()


def _masked_body(cx: Context, node: For, counted: Counted, counter: Scalar, offset: Scalar, *, bound: Scalar) -> None:
    own = convert(binary("+", replace(counter, interval=None), offset, node.line), counted.type)
    own = replace(own, interval=None, loose=False)
    variable = variables.declare(
        cx, counted.name, counted.type, counted.declared, own, stable=True, line=node.line, part="own"
    )
    cx.bind(counted.name, variable)
    value = access.scalar(access.load(cx, variable, node.line), node.line)
    alike, cx.alike = cx.alike, 0
    with cx.where(compare(counted.progress.operator, value, bound, node.line), cx.depth):
        loops.body(cx, node)
    cx.alike = alike
