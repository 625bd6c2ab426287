"""CUDA's own functions: barriers, vectors, limits of types, warps, atomics, and the table of the device room."""

from __future__ import annotations

import math

from porter.source.qualified import unqualified
from porter.syntax.nodes import Call, Member, Name, SizeOf, TypeName
from porter_triton.lower import (
    access,
    accessors,
    atomics,
    block_fold,
    calls,
    cub,
    expressions,
    float8,
    groups,
    lvalues,
    memory,
    operators,
    remarks,
    resolve,
    table,
    tuples,
    views,
    warp,
)
from porter_triton.lower.arithmetic import negative
from porter_triton.lower.context import Context
from porter_triton.lower.places import Held, Place
from porter_triton.lower.types import BUILT_IN, ULONG, Arithmetic, Record, alignment
from porter_triton.lower.values import Address, Bits, Collective, Fields, Group, Nothing, Scalar, Value, number
from porter_triton.refusal import Refusal

_BARRIERS = frozenset({"__syncthreads", "__barrier_sync", "__threadfence", "__threadfence_system"})
_NOTHING = frozenset({"__threadfence_block", "__prof_trigger", "__nanosleep", "__builtin_assume", "__builtin_prefetch"})
_CACHED_LOADS = frozenset({"__ldg", "__ldcs", "__ldcg", "__ldca", "__ldlu", "__ldcv"})
_CACHED_STORES = frozenset({"__stcs", "__stcg", "__stwb", "__stwt"})
_SAME = frozenset({"move", "forward", "__builtin_expect", "ref", "cref"})
_LIMITS = {"max", "min", "lowest", "infinity", "epsilon", "quiet_NaN"}
_FLOATS = {
    "float16": (65504.0, 2.0**-14, 2.0**-10),
    "bfloat16": (3.3895313892515355e38, 2.0**-126, 2.0**-7),
    "float32": (3.4028234663852886e38, 2.0**-126, 2.0**-23),
    "float64": (1.7976931348623157e308, 2.0**-1022, 2.0**-52),
}


def call(cx: Context, callee: Name, node: Call) -> Value | None:
    """The value of a call of a function of CUDA's; None for an unknown one."""
    plain = unqualified(callee.name)
    if callee.name == block_fold.SHIFTED:
        return block_fold.shifted(cx, node)
    if plain in _BARRIERS:
        if "fence" in plain:
            cx.decisions.fences.add(node.line)
        memory.barrier(cx)
        return Nothing()
    if plain == "__syncwarp":
        memory.warp_barrier(cx)
        return Nothing()
    if plain in _NOTHING:
        return Nothing()
    if "numeric_limits" in callee.name and plain in _LIMITS:
        return _limit(cx, callee, plain)
    if plain.startswith("make_") and plain[5:] in BUILT_IN:
        record = BUILT_IN[plain[5:]]
        assert isinstance(record, Record)
        return calls.construct(cx, record, tuple(expressions.value(cx, a) for a in node.arguments), node.line)
    if plain in _SAME and node.arguments:
        return expressions.value(cx, node.arguments[0])
    made = (
        remarks.call(cx, plain, node)
        or tuples.call(cx, callee, node)
        or float8.call(cx, plain, node)
        or _of_memory(cx, plain, node)
    )
    if made is not None:
        return made
    grouped = groups.call(cx, callee, node)
    if grouped is not None:
        return grouped
    for room in (warp.call, atomics.call):
        made = room(cx, plain, node)
        if made is not None:
            return made
    return table.call(cx, plain, node)


def _of_memory(cx: Context, plain: str, node: Call) -> Value | None:
    """Loads and stores with a hint for the cache, copies, alignment; None for any other name."""
    if plain in _CACHED_LOADS and len(node.arguments) == 1:
        return access.load(cx, _pointee(cx, node), node.line)
    if plain in _CACHED_STORES and len(node.arguments) == 2:
        target = _pointee(cx, node)
        access.store(cx, target, expressions.value(cx, node.arguments[1]), node.line)
        return Nothing()
    if plain == "alignof" and isinstance(asked := node.arguments[0], SizeOf) and isinstance(asked.of, TypeName):
        bytes_ = alignment(resolve.type_of(cx, asked.of, node.line))
        if bytes_ is None:
            raise Refusal(node.line, "the alignment of a struct of the source's")
        return number(bytes_, ULONG)
    if plain in {"memcpy", "memset", "memmove"} and len(node.arguments) == 3:
        return _copied(cx, plain, node)
    return None


def _copied(cx: Context, name: str, node: Call) -> Value:
    """`memcpy` and `memset` of a size that is known."""
    bytes_ = expressions.constant(cx, node.arguments[2], node.line).constant
    target = expressions.value(cx, node.arguments[0])
    if not isinstance(bytes_, int) or not isinstance(target, Address):
        raise Refusal(node.line, f"`{name}` of what is not a variable")
    written = views.cast_to_bytes(target, bytes_, node.line)
    if name == "memset":
        fill = expressions.constant(cx, node.arguments[1], node.line)
        if fill.constant != 0:
            raise Refusal(node.line, "`memset` to another value than 0")
        for part in written.parts:
            access.store(cx, part, number(0, written.unit), node.line)
        return Nothing()
    source = expressions.value(cx, node.arguments[1])
    if not isinstance(source, Address):
        raise Refusal(node.line, f"`{name}` from what is not a variable")
    read = views.cast_to_bytes(source, bytes_, node.line)
    parts = tuple(access.scalar(access.load(cx, p, node.line), node.line) for p in read.parts)
    views.store(cx, written, Bits(read.type, read.unit, parts), node.line)
    return Nothing()


def _pointee(cx: Context, node: Call) -> Place:
    return lvalues.pointee(expressions.value(cx, node.arguments[0]), node.line)


def _limit(cx: Context, callee: Name, plain: str) -> Scalar:
    argument = callee.template[0] if callee.template else None
    type_ = resolve.type_of(cx, argument, callee.line) if isinstance(argument, TypeName) else None
    if not isinstance(type_, Arithmetic):
        raise Refusal(callee.line, "the limits of what is not a number")
    if not type_.is_float:
        return number({"max": type_.high}.get(plain, type_.low), type_)
    most, least, step = _FLOATS[type_.dtype]
    values = {"max": most, "lowest": -most, "min": least, "epsilon": step, "infinity": math.inf, "quiet_NaN": math.nan}
    return number(values[plain], type_)


def method(cx: Context, owner: Place, callee: Member, node: Call) -> Value | None:
    """A method of a type of CUDA's."""
    if isinstance(owner, Held) and isinstance(owner.value, Group):
        return groups.method(cx, owner.value, callee, node)
    if isinstance(owner, Held) and isinstance(owner.value, Collective):
        return cub.method(cx, owner.value, callee, node)
    if accessors.held(access.place_type(owner)):
        given = tuple(lvalues.place(cx, argument) for argument in node.arguments)
        return accessors.method(cx, owner, callee.name, given, node.line)
    return None


def vector_operator(cx: Context, symbol: str, operands: tuple[Value, ...], line: int) -> Value | None:
    """An operator on `half2` and its like, which CUDA's headers define component by component."""
    types = [o.type for o in operands if isinstance(o, Fields)]
    if not types or types[0].name not in {"half2", "__nv_bfloat162"} or len(operands) not in {1, 2}:
        return None
    if len(operands) == 1:
        whole = operands[0]
        assert isinstance(whole, Fields)
        if symbol != "-":
            return None
        return Fields(types[0], tuple((n, negative(access.scalar(v, line), line)) for n, v in whole.values))
    left, right = operands
    if not isinstance(left, Fields) or not isinstance(right, Fields):
        return None
    parts = ((n, operators.operate(cx, symbol, v, right.field(n), line)) for n, v in left.values)
    return Fields(types[0], tuple(parts))
