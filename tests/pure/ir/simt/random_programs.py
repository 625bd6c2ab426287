"""Random functions of the SIMT IR that verify, end, and have no race: any order of threads gives the same memory.

They read an input anywhere and write an output at the thread's own places; a block's memory is written at the thread's
own place and read elsewhere behind a barrier. Lanes exchange values where all of them are.
"""

import random
from functools import cache

from porter.ir.simt.operations import COMPARISONS, MATHEMATICS
from porter.ir.simt.ops import Attribute, Block, Function, Op, Parameter, Value, walk
from porter.ir.simt.types import Array, Pointer, Scalar, Space, Type, Vector

INPUTS = 128  # elements of each input, a power of two
OUTPUTS = 4  # elements of each thread
NUMBERS = (Scalar.I32, Scalar.U32, Scalar.I64, Scalar.U8, Scalar.F32, Scalar.F64, Scalar.F16)
INTEGER = ("add", "sub", "mul", "neg", "abs", "and", "or", "xor", "not", "min", "max", "popc", "clz", "brev", "mulhi",
           "shl", "shr", "div", "rem")  # fmt: skip
_EXACT = ("sqrt", "floor", "ceil", "trunc", "rint", "round")  # the same in every library
assert set(_EXACT) <= set(MATHEMATICS)
_DRAWN, _MOST = 600, 200  # functions that the most varied ones are chosen from, which takes two seconds


def threads_of(seed: int) -> int:
    """The threads of a block: mostly one warp, which single threads take least time for."""
    return 32 if seed % 8 else 64


class Generator:
    def __init__(self, seed: int) -> None:
        self.threads = threads_of(seed)
        self.random = random.Random(seed)
        self.ops: list[Op] = []
        self.known: list[Value] = []
        self.budget = self.random.randrange(8, 50)
        self.shared: list[Value] = []

    def function(self) -> Function:
        pointers = [Value(Pointer(type_, Space.GLOBAL), f"in_{type_}") for type_ in NUMBERS]
        outputs = [Value(Pointer(type_, Space.GLOBAL), f"out_{type_}") for type_ in NUMBERS]
        sizes = [Value(Scalar.I32, "n"), Value(Scalar.F32, "scale")]
        self.inputs = dict(zip(NUMBERS, pointers, strict=True))
        self.outputs = dict(zip(NUMBERS, outputs, strict=True))
        self.known += sizes
        self.thread = self.emit("thread_index", (), Scalar.U32, axis=0)
        self.block = self.emit("block_index", (), Scalar.U32, axis=0)
        local = Array(Scalar.F32, 8, Space.LOCAL)
        self.local = self.emit("array", (), local)
        for index in range(8):
            self.emit("store", (self.local, self.constant(Scalar.I32, index), self.constant(Scalar.F32, 0.5 * index)))
        while self.budget > 0:
            self.random.choice((self.statement, self.statement, self.exchange, self.shared_round))()
        for slot in range(OUTPUTS):
            self.write(slot)
        self.emit("return", ())
        return Function("random", tuple(Parameter(v, i) for i, v in enumerate((*pointers, *outputs, *sizes))),
                        Block((), tuple(self.ops)))  # fmt: skip

    def emit(
        self, kind: str, operands: tuple[Value, ...], result: Type | None = None, **attributes: Attribute
    ) -> Value:
        name = self.random.choice(("", "", "sum", "x"))
        results = () if result is None else (Value(result, name),)
        self.ops.append(Op(kind, operands, results, tuple(sorted(attributes.items()))))
        if result in NUMBERS or result is Scalar.BOOL:
            self.known.append(results[0])
        return results[0] if results else Value(Scalar.BOOL)

    def constant(self, type_: Scalar, value: int | float | bool) -> Value:
        return self.emit("constant", (), type_, value=value)

    def some(self, type_: Scalar) -> Value:
        found = [value for value in self.known if value.type is type_]
        if found and self.random.random() < 0.85:
            return self.random.choice(found)
        if type_ is Scalar.BOOL:
            return self.constant(type_, self.random.random() < 0.5)
        if type_.is_float:
            return self.constant(type_, self.random.choice((0.0, -1.5, 0.25, 3.0, float("inf"))))
        least = -(1 << type_.bits - 1) if type_.is_signed else 0
        own = self.random.choice((0, 1, 5, least, least + (1 << type_.bits) - 1))
        return self.constant(type_, own)

    def statement(self, depth: int = 0) -> None:
        self.budget -= 1
        choices = [self.arithmetic] * 5 + [self.load, self.cast, self.select, self.local_access, self.vector]
        if depth < 3:
            choices += [lambda: self.branch(depth), lambda: self.count(depth), lambda: self.repeat(depth)]
        self.random.choice(choices)()

    def arithmetic(self) -> None:
        type_ = self.random.choice(NUMBERS)
        if type_.is_float:
            kind = self.random.choice(("add", "sub", "mul", "div", "neg", "abs", "fma", "min", "max", *_EXACT))
        else:
            kind = self.random.choice(INTEGER)
        if self.random.random() < 0.25:
            kind = self.random.choice(COMPARISONS)
        count = {"fma": 3}.get(kind, 1 if kind in ("neg", "abs", "not", "popc", "clz", "brev", *_EXACT) else 2)
        operands = [self.some(type_) for _ in range(count)]
        if kind in ("shl", "shr"):
            operands[1] = self.constant(type_, self.random.randrange(type_.bits))
        if kind in ("div", "rem") and not type_.is_float:
            operands[1] = self.constant(type_, self.random.choice((1, 2, 3, 7)))
        self.emit(kind, tuple(operands), Scalar.BOOL if kind in COMPARISONS else type_)

    def index(self, mask: int) -> Value:
        """Any place of a memory of `mask + 1` elements."""
        return self.emit("and", (self.some(Scalar.U32), self.constant(Scalar.U32, mask)), Scalar.U32)

    def load(self) -> None:
        type_ = self.random.choice(NUMBERS)
        if self.random.random() < 0.3:
            moved = self.emit("offset", (self.inputs[type_], self.index(INPUTS // 2 - 1)), self.inputs[type_].type)
            self.emit("load", (moved, self.index(INPUTS // 2 - 1)), type_)
        else:
            self.emit("load", (self.inputs[type_], self.index(INPUTS - 1)), type_)

    def cast(self) -> None:
        source, target = self.random.choice(NUMBERS), self.random.choice(NUMBERS)
        value = self.some(source)
        if source.is_float and not target.is_float:  # of what no integer is, nobody says what becomes
            small = self.constant(source, 100.0)
            value = self.emit("max", (self.emit("min", (value, small), source), self.constant(source, 0.0)), source)
        self.emit("cast", (value,), target)

    def select(self) -> None:
        type_ = self.random.choice(NUMBERS)
        self.emit("select", (self.some(Scalar.BOOL), self.some(type_), self.some(type_)), type_)

    def local_access(self) -> None:
        if self.random.random() < 0.5:
            self.emit("store", (self.local, self.index(7), self.some(Scalar.F32)))
        else:
            self.emit("load", (self.local, self.index(7)), Scalar.F32)

    def vector(self) -> None:
        type_, count = self.random.choice(NUMBERS), self.random.choice((2, 4))
        packed = self.emit("pack", tuple(self.some(type_) for _ in range(count)), Vector(type_, count))
        self.emit("extract", (packed,), type_, index=self.random.randrange(count))

    def region(
        self, depth: int, arguments: tuple[Value, ...], types: list[Scalar], first: tuple[Value, ...] = ()
    ) -> Block:
        before, known = self.ops, list(self.known)
        self.ops = []
        self.known += [argument for argument in arguments if argument.type in NUMBERS]
        for _ in range(self.random.randrange(0, 4)):
            self.statement(depth + 1)
        self.emit("yield", (*first, *(self.some(type_) for type_ in types)))
        made = Block(arguments, tuple(self.ops))
        self.ops, self.known = before, known
        return made

    def control(self, kind: str, operands: tuple[Value, ...], types: list[Scalar], regions: tuple[Block, ...],
                **attributes: Attribute) -> None:  # fmt: skip
        results = tuple(Value(type_) for type_ in types)
        self.ops.append(Op(kind, operands, results, tuple(sorted(attributes.items())), regions))
        self.known += results

    def branch(self, depth: int) -> None:
        types = self.random.choices(NUMBERS, k=self.random.randrange(3))
        condition = self.some(Scalar.BOOL)
        self.control("if", (condition,), types, (self.region(depth, (), types), self.region(depth, (), types)))

    def count(self, depth: int) -> None:
        types = self.random.choices(NUMBERS, k=self.random.randrange(1, 3))
        lower = self.index(3)
        upper, step = self.constant(Scalar.U32, self.random.randrange(6)), self.constant(Scalar.U32, 2)
        begin = tuple(self.some(type_) for type_ in types)
        arguments = (Value(Scalar.U32, "i"), *(Value(type_) for type_ in types))
        body = self.region(depth, arguments, types)
        self.control("for", (lower, upper, step, *begin), types, (body,), compare="lt")

    def repeat(self, depth: int) -> None:
        """Counts down from at most 3, and stops earlier where data say so."""
        types = self.random.choices(NUMBERS, k=1)
        begin = (self.index(3), *(self.some(type_) for type_ in types))
        head = tuple(Value(value.type) for value in begin)
        before, known = self.ops, list(self.known)
        self.ops = []
        self.known += head
        left = self.emit("gt", (head[0], self.constant(Scalar.U32, 0)), Scalar.BOOL)
        on = self.emit("and", (left, self.some(Scalar.BOOL)), Scalar.BOOL)
        self.emit("yield", (on, *head))
        condition = Block(head, tuple(self.ops))
        self.ops, self.known = before, list(known)
        arguments = tuple(Value(value.type) for value in begin)
        inner = self.ops
        self.ops = []
        less = self.emit("sub", (arguments[0], self.constant(Scalar.U32, 1)), Scalar.U32)
        prologue, self.ops = self.ops, inner
        body = self.region(depth, arguments[1:], types, (less,))
        body = Block(arguments, (*prologue, *body.ops))
        self.known = known
        self.control("while", begin, [Scalar.U32, *types], (condition, body))

    def exchange(self) -> None:
        self.budget -= 1
        mask = self.constant(Scalar.U32, 0xFFFFFFFF)
        if self.random.random() < 0.3:
            mode = self.random.choice(("all", "any", "ballot"))
            self.emit(
                "vote", (self.some(Scalar.BOOL), mask), Scalar.U32 if mode == "ballot" else Scalar.BOOL, mode=mode
            )
            return
        type_, width = self.random.choice(NUMBERS), self.random.choice((8, 16, 32))
        lane = self.constant(Scalar.I32, self.random.randrange(width))
        mode = self.random.choice(("index", "up", "down", "xor"))
        self.emit("shuffle", (self.some(type_), lane, mask), type_, mode=mode, width=width)

    def shared_round(self) -> None:
        self.budget -= 3
        type_ = self.random.choice(NUMBERS)
        memory = self.emit("array", (), Array(type_, self.threads, Space.SHARED))
        self.emit("store", (memory, self.thread, self.some(type_)))
        self.emit("barrier", (), scope="block")
        self.scatter(memory, type_)
        if type_ in (Scalar.I32, Scalar.U32, Scalar.I64) and self.random.random() < 0.5:
            given = (memory, self.index(self.threads - 1), self.some(type_))
            self.emit("atomic", given, Value(type_).type, op=self.random.choice(("add", "min", "max")))
            self.known.pop()  # what was there depends on who came first
            self.emit("barrier", (), scope="block")
        for _ in range(2):
            self.emit("load", (memory, self.index(self.threads - 1)), type_)
        self.emit("barrier", (), scope="block")

    def scatter(self, memory: Value, type_: Scalar) -> None:
        """Threads store at another one's place, each at one of its own."""
        threads, value = self.threads, self.some(type_)
        runs = self.some(Scalar.BOOL) if self.random.random() < 0.5 else self.constant(Scalar.BOOL, True)
        eighth, place = self.of_thread("div", 8), self.of_thread("rem", 8)
        match self.random.randrange(6):
            case 0:
                index = self.emit("sub", (self.constant(Scalar.U32, threads - 1), self.thread), Scalar.U32)
            case 1:
                rows = self.emit("mul", (place, self.constant(Scalar.U32, threads // 8)), Scalar.U32)
                index = self.emit("add", (rows, eighth), Scalar.U32)
            case 2:
                index = eighth
                runs = self.emit("eq", (place, self.constant(Scalar.U32, self.random.randrange(8))), Scalar.BOOL)
            case 3:
                index = self.emit("add", (self.thread, self.constant(Scalar.U32, 4)), Scalar.U32)
                below = self.emit("lt", (self.thread, self.constant(Scalar.U32, threads - 4)), Scalar.BOOL)
                runs = self.emit("and", (below, runs), Scalar.BOOL)
            case 4:
                index = self.emit("and", (self.of_thread("add", 5), self.constant(Scalar.U32, threads - 1)), Scalar.U32)
            case _:
                index = self.constant(Scalar.U32, self.random.randrange(threads))
                own = self.emit("eq", (self.thread, self.constant(Scalar.U32, 3)), Scalar.BOOL)
                runs = self.emit("and", (own, runs), Scalar.BOOL)
        stored = Block((), (Op("store", (memory, index, value)), Op("yield")))
        self.control("if", (runs,), [], (stored, Block((), (Op("yield"),))))
        self.emit("barrier", (), scope="block")

    def of_thread(self, kind: str, number: int) -> Value:
        return self.emit(kind, (self.thread, self.constant(Scalar.U32, number)), Scalar.U32)

    def write(self, slot: int) -> None:
        threads = self.constant(Scalar.U32, self.threads)
        first = self.emit("mul", (self.block, threads), Scalar.U32)
        own = self.emit("add", (first, self.thread), Scalar.U32)
        place = self.emit("mul", (own, self.constant(Scalar.U32, OUTPUTS)), Scalar.U32)
        place = self.emit("add", (place, self.constant(Scalar.U32, slot)), Scalar.U32)
        for type_ in NUMBERS:
            self.emit("store", (self.outputs[type_], place, self.some(type_)))


def function(seed: int) -> Function:
    return Generator(seed).function()


def varied(count: int) -> tuple[int, ...]:
    """Returns the seeds of `count` functions, chosen so that together they have as much as possible.

    What they may have is an operation on values of some types, or on what another kind of operation made: 120 of 600 so
    chosen have 1,221 of the 1,374 that all have; the first 300 have 1,169.
    """
    assert count <= _MOST
    return _by_variety()[:count]


@cache
def _by_variety() -> tuple[int, ...]:
    has = [_traits(function(seed)) for seed in range(_DRAWN)]
    chosen, missing = list[int](), set[object]().union(*has)
    while len(chosen) < _MOST:
        left = (seed for seed in range(_DRAWN) if seed not in chosen)
        chosen.append(max(left, key=lambda seed: len(has[seed] & missing)))
        missing -= has[chosen[-1]]
    return tuple(chosen)


def _traits(made: Function) -> set[object]:
    ops = list(walk(made.body))
    maker = {id(result): op.kind for op in ops for result in op.results}
    typed = {(op.kind, *(str(value.type) for value in (*op.operands[:3], *op.results[:2]))) for op in ops}
    return {*typed, *((maker[id(value)], op.kind) for op in ops for value in op.operands if id(value) in maker)}
