"""Warp operations as calls of the device room's helpers, which reshape the block to rows of 32 lanes."""

from __future__ import annotations

from porter.syntax.nodes import Call
from porter_triton.lower import access, expressions
from porter_triton.lower.context import Context
from porter_triton.lower.conversions import convert, settled
from porter_triton.lower.types import BOOL, INT, UINT, Arithmetic
from porter_triton.lower.values import ATOM, Fields, Scalar, Value, number
from porter_triton.refusal import Refusal

_SHUFFLES = {"": "shuffle", "_up": "shuffle_up", "_down": "shuffle_down", "_xor": "shuffle_xor"}
_TORCH_SHUFFLES = {f"WARP_SHFL{kind.upper()}": helper for kind, helper in _SHUFFLES.items()}
_VOTES = {"__any": "warp_any", "__all": "warp_all", "__ballot": "ballot"}
_REDUCTIONS = {
    "add": "warp_sum",
    "min": "warp_min",
    "max": "warp_max",
    "and": "warp_and",
    "or": "warp_or",
    "xor": "warp_xor",
}
_BLOCK_VOTES = {"__syncthreads_or": "max", "__syncthreads_and": "min", "__syncthreads_count": "sum"}
_FULL = 0xFFFFFFFF


def call(cx: Context, name: str, node: Call) -> Value | None:
    """The value of a warp operation; None for any other name."""
    legacy = not name.endswith("_sync")
    stem = name.removesuffix("_sync")
    if stem.startswith("__shfl") and stem[6:] in _SHUFFLES:
        arguments = node.arguments if legacy else node.arguments[1:]
        return _shuffle(cx, _SHUFFLES[stem[6:]], tuple(expressions.value(cx, a) for a in arguments), node.line)
    if name in _TORCH_SHUFFLES:
        values = tuple(expressions.value(cx, a) for a in node.arguments[:3])
        return _shuffle(cx, _TORCH_SHUFFLES[name], values, node.line)
    if stem in _VOTES:
        mask = None if legacy else expressions.scalar(cx, node.arguments[0])
        return vote(cx, stem, mask, expressions.truth(cx, node.arguments[-1]))
    if name == "__activemask":
        active = Scalar(_active(cx, None), BOOL, True)
        return vote(cx, "__ballot", None, active)
    if stem.startswith("__reduce_") and stem[9:] in _REDUCTIONS:
        mask = expressions.scalar(cx, node.arguments[0])
        return reduce(cx, stem[9:], mask, expressions.scalar(cx, node.arguments[1]))
    if stem == "__match_any":
        mask = expressions.scalar(cx, node.arguments[0])
        value = _spread(cx, expressions.scalar(cx, node.arguments[1]))
        return cx.temporary(Scalar(f"{cx.helper('match_any')}({value}, {_active(cx, mask)})", UINT, True), "match")
    if name in _BLOCK_VOTES:
        return _block_vote(cx, name, expressions.truth(cx, node.arguments[0]))
    return None


def _shuffle(cx: Context, helper: str, arguments: tuple[Value, ...], line: int) -> Value:
    value, lane, *rest = arguments
    if isinstance(value, Fields):
        fields = ((n, _shuffle(cx, helper, (v, *arguments[1:]), line)) for n, v in value.values)
        return Fields(value.type, tuple(fields))
    held = settled(access.scalar(value, line))
    if not held.varying:
        return held
    source = settled(convert(access.scalar(lane, line), INT, line))
    width = access.scalar(rest[0], line).fixed if rest else 32
    if width is None:
        raise Refusal(line, "the width of a shuffle is not known")
    more = "" if width == 32 else f", {width}"
    text = f"{cx.helper(helper)}({held.text}, {source.text}{more})"
    return Scalar(text, held.type, True)


def shuffle(cx: Context, kind: str, arguments: tuple[Value, ...], line: int) -> Value:
    """A shuffle of this kind ("", "up", "down", "xor") of a value."""
    return _shuffle(cx, _SHUFFLES[f"_{kind}" if kind else ""], arguments, line)


def vote(cx: Context, stem: str, mask: Scalar | None, predicate: Scalar) -> Scalar:
    """`__any`, `__all` or `__ballot` of the lanes that take part."""
    votes = _spread(cx, predicate)
    text = f"{cx.helper(_VOTES[stem])}({votes}, {_active(cx, mask)})"
    if stem == "__ballot":
        return Scalar(text, UINT, True)
    return Scalar(text, INT, True, held=BOOL)


def reduce(cx: Context, operation: str, mask: Scalar | None, value: Scalar) -> Scalar:
    """A reduction over the lanes that take part."""
    held = settled(value)
    return Scalar(f"{cx.helper(_REDUCTIONS[operation])}({_spread(cx, held)}, {_active(cx, mask)})", held.type, True)


def _block_vote(cx: Context, name: str, predicate: Scalar) -> Scalar:
    votes = _spread(cx, predicate)
    operation = _BLOCK_VOTES[name]
    if cx.mask is not None:
        votes = f"{votes} | ~{cx.mask.text}" if operation == "min" else f"{votes} & {cx.mask.text}"
        votes = f"({votes})"
    return Scalar(f"tl.{operation}({votes}.to(tl.int32), axis=0)", INT, interval=(0, 1024))


def _spread(cx: Context, value: Scalar) -> str:
    """A value as a tensor with an element a thread."""
    if value.varying:
        return value.within(ATOM)
    assert isinstance(value.type, Arithmetic)
    return f"tl.full([{cx.block}], {value.text}, {value.type.triton})"


def _active(cx: Context, mask: Scalar | None) -> str:
    """The lanes that run and that the mask names."""
    running = cx.mask.text if cx.mask is not None and cx.mask.varying else ""
    if mask is None or (mask.constant is not None and int(mask.constant) & _FULL == _FULL):
        return running or _spread(cx, number(1, BOOL))
    named = f"{cx.helper('named_lanes')}({settled(convert(mask, UINT)).text}, {cx.block})"
    if mask.constant is not None:
        named = f"{cx.helper('named_lanes')}(tl.cast({int(mask.constant) & _FULL}, tl.uint32), {cx.block})"
    return f"{running} & {named}" if running else named
