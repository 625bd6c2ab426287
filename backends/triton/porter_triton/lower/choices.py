"""`condition ? yes : no`: Python's `if` where Triton knows the condition, else `tl.where`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from porter.syntax.nodes import Choice, Expression
from porter_triton.lower import access, branches, conditions, expressions, memory, variables
from porter_triton.lower.assigned import acts
from porter_triton.lower.context import Context
from porter_triton.lower.conversions import convert, exact_double, narrowed, settled
from porter_triton.lower.emit import Suite
from porter_triton.lower.types import DOUBLE, FLOAT, INT, Arithmetic, Pointer, common
from porter_triton.lower.values import ATOM, UNSET, Address, Fields, Nothing, Scalar, Value, negation
from porter_triton.refusal import Refusal

Operand = Callable[[], Value]


def choice(cx: Context, node: Choice) -> Value:
    """`condition ? yes : no`."""
    split = conditions.known_part(cx, node.condition)
    if split is not None:
        inner = Choice(split[1], node.yes, node.no, node.line)
        return choice(cx, cx.rewritten(node, lambda: Choice(split[0], inner, node.no, node.line)))
    chosen = expressions.truth(cx, node.condition)
    if chosen.constant is not None:
        return expressions.value(cx, node.yes if chosen.constant else node.no)
    if chosen.static:
        yes, no = (lambda: expressions.value(cx, node.yes)), (lambda: expressions.value(cx, node.no))
        return compiled(cx, chosen, yes, no, node)
    return _masked(cx, node, chosen)


def compiled(cx: Context, condition: Scalar, yes: Operand, no: Operand, node: Expression) -> Value:
    """`condition ? yes : no` as Python's `if`: what does not hold is not even compiled."""
    probe = Suite()
    with cx.into(probe, python=False):
        kind = (no if condition.text.endswith("is None") else yes)()
    line = node.line
    if not isinstance(kind, Scalar):
        raise Refusal(line, "a choice between structs that depends on a pointer")
    with cx.within("chosen"):
        place = variables.declare(cx, "chosen", kind.type, node, None, stable=False, line=line)
    branches.branch(
        cx,
        condition,
        lambda: access.store(cx, place, yes(), line),
        lambda: access.store(cx, place, no(), line),
    )
    return access.load(cx, place, line)


def _masked(cx: Context, node: Choice, chosen: Scalar) -> Value:
    """Both values, each under its own mask."""
    if acts(node.yes) or acts(node.no):
        chosen = access.frozen(cx, chosen)
    yes_mask, no_mask = cx.narrow(chosen), cx.narrow(negation(chosen))
    with cx.only(yes_mask):
        yes = expressions.value(cx, node.yes)
        if isinstance(yes, Scalar) and acts(node.no):
            yes = access.frozen(cx, yes)
    with cx.only(no_mask):
        no = expressions.value(cx, node.no)
    for one, other, mask in ((yes, no, yes_mask), (no, yes, no_mask)):
        if isinstance(one, Scalar) and isinstance(other, Scalar) and mask is not None:
            loaded = memory.with_other(cx, one, other, mask)
            if loaded is not None:
                return loaded
    return choose(chosen, yes, no, node.line)


def choose(chosen: Scalar, yes: Value, no: Value, line: int) -> Value:
    """`chosen ? yes : no` of two values."""
    if isinstance(yes, Nothing) and isinstance(no, Nothing):
        return yes
    if isinstance(yes, Fields) and isinstance(no, Fields) and yes.type == no.type:
        return Fields(yes.type, tuple((n, choose(chosen, v, no.field(n), line)) for n, v in yes.values))
    if isinstance(yes, Address) and isinstance(no, Address) and yes.place is no.place:
        offset = choose(chosen, yes.offset, no.offset, line)
        assert isinstance(offset, Scalar)
        return Address(yes.place, offset)
    left, right = access.scalar(yes, line), access.scalar(no, line)
    if not isinstance(left.type, Arithmetic) or not isinstance(right.type, Arithmetic):
        for pointer, other in ((left, right), (right, left)):
            if isinstance(pointer.type, Pointer) and other.fixed == 0:
                # A null pointer is never followed, so the other stands for both; one of them cannot be compared.
                return replace(pointer, bases=pointer.bases | {UNSET})
        if left.type != right.type:
            raise Refusal(line, "`?:` chooses between a pointer and something else")
        return _either(chosen, left, right, None)
    type_ = left.type if left.type == right.type else common(left.type, right.type)
    single = _chosen_single(chosen, left, right, type_, line)
    left, right = _of_type(left, type_), _of_type(right, type_)
    if left.constant is not None and right.constant is not None and type_ not in {INT, FLOAT}:
        text = f"tl.full([], {left.text}, {type_.triton})"
        left = replace(left, text=text, level=ATOM, constant=None, loose=False)
    return _either(chosen, left, right, single)


def _of_type(held: Scalar, type_: Arithmetic) -> Scalar:
    """An operand of `tl.where`, which takes a number for a 32-bit one where that matters."""
    held = settled(convert(held, type_))
    if held.constant is None and held.carried != type_:
        held = settled(replace(held, interval=None))
    return exact_double(held)


def _either(chosen: Scalar, left: Scalar, right: Scalar, single: Scalar | None) -> Scalar:
    interval = None
    if left.interval is not None and right.interval is not None:
        interval = (min(left.interval[0], right.interval[0]), max(left.interval[1], right.interval[1]))
    text = f"tl.where({chosen.text}, {left.text}, {right.text})"
    varying = chosen.varying or left.varying or right.varying
    return Scalar(text, left.type, varying, interval=interval, bases=left.bases | right.bases, single=single)


def _chosen_single(chosen: Scalar, left: Scalar, right: Scalar, type_: Arithmetic, line: int) -> Scalar | None:
    if type_ is not DOUBLE:
        return None
    yes, no = narrowed(left), narrowed(right)
    if yes is None or no is None:
        return None
    found = choose(chosen, yes, no, line)
    return found if isinstance(found, Scalar) else None
