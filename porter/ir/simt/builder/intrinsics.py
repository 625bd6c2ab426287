"""CUDA's own functions: barriers, lanes, atomics, loads with hints, vectors, limits, and the table of mathematics."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from porter.ir.simt.builder import access, arithmetic, calls, expressions, resolve
from porter.ir.simt.builder.c_types import BUILT_IN, INT, UINT, UNSIGNED, ArrayOf, CType, PointerTo, Record
from porter.ir.simt.builder.mathematics import BITS, FUNCTIONS, Function, conversion
from porter.ir.simt.builder.state import Builder
from porter.ir.simt.builder.values import Fields, Held, Memory, Nothing, Number, Place, RValue, Text
from porter.ir.simt.operations import COMPARISONS, MATHEMATICS
from porter.ir.simt.types import Pointer, Scalar, Vector
from porter.source.qualified import unqualified
from porter.syntax.nodes import Call, Expression, Name, TypeName

_F32, _F64 = Scalar.F32, Scalar.F64
_ALL_LANES = 0xFFFFFFFF
_WORDS = {_F32: Scalar.U32, _F64: Scalar.U64}
_BARRIERS = {
    "__syncthreads": "block", "__barrier_sync": "block", "__syncwarp": "warp", "__threadfence": "fence",
    "__threadfence_block": "block_fence", "__threadfence_system": "fence",
}  # fmt: skip
_NOTHING = frozenset({"__nanosleep", "__builtin_assume", "__builtin_prefetch", "__prof_trigger", "static_assert"})
_LOADS = frozenset({"__ldg", "__ldcs", "__ldcg", "__ldca", "__ldlu", "__ldcv"})
_STORES = frozenset({"__stcs", "__stcg", "__stwb", "__stwt"})
_SAME = frozenset({"move", "forward", "__builtin_expect", "ref", "cref"})
_SHUFFLES = {"": "index", "_up": "up", "_down": "down", "_xor": "xor"}
_VOTES = {"all": "all", "any": "any", "ballot": "ballot"}
_ATOMICS = {
    "Add": "add", "Sub": "sub", "Min": "min", "Max": "max", "And": "and", "Or": "or", "Xor": "xor",
    "Exch": "exchange", "CAS": "swap", "Inc": "inc", "Dec": "dec",
}  # fmt: skip
_LIMITS = {
    Scalar.F16: (65504.0, 2.0**-14, 2.0**-10, 2.0**-24),
    Scalar.BF16: (3.3895313892515355e38, 2.0**-126, 2.0**-7, 2.0**-133),
    Scalar.F32: (3.4028234663852886e38, 2.0**-126, 2.0**-23, 2.0**-149),
    Scalar.F64: (1.7976931348623157e308, 2.0**-1022, 2.0**-52, 5e-324),
}
_ASSERTIONS = frozenset({"assert", "CUDA_KERNEL_ASSERT", "CUDA_KERNEL_ASSERT_MSG", "CUDA_KERNEL_ASSERT2"})
_TRAPS = frozenset({"__trap", "__builtin_trap", "__builtin_unreachable"})
_MOST_COPIED = 256  # elements
_PAIRS = {"__half2": Scalar.F16, "__nv_bfloat162": Scalar.BF16}


def call(b: Builder, callee: Name, node: Call) -> RValue | Place | None:
    """The value of a call of a function of CUDA's, or the place that it returns; None for an unknown one."""
    plain = unqualified(callee.name)
    if plain in _BARRIERS:
        return _barrier(b, _BARRIERS[plain], node)
    if plain in _NOTHING:
        return Nothing()
    if "numeric_limits" in callee.name:
        return _limit(b, callee, plain)
    if plain in _SAME and node.arguments:
        return expressions.place(b, node.arguments[0])
    if callee.name == "std::swap" and len(node.arguments) == 2:
        return _swapped(b, *(expressions.place(b, argument) for argument in node.arguments))
    if plain in ("nan", "nanf") and len(node.arguments) == 1:
        type_ = _F64 if plain == "nan" else _F32
        return Number(b.emitter.constant(math.nan, type_), type_)
    for room in (_of_memory, _of_lanes, _atomic, _vector, _assert, _print):
        found = room(b, plain, node)
        if found is not None:
            return found
    return _mathematics(b, plain, node)


def is_overloaded(name: str) -> bool:
    """Returns whether CUDA has a function of numbers of this name."""
    return name in FUNCTIONS


def takes_exactly(name: str, types: Sequence[CType | None]) -> bool:
    """Returns whether that function has an overload for arguments of just these types."""
    function = FUNCTIONS[name]
    if function.type is not None or not types:
        return bool(types) and all(type_ is function.type for type_ in types)
    (only,) = set(types) if len(set(types)) == 1 else (None,)
    is_whole = isinstance(only, Scalar) and only.is_integer and only.bits >= INT.bits
    return only in (_F32, _F64) or (is_whole and function.kind in ("abs", "min", "max"))


def _barrier(b: Builder, scope: str, node: Call) -> RValue:
    mask: tuple[Number, ...] = ()
    if scope == "warp":
        every = Number(b.emitter.constant(_ALL_LANES, UINT), UINT)
        mask = tuple(_numbers(b, node.arguments)) or (every,)
    b.emitter.effect("barrier", tuple(number.value for number in mask), scope=scope)
    return Nothing()


def _swapped(b: Builder, one: Place, other: Place) -> RValue:
    """`std::swap(a, b)`."""
    first, second = access.load(b, one), access.load(b, other)
    access.store(b, one, second)
    access.store(b, other, first)
    return Nothing()


def _numbers(b: Builder, nodes: Sequence[Expression]) -> list[Number]:
    return [expressions.number(b, node) for node in nodes]


def _of_memory(b: Builder, plain: str, node: Call) -> RValue | None:
    if plain in _LOADS and len(node.arguments) == 1:
        return access.load(b, expressions.pointee(b, expressions.number(b, node.arguments[0])))
    if plain in _STORES and len(node.arguments) == 2:
        target = expressions.pointee(b, expressions.number(b, node.arguments[0]))
        access.store(b, target, expressions.value(b, node.arguments[1]))
        return Nothing()
    if plain == "__cvta_generic_to_shared":
        return arithmetic.convert(b, expressions.number(b, node.arguments[0]), PointerTo(Scalar.U8))
    if plain in ("memset", "__builtin_memset") and len(node.arguments) == 3:
        return _fill(b, node)
    if plain == "new" and isinstance(callee_type := node.callee.template[0], TypeName):  # type: ignore[union-attr]
        return _own_array(b, callee_type, node)
    if plain == "malloc" and len(node.arguments) == 1 and expressions.constant(b, node.arguments[0]) is not None:
        return _own_array(b, TypeName("unsigned char"), node)
    if plain in ("delete", "free"):
        return Nothing()
    if plain in ("memcpy", "__builtin_memcpy") and len(node.arguments) == 3:
        size = expressions.constant(b, node.arguments[2])
        if not isinstance(size, int):
            raise b.problem("a copy of a number of bytes that is not known")
        to, source = _numbers(b, node.arguments[:2])
        _copy_bytes(b, to, source, size)
        return Nothing()
    return None


def _fill(b: Builder, node: Call) -> RValue:
    """`memset(p, byte, bytes)` of a byte and a number of bytes that are known, of vectors number by number."""
    place, given = (expressions.number(b, argument) for argument in node.arguments[:2])
    byte = b.emitter.known(arithmetic.convert(b, given, INT).value)
    size = expressions.constant(b, node.arguments[2])
    target = arithmetic.as_pointer(b, place.value)
    assert isinstance(target.type, Pointer)
    held = target.type.element
    element = held.element if isinstance(held, Vector) else held
    if not isinstance(size, int) or byte is None or size % element.bytes:
        raise b.problem("memory that is filled with a byte, or of a size, that is not known", node.line)
    if size // element.bytes > _MOST_COPIED:
        raise b.problem(f"memory of {size} bytes that is filled with {byte}", node.line)
    unit = UNSIGNED[element.bytes] if element.is_float and byte else element
    if unit is not held:
        target = b.emitter.emit("bitcast", (target,), Pointer(unit, target.type.space))
    whole = int.from_bytes(bytes([int(byte) & 0xFF]) * unit.bytes, "little", signed=unit.is_signed)
    filled = b.emitter.constant(whole, unit)
    for number in range(size // unit.bytes):
        b.emitter.effect("store", (target, b.emitter.constant(number, INT), filled))
    return Nothing()


def _own_array(b: Builder, of: TypeName, node: Call) -> RValue:
    """`new T[n]` of a few elements: memory of the thread, which needs not be given back."""
    count = expressions.constant(b, node.arguments[0]) if node.arguments else 1
    type_ = resolve.type_of(b, of, node.line)
    if not isinstance(count, int) or not 0 < count <= _MOST_COPIED:
        raise b.problem(
            "memory that a kernel allocates, of a size that is not known: give it as an argument", node.line
        )
    made = access.variable(b, "allocated", ArrayOf(type_, (count,)), in_memory=True)
    assert isinstance(made, Memory)
    return Number(access.address(b, made, type_), PointerTo(type_))


def _copy_bytes(b: Builder, to: Number, source: Number, size_bytes: int) -> None:
    """Copies memory as elements of what it is copied to, byte by byte where these do not fit."""
    target, origin = (arithmetic.as_pointer(b, number.value) for number in (to, source))
    assert isinstance(target.type, Pointer)
    assert isinstance(origin.type, Pointer)
    unit = target.type.element if size_bytes % target.type.element.bytes == 0 else Scalar.U8
    if size_bytes // unit.bytes > _MOST_COPIED:
        raise b.problem(f"a copy of {size_bytes} bytes")
    places = [p if p.type == (wanted := Pointer(unit, p.type.space)) else b.emitter.emit("bitcast", (p,), wanted)
              for p in (target, origin) if isinstance(p.type, Pointer)]  # fmt: skip
    for number in range(size_bytes // unit.bytes):
        index = b.emitter.constant(number, INT)
        b.emitter.effect("store", (places[0], index, b.emitter.emit("load", (places[1], index), unit)))


def _of_lanes(b: Builder, plain: str, node: Call) -> RValue | None:
    if plain == "__match_any_sync":
        return _matched(b, *_numbers(b, node.arguments))
    if plain == "__activemask":
        return _ballot(b, "ballot", _true(b), b.emitter.constant(_ALL_LANES, UINT))
    stem = plain.removesuffix("_sync")
    mode, vote = _SHUFFLES.get(stem.removeprefix("__shfl")), _VOTES.get(stem.removeprefix("__"))
    if not (stem.startswith("__shfl") and mode) and not (stem.startswith("__") and vote):
        return None
    # The forms without a mask, gone since Volta, are for the lanes that run together.
    named = stem != plain
    mask = expressions.number(b, node.arguments[0]) if named else Number(b.emitter.constant(_ALL_LANES, UINT), UINT)
    arguments = node.arguments[1:] if named else node.arguments
    if vote is not None:
        return _ballot(b, vote, expressions.condition(b, arguments[0]), mask.value)
    width = expressions.constant(b, arguments[2]) if len(arguments) > 2 else 32
    assert mode is not None
    if width is None:
        return calls.of_library(b, f"__shuffled_{mode}", [Held(mask), *calls.given(b, arguments)], node.line)
    if width not in (1, 2, 4, 8, 16, 32):
        raise b.problem(f"a shuffle among {width} lanes, which is no power of two within a warp")
    value, lane = expressions.value(b, arguments[0]), expressions.number(b, arguments[1])
    return _shuffled(b, value, arithmetic.convert(b, lane, INT), mask, mode=mode, width=width)


def _matched(b: Builder, mask: Number, value: Number) -> Number:
    """Returns which lanes hold the same number, of floats the same bits."""
    held = resolve.scalar_of(b, value, 0)
    bits = _WORDS.get(held, held)
    word = value.value if bits is held else b.emitter.emit("bitcast", (value.value,), bits)
    return Number(b.emitter.emit("match", (word, mask.value), UINT), UINT)


def _true(b: Builder) -> Number:
    return Number(b.emitter.constant(True, Scalar.BOOL), Scalar.BOOL)


def _shuffled(b: Builder, value: RValue, lane: Number, mask: Number, *, mode: str, width: int) -> RValue:
    """The value of another lane; of a struct each part."""
    if isinstance(value, Fields):
        parts = ((name, _shuffled(b, part, lane, mask, mode=mode, width=width)) for name, part in value.parts)
        return Fields(value.type, tuple(parts))
    if not isinstance(value, Number) or isinstance(value.type, PointerTo):
        raise b.problem("a shuffle of what is not a number")
    operands = (value.value, lane.value, mask.value)
    return Number(b.emitter.emit("shuffle", operands, value.type, mode=mode, width=width), value.type)


def _ballot(b: Builder, mode: str, says: Number, mask: object) -> Number:
    type_ = UINT if mode == "ballot" else Scalar.BOOL
    made = Number(b.emitter.emit("vote", (says.value, mask), type_, mode=mode), type_)  # type: ignore[arg-type]
    return made if mode == "ballot" else arithmetic.convert(b, made, INT)


def _atomic(b: Builder, plain: str, node: Call) -> RValue | None:
    name = plain.removeprefix("gpuAtomic") if plain.startswith("gpuAtomic") else plain.removeprefix("atomic")
    name = name.removesuffix("_block").removesuffix("_system").removesuffix("NoReturn")
    if name == plain or name not in _ATOMICS:
        return None
    target = expressions.pointee(b, expressions.number(b, node.arguments[0]))
    type_ = target.type
    if isinstance(type_, Record) and type_.vector is not None and len(node.arguments) == 2:
        return _atomic_parts(b, _ATOMICS[name], target, type_, expressions.value(b, node.arguments[1]))
    if not isinstance(type_, Scalar):
        raise b.problem("an atomic operation on what is not a number")
    given = [arithmetic.convert(b, number, type_).value for number in _numbers(b, node.arguments[1:])]
    operands = (target.base, target.index, *given)
    return Number(b.emitter.emit("atomic", operands, type_, op=_ATOMICS[name]), type_)


def _atomic_parts(b: Builder, kind: str, target: Memory, type_: Record, value: RValue) -> RValue:
    """On a vector: CUDA's are atomic for each of its numbers, not for all of them together."""
    if not isinstance(value, Fields) or len(value.parts) != len(type_.fields):
        raise b.problem("an atomic operation on a vector and something else")
    found = []
    for number, (name, element) in enumerate(type_.fields):
        assert isinstance(element, Scalar)
        place = access.inside(b, Memory(target.base, target.index, type_), number * element.bytes, element)
        given = arithmetic.convert(b, resolve.number_of(b, value.part(name), 0), element).value
        before = b.emitter.emit("atomic", (place.base, place.index, given), element, op=kind)
        found.append((name, Number(before, element)))
    return Fields(type_, tuple(found))


def _vector(b: Builder, plain: str, node: Call) -> RValue | None:
    if plain.startswith("make_"):
        name = {"half2": "__half2", "bfloat162": "__nv_bfloat162"}.get(plain[5:], plain[5:])
        if name in BUILT_IN:
            return calls.construct(b, BUILT_IN[name], node.arguments, node.line)
    if plain in _PAIR_FUNCTIONS:
        return _PAIR_FUNCTIONS[plain](b, [expressions.value(b, argument) for argument in node.arguments])
    return None


def _pair(b: Builder, name: str, first: RValue, second: RValue) -> RValue:
    type_ = BUILT_IN[name]
    numbers = [arithmetic.convert(b, resolve.number_of(b, part, 0), _PAIRS[name]) for part in (first, second)]
    return Fields(type_, (("x", numbers[0]), ("y", numbers[1])))


def _floats(b: Builder, value: RValue) -> RValue:
    assert isinstance(value, Fields)
    parts = [arithmetic.convert(b, resolve.number_of(b, part, 0), _F32) for _, part in value.parts]
    return Fields(BUILT_IN["float2"], (("x", parts[0]), ("y", parts[1])))


def _parts(value: RValue) -> tuple[RValue, ...]:
    assert isinstance(value, Fields)
    return tuple(part for _, part in value.parts)


def _component(name: str, type_: Scalar | None) -> Callable[[Builder, Sequence[RValue]], RValue]:
    def taken(b: Builder, values: Sequence[RValue]) -> RValue:
        value = values[0]
        assert isinstance(value, Fields)
        part = resolve.number_of(b, value.part(name), 0)
        return part if type_ is None else arithmetic.convert(b, part, type_)

    return taken


_PAIR_FUNCTIONS: Mapping[str, Callable[[Builder, Sequence[RValue]], RValue]] = {
    "__halves2half2": lambda b, v: _pair(b, "__half2", v[0], v[1]),
    "__halves2bfloat162": lambda b, v: _pair(b, "__nv_bfloat162", v[0], v[1]),
    "__floats2half2_rn": lambda b, v: _pair(b, "__half2", v[0], v[1]),
    "__floats2bfloat162_rn": lambda b, v: _pair(b, "__nv_bfloat162", v[0], v[1]),
    "__float2half2_rn": lambda b, v: _pair(b, "__half2", v[0], v[0]),
    "__float2bfloat162_rn": lambda b, v: _pair(b, "__nv_bfloat162", v[0], v[0]),
    "__half2half2": lambda b, v: _pair(b, "__half2", v[0], v[0]),
    "__bfloat162bfloat162": lambda b, v: _pair(b, "__nv_bfloat162", v[0], v[0]),
    "__float22half2_rn": lambda b, v: _pair(b, "__half2", *_parts(v[0])),
    "__float22bfloat162_rn": lambda b, v: _pair(b, "__nv_bfloat162", *_parts(v[0])),
    "__half22float2": lambda b, v: _floats(b, v[0]),
    "__bfloat1622float2": lambda b, v: _floats(b, v[0]),
    "__low2float": _component("x", _F32),
    "__high2float": _component("y", _F32),
    "__low2half": _component("x", None),
    "__high2half": _component("y", None),
    "__low2bfloat16": _component("x", None),
    "__high2bfloat16": _component("y", None),
}


def _assert(b: Builder, plain: str, node: Call) -> RValue | None:
    if plain in _ASSERTIONS:
        b.emitter.effect("assert", (expressions.condition(b, node.arguments[0]).value,), message=f"line {node.line}")
        return Nothing()
    if plain == "__assert_fail":
        b.emitter.effect("assert", (b.emitter.constant(False, Scalar.BOOL),), message=f"line {node.line}")
        return Nothing()
    if plain in _TRAPS:
        b.emitter.effect("assert", (b.emitter.constant(False, Scalar.BOOL),), message="a trap")
        return Nothing()
    return None


def _print(b: Builder, plain: str, node: Call) -> RValue | None:
    """`printf`, whose arguments are evaluated for what they do besides."""
    if plain not in ("printf", "puts"):
        return None
    for argument in node.arguments:
        expressions.value(b, argument)
    b.emitter.effect("print", ())
    return Number(b.emitter.constant(0, INT), INT)


def _limit(b: Builder, callee: Name, plain: str) -> RValue:
    given = callee.template[0] if callee.template else None
    type_ = resolve.type_of(b, given) if isinstance(given, TypeName) else None
    if not isinstance(type_, Scalar):
        raise b.problem("the limits of what is not a number")
    if type_.is_float:
        most, least, step, tiny = _LIMITS[type_]
        values: dict[str, float] = {"max": most, "lowest": -most, "min": least, "epsilon": step,
                                    "infinity": math.inf, "quiet_NaN": math.nan, "denorm_min": tiny}  # fmt: skip
    else:
        low = -(1 << type_.bits - 1) if type_.is_signed else 0
        values = {"max": low + (1 << type_.bits) - 1, "lowest": low, "min": low}
    if plain not in values:
        raise b.problem(f"'{callee.name}'")
    return Number(b.emitter.constant(values[plain], type_), type_)


def _mathematics(b: Builder, plain: str, node: Call) -> RValue | None:
    name = plain
    if plain not in FUNCTIONS and plain.endswith("2") and plain[:-1] in FUNCTIONS:
        name = plain[:-1]
    known = name in FUNCTIONS or name in BITS or conversion(name) is not None or name in _COMPOSED
    if not known:
        return None
    values = [expressions.value(b, argument) for argument in node.arguments]
    if name in ("min", "max") and len(values) == 2 and all(map(_has_order, values)):
        return _least_or_greatest(b, name, values)
    if any(isinstance(value, Fields) and value.type.name in _PAIRS for value in values):
        return by_component(lambda *parts: _of_numbers(b, name, parts), values)
    values = [calls.converted_struct(b, value) if isinstance(value, Fields) else value for value in values]
    return _of_numbers(b, name, values)


def _has_order(value: RValue) -> bool:
    return isinstance(value, Fields) and value.type.name not in _PAIRS


def _least_or_greatest(b: Builder, name: str, values: Sequence[RValue]) -> RValue:
    """`min` and `max` of structs that have an order, as `std::max` takes them."""
    is_less = calls.operator(b, "<", values[::-1] if name == "min" else values)
    if not isinstance(is_less, Number):
        raise b.problem(f"'{name}' of structs without an order")
    return expressions.selected(b, arithmetic.truth(b, is_less), values[1], values[0])


def by_component(apply: Callable[..., RValue], values: Sequence[RValue]) -> RValue:
    """A function of pairs, which is one of each component."""
    pairs = [value for value in values if isinstance(value, Fields)]
    parts: list[tuple[str, RValue]] = []
    for name, _ in pairs[0].parts:
        parts.append((name, apply(*(value.part(name) if isinstance(value, Fields) else value for value in values))))
    type_ = pairs[0].type
    return Fields(type_, tuple(parts))


def _of_numbers(b: Builder, name: str, values: Sequence[RValue]) -> RValue:
    numbers = [resolve.number_of(b, value, 0) for value in values if not isinstance(value, Text)]
    if name in _COMPOSED:
        return _COMPOSED[name](b, numbers)
    if name in BITS:
        source, target = BITS[name]
        held = arithmetic.convert(b, numbers[0], source)
        return Number(b.emitter.emit("bitcast", (held.value,), target), target)
    if (told := conversion(name)) is not None:
        source, target, rounded = told
        held = arithmetic.convert(b, numbers[0], source)
        if rounded and rounded != "trunc":
            held = Number(b.emitter.emit(rounded, (held.value,), source), source)
        return arithmetic.convert(b, held, target)
    return _applied(b, FUNCTIONS[name], numbers)


def _applied(b: Builder, function: Function, numbers: Sequence[Number]) -> Number:
    type_ = function.type
    if type_ is None:
        types = [resolve.scalar_of(b, number, 0) for number in numbers]
        type_ = types[0]
        for other in types[1:]:
            type_ = type_ if type_ is other else arithmetic.common(type_, other)
        if function.kind in MATHEMATICS or function.kind in ("fma", "isnan", "isinf", "reciprocal"):
            type_ = type_ if type_.is_float else _F64
        elif function.kind in ("abs", "min", "max"):
            type_ = arithmetic.promoted(type_)
    values = tuple(arithmetic.convert(b, number, type_).value for number in numbers)
    if function.kind == "reciprocal":
        one = b.emitter.constant(1.0, type_)
        return Number(b.emitter.emit("div", (one, *values), type_), type_)
    is_truth = function.kind in COMPARISONS or function.kind in ("isnan", "isinf")
    made = Number(
        b.emitter.emit(function.kind, values, Scalar.BOOL if is_truth else type_), Scalar.BOOL if is_truth else type_
    )
    return made if function.result is None else arithmetic.convert(b, made, function.result)


def _finite(b: Builder, numbers: Sequence[Number]) -> Number:
    held = _applied(b, Function("abs"), numbers)
    infinity = b.emitter.constant(math.inf, held.value.type)
    return Number(b.emitter.emit("lt", (held.value, infinity), Scalar.BOOL), Scalar.BOOL)


def _saturated(b: Builder, numbers: Sequence[Number]) -> Number:
    held = arithmetic.convert(b, numbers[0], _F32)
    one, zero = b.emitter.constant(1.0, _F32), b.emitter.constant(0.0, _F32)
    low = b.emitter.emit("max", (held.value, zero), _F32)
    return Number(b.emitter.emit("min", (low, one), _F32), _F32)


def _first_set(type_: Scalar) -> Callable[[Builder, Sequence[Number]], Number]:
    def found(b: Builder, numbers: Sequence[Number]) -> Number:
        held = arithmetic.convert(b, numbers[0], type_)
        lowest = b.emitter.emit("and", (held.value, b.emitter.emit("neg", (held.value,), type_)), type_)
        zeros = b.emitter.emit("clz", (lowest,), type_)
        count = b.emitter.emit("sub", (b.emitter.constant(type_.bits, type_), zeros), type_)
        return arithmetic.convert(b, Number(count, type_), INT)

    return found


def _sincos(type_: Scalar) -> Callable[[Builder, Sequence[Number]], RValue]:
    def computed(b: Builder, numbers: Sequence[Number]) -> RValue:
        held = arithmetic.convert(b, numbers[0], type_)
        for kind, pointer in (("sin", numbers[1]), ("cos", numbers[2])):
            made = Number(b.emitter.emit(kind, (held.value,), type_), type_)
            access.store(b, expressions.pointee(b, pointer), made)
        return Nothing()

    return computed


_COMPOSED: Mapping[str, Callable[[Builder, Sequence[Number]], RValue]] = {
    "isfinite": _finite,
    "__saturatef": _saturated,
    "__ffs": _first_set(UINT),
    "__ffsll": _first_set(Scalar.U64),
    "sincosf": _sincos(_F32),
    "__sincosf": _sincos(_F32),
    "sincos": _sincos(_F64),
}
