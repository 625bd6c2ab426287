"""A function of the SIMT IR executed the plain way: one thread after the other, one number after the other.

A thread is a generator that stops where it waits for others; it shares nothing with the interpreter but the IR.
Integers are Python's, floats are single numbers of numpy.
"""

import math
from collections.abc import Generator
from fractions import Fraction

import numpy as np

from porter.ir.simt.interpret.domain import numpy_type
from porter.ir.simt.ops import Block, Function, Op, Value
from porter.ir.simt.types import Array, Pointer, Scalar, Space

FLOATS = {Scalar.F16: np.float16, Scalar.F32: np.float32, Scalar.F64: np.float64}
WARP = 32
COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
STOPPING = frozenset({"if", "for", "while", "barrier", "shuffle", "vote"})


class Ended:
    """The message of a thread that has ended."""


def wrapped(value: int, type_: Scalar) -> int:
    value &= (1 << type_.bits) - 1
    return value - (1 << type_.bits) if type_.is_signed and value >> type_.bits - 1 else value


def rounded(value: float, type_: Scalar):
    return FLOATS[type_](value)


def unsigned(value: int, bits: int) -> int:
    return value & (1 << bits) - 1


INTEGER = {
    "add": lambda a, b, _: a + b,
    "sub": lambda a, b, _: a - b,
    "mul": lambda a, b, _: a * b,
    "div": lambda a, b, _: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    "rem": lambda a, b, _: abs(a) % abs(b) * (-1 if a < 0 else 1),
    "mulhi": lambda a, b, bits: a * b >> bits,
    "min": lambda a, b, _: min(a, b),
    "max": lambda a, b, _: max(a, b),
    "and": lambda a, b, _: a & b,
    "or": lambda a, b, _: a | b,
    "xor": lambda a, b, _: a ^ b,
    "not": lambda a, _, __: ~a,
    "shl": lambda a, b, _: a << b,
    "shr": lambda a, b, _: a >> b,
    "neg": lambda a, _, __: -a,
    "abs": lambda a, _, __: abs(a),
    "popc": lambda a, _, bits: unsigned(a, bits).bit_count(),
    "clz": lambda a, _, bits: bits - unsigned(a, bits).bit_length(),
    "brev": lambda a, _, bits: int(f"{unsigned(a, bits):0{bits}b}"[::-1], 2),
}


def floating_pair(kind: str, a, b):
    if math.isnan(a) or math.isnan(b):
        return b if math.isnan(a) else a
    return min(a, b) if kind == "min" else max(a, b)


def floating(kind: str, a, b=None, c=None):
    with np.errstate(all="ignore"):
        match kind:
            case "add":
                return a + b
            case "sub":
                return a - b
            case "mul":
                return a * b
            case "div":
                return a / b
            case "neg":
                return -a
            case "abs":
                return abs(a)
            case "min" | "max":
                return floating_pair(kind, a, b)
            case "sqrt":
                return np.sqrt(a)
            case "fma":
                return fused(a, b, c)
            case "round":
                return (
                    a
                    if not math.isfinite(a)
                    else math.copysign(math.floor(abs(Fraction(float(a))) + Fraction(1, 2)), a)
                )
            case _:
                return getattr(np, kind)(a)


def fused(a, b, c):
    """The exact sum of an exact product, rounded once by comparing it with both neighbours."""
    if not all(map(math.isfinite, (a, b, c))):
        return a * b + c
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if exact == 0:
        return a * b + c
    near = type(a)(float(exact)) if abs(exact) < 2**1024 else type(a)(math.copysign(math.inf, exact))
    if not math.isfinite(near):
        return near
    around = [near, np.nextafter(near, type(a)(np.inf)), np.nextafter(near, type(a)(-np.inf))]
    finite = [one for one in around if math.isfinite(one)]
    if len(finite) < 3 or isinstance(a, np.float64):
        return near
    distances = [abs(Fraction(float(one)) - exact) for one in finite]
    best = min(distances)
    nearest = [one for one, distance in zip(finite, distances, strict=True) if distance == best]
    even = [one for one in nearest if int(np.array(one).view(f"u{one.itemsize}")) % 2 == 0]
    return nearest[0] if len(nearest) == 1 else even[0]


def compare(kind: str, a, b) -> bool:
    match kind:
        case "eq":
            return bool(a == b)
        case "ne":
            return bool(a != b)
        case "lt":
            return bool(a < b)
        case "le":
            return bool(a <= b)
        case "gt":
            return bool(a > b)
    return bool(a >= b)


class Thread:
    """One thread. Pointers are (list of elements, place)."""

    def __init__(self, function: Function, arguments: list, block: int, thread: int, shared: dict) -> None:
        self.values = {p.value: given for p, given in zip(function.parameters, arguments, strict=True)}
        self.block, self.thread, self.shared = block, thread, shared
        self.body = function.body

    def run(self) -> Generator:
        yield from self.ops(self.body)

    def ops(self, block: Block) -> Generator:
        for op in block.ops:
            if op.kind in ("yield", "return"):
                return [self.values[operand] for operand in op.operands]
            given = [self.values[operand] for operand in op.operands]
            # Most neither wait nor have regions: to make a generator of one takes as long as to execute it.
            results = (yield from self.results(op, given)) if op.kind in STOPPING else self.at_once(op, given)
            self.values.update(zip(op.results, results, strict=True))
        return []

    def region(self, block: Block, given: list) -> Generator:
        self.values.update(zip(block.arguments, given, strict=True))
        return (yield from self.ops(block))

    def results(self, op: Op, given: list) -> Generator:
        match op.kind:
            case "if":
                return (yield from self.region(op.regions[0 if given[0] else 1], []))
            case "for":
                counter, upper, step, *carried = given
                while compare(op.attribute("compare"), counter, upper):
                    carried = yield from self.region(op.regions[0], [counter, *carried])
                    counter = wrapped(counter + step, op.operands[0].type)
                return carried
            case "while":
                carried = given
                while True:
                    condition, *carried = yield from self.region(op.regions[0], carried)
                    if not condition:
                        return carried
                    carried = yield from self.region(op.regions[1], carried)
            case "barrier":
                yield None
                return []
            case "shuffle":
                lanes = yield (op, given[0])
                return [lanes[self.source(op, given[1])]]
            case "vote":
                lanes = yield (op, given[0])
                warp = lanes[self.thread - self.thread % WARP :][:WARP]
                ballot = sum(1 << lane for lane, says in enumerate(warp) if says)
                return [{"all": all(warp), "any": any(warp), "ballot": ballot}[op.attribute("mode")]]
        raise AssertionError(op.kind)

    def source(self, op: Op, operand: int) -> int:
        width, lane = op.attribute("width"), self.thread % WARP
        first = lane // width * width
        wanted = {
            "index": first + operand % width,
            "up": lane - operand if lane - operand >= first else lane,
            "down": lane + operand if lane + operand < first + width else lane,
            "xor": lane ^ operand if lane ^ operand < first + width else lane,
        }[op.attribute("mode")]
        return self.thread - lane + wanted

    def at_once(self, op: Op, given: list) -> list:
        if op.kind in INTEGER or op.kind in COMPARISONS:
            return [self.arithmetic(op.kind, op.operands[0].type, given)]
        return self.simple(op, given)

    def simple(self, op: Op, given: list) -> list:
        kind = op.kind
        type_ = op.results[0].type if op.results else None
        match kind:
            case "thread_index":
                return [self.thread]
            case "block_index":
                return [self.block]
            case "constant":
                value = op.attribute("value")
                return [rounded(value, type_) if type_.is_float else value]
            case "array":
                holder = self.shared if type_.space is Space.SHARED else self.values
                key = ("memory", op)
                return [(holder.setdefault(key, [None] * type_.count), 0)]
            case "offset":
                return [(given[0][0], given[0][1] + given[1])]
            case "load":
                return [given[0][0][given[0][1] + given[1]]]
            case "store":
                given[0][0][given[0][1] + given[1]] = given[2]
                return []
            case "atomic":
                memory, place = given[0][0], given[0][1] + given[1]
                before = memory[place]
                memory[place] = self.arithmetic(op.attribute("op"), type_, [before, given[2]])
                return [before]
            case "pack":
                return [tuple(given)]
            case "extract":
                return [given[0][op.attribute("index")]]
            case "select":
                return [given[1] if given[0] else given[2]]
            case "cast":
                return [self.cast(given[0], op.operands[0].type, type_)]
        return [self.arithmetic(kind, op.operands[0].type, given)]

    @staticmethod
    def cast(value, source: Scalar, target: Scalar):
        if target.is_float:
            return rounded(
                value if source.is_float else np.array(value, numpy_type(source)).astype(FLOATS[target]), target
            )
        return wrapped(math.trunc(float(value)) if source.is_float else value, target)

    @staticmethod
    def arithmetic(kind: str, type_: Scalar, given: list):
        if kind in COMPARISONS:
            return compare(kind, *given)
        if type_ is Scalar.BOOL:
            return {"and": all(given), "or": any(given), "xor": given[0] != given[-1], "not": not given[0]}[kind]
        if type_.is_float:
            return rounded(floating(kind, *given), type_)
        return wrapped(INTEGER[kind](given[0], given[-1], type_.bits), type_)


def execute(function: Function, arguments: list, blocks: int, threads: int) -> None:
    """Runs all blocks in order. What threads wait at is met by all of them."""
    for block in range(blocks):
        shared: dict = {}
        running = [Thread(function, arguments, block, thread, shared).run() for thread in range(threads)]
        told: list = [None] * threads
        while running:
            met = []
            for thread, answer in zip(running, told, strict=True):
                try:
                    met.append(thread.send(answer))
                except StopIteration:
                    met.append(Ended)
            if any(one is Ended for one in met):
                assert all(one is Ended for one in met)
                break
            first = met[0]
            assert all((one is None) == (first is None) and (one is None or one[0] is first[0]) for one in met)
            told = [None if first is None else [value for _, value in met]] * threads


def memory_of(values: np.ndarray, type_: Scalar) -> tuple[list, int]:
    return ([FLOATS[type_](v) for v in values] if type_ in FLOATS else [int(v) for v in values], 0)


def result_of(value: Value) -> Scalar:
    assert isinstance(value.type, Pointer | Array)
    assert isinstance(value.type.element, Scalar)
    return value.type.element
