"""CUDA's own functions: barriers, vectors, warps, atomics, and the table of the device room."""

from __future__ import annotations

from porter.syntax.nodes import Call, Member, Name
from porter_triton.device.functions import Overload, overload
from porter_triton.lower import access, calls, expressions, memory
from porter_triton.lower.arithmetic import cast_text, convert, settled
from porter_triton.lower.context import Context
from porter_triton.lower.places import Place
from porter_triton.lower.types import BUILT_IN, Arithmetic, Record
from porter_triton.lower.values import ATOM, LEVELS, Fields, Nothing, Scalar, Value
from porter_triton.refusal import Refusal

_BARRIERS = frozenset({"__syncthreads", "__barrier_sync", "__syncthreads_lm"})
_NOTHING = frozenset({"__syncwarp", "__threadfence_block", "__prof_trigger", "__nanosleep", "static_assert", "assert"})
_BY_DTYPE = {type_.dtype: type_ for type_ in BUILT_IN.values() if isinstance(type_, Arithmetic)}


def call(cx: Context, callee: Name, node: Call) -> Value | None:
    """The value of a call of a function of CUDA's; None for an unknown one."""
    plain = callee.name.rsplit("::", maxsplit=1)[-1]
    if plain in _BARRIERS:
        memory.barrier(cx)
        return Nothing()
    if plain in _NOTHING:
        return Nothing()
    if plain.startswith("make_") and plain[5:] in BUILT_IN:
        record = BUILT_IN[plain[5:]]
        assert isinstance(record, Record)
        return calls.construct(cx, record, tuple(expressions.value(cx, a) for a in node.arguments), node.line)
    return _from_table(cx, plain, node)


def _from_table(cx: Context, name: str, node: Call) -> Value | None:
    values = [expressions.value(cx, a) for a in node.arguments]
    if not all(isinstance(v, Scalar) for v in values):
        return None
    scalars = [access.scalar(v, node.line) for v in values]
    kinds = [v.type.dtype if isinstance(v.type, Arithmetic) else "pointer" for v in scalars]
    found = overload(name, kinds)
    return None if found is None else apply(cx, found, scalars, node.line)


def apply(cx: Context, found: Overload, scalars: list[Scalar], line: int) -> Value:
    """A row of the table on arguments that are numbers."""
    texts = []
    for value, parameter in zip(scalars, found.parameters, strict=True):
        held = settled(convert(value, _BY_DTYPE[parameter], line))
        if held.loose or held.constant is not None:
            held = cast_text(held, _BY_DTYPE[parameter]) if not found.function.number else held
        texts.append(held.within(ATOM))
    text = found.expressions[0].format(*texts)
    level = LEVELS.get(found.function.level, ATOM) if found.function.level else ATOM
    varying = any(v.varying for v in scalars)
    if not found.result:
        raise Refusal(line, "a function without a value")
    return Scalar(text, _BY_DTYPE[found.result], varying, level)


def method(cx: Context, owner: Place, callee: Member, node: Call) -> Value | None:
    """A method of a type of CUDA's."""
    return None


def vector_operator(cx: Context, symbol: str, operands: tuple[Value, ...], line: int) -> Value | None:
    """An operator on `half2` and its like, which CUDA's headers define component by component."""
    types = [o.type for o in operands if isinstance(o, Fields)]
    if not types or types[0].name not in {"half2", "__nv_bfloat162"} or len(operands) != 2:
        return None
    left, right = operands
    if not isinstance(left, Fields) or not isinstance(right, Fields):
        return None
    parts = ((n, expressions.operate(cx, symbol, v, right.field(n), line)) for n, v in left.values)
    return Fields(types[0], tuple(parts))
