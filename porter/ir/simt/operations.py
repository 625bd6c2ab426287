"""The table of operations: what each takes, gives and means, and what it does beside computing a value.

Arithmetic is of numbers, not of vectors: these are only moved, packed and taken apart. Integers wrap around, division
truncates, floats are rounded to their type after each operation, to nearest, ties to even.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum

from porter.ir.simt.types import Array, Pointer, Scalar, Space, Type, Vector


class Effect(StrEnum):
    """An effect that an operation has beside computing its results."""

    NONE = "none"
    READ = "read"  # memory
    WRITE = "write"  # memory, or more than memory
    EXCHANGE = "exchange"  # values with other threads
    CONTROL = "control"  # what its regions do


class Demand(Enum):
    """A demand on the type of an operand or a result. The value says it in words, after "is not"."""

    NUMBER = "a number"
    FLOAT = "a float"
    INTEGER = "an integer"
    BITS = "an integer or truth value"
    BOOL = "a truth value"
    VECTOR = "a vector"
    POINTER = "a pointer"
    MEMORY = "a pointer or array"
    ARRAY = "an array"
    COMPARABLE = "a number or pointer"
    DATA = "a number, vector or pointer"
    U32 = "a u32"
    ANY = "a value"
    SAME = "a value of the type of the first operand"
    ELEMENT = "a value of the element's type"
    COMPONENT = "a value of the vector's type of numbers"


_HOLDS: Mapping[Demand, Callable[[Type], bool]] = {
    Demand.NUMBER: lambda t: isinstance(t, Scalar),
    Demand.FLOAT: lambda t: isinstance(t, Scalar) and t.is_float,
    Demand.INTEGER: lambda t: isinstance(t, Scalar) and t.is_integer,
    Demand.BITS: lambda t: isinstance(t, Scalar) and not t.is_float,
    Demand.BOOL: lambda t: t is Scalar.BOOL,
    Demand.VECTOR: lambda t: isinstance(t, Vector),
    Demand.POINTER: lambda t: isinstance(t, Pointer),
    Demand.MEMORY: lambda t: isinstance(t, Pointer | Array),
    Demand.ARRAY: lambda t: isinstance(t, Array) and t.space is not Space.GLOBAL,
    Demand.COMPARABLE: lambda t: isinstance(t, Scalar | Pointer),
    Demand.DATA: lambda t: not isinstance(t, Array),
    Demand.U32: lambda t: t is Scalar.U32,
    Demand.ANY: lambda _: True,
}


def holds(demand: Demand, type_: Type, first: Type | None) -> bool:
    """Returns whether `type_` is what `demand` says, of an operation whose first operand has the type `first`."""
    match demand:
        case Demand.SAME:
            return type_ == first
        case Demand.ELEMENT:
            return isinstance(first, Pointer | Array) and type_ == first.element
        case Demand.COMPONENT:
            return isinstance(first, Vector) and type_ == first.element
    return _HOLDS[demand](type_)


@dataclass(frozen=True, slots=True)
class Operation:
    """A row of the table.

    `takes` are the demands on the operands, the last of which holds for `more` of them, too; `attributes` are the
    values that each attribute may have, None for any. `regions` is how many it has.
    """

    meaning: str
    takes: tuple[Demand, ...] = ()
    gives: tuple[Demand, ...] = ()
    attributes: Mapping[str, tuple[object, ...] | None] = field(default_factory=dict)
    effect: Effect = Effect.NONE
    more: bool = False
    regions: int = 0
    ends: bool = False
    open: bool = False  # its operands and results depend on its regions, or it may have none

    @property
    def is_pure(self) -> bool:
        """Returns whether it may go where nobody uses its results, and be computed anywhere."""
        return self.effect is Effect.NONE and not self.ends


_D = Demand
_AXES: Mapping[str, tuple[object, ...]] = {"axis": (0, 1, 2)}


def _row(meaning: str, takes: tuple[Demand, ...], gives: tuple[Demand, ...] = (_D.SAME,)) -> Operation:
    return Operation(meaning, takes, gives)


def _unary(demand: Demand, **meanings: str) -> dict[str, Operation]:
    return {kind: _row(meaning, (demand,)) for kind, meaning in meanings.items()}


def _binary(demand: Demand, **meanings: str) -> dict[str, Operation]:
    return {kind: _row(meaning, (demand, _D.SAME)) for kind, meaning in meanings.items()}


_COMPARISONS = {
    kind: _row(meaning, (_D.COMPARABLE, _D.SAME), (_D.BOOL,))
    for kind, meaning in {
        "eq": "whether both are equal",
        "ne": "whether they differ",
        "lt": "whether the first is less",
        "le": "whether the first is not greater, and both are ordered",
        "gt": "whether the first is greater",
        "ge": "whether the first is not less, and both are ordered",
    }.items()
}
COMPARISONS: tuple[str, ...] = tuple(_COMPARISONS)

MATHEMATICS: Mapping[str, Operation] = {
    **_unary(
        _D.FLOAT,
        exp="e to the number", exp2="2 to the number", exp10="10 to the number", expm1="e to the number, less 1",
        log="the logarithm to base e", log2="the logarithm to base 2", log10="the logarithm to base 10",
        log1p="the logarithm of 1 plus the number", sqrt="the square root", rsqrt="one over the square root",
        cbrt="the cube root", sin="the sine", cos="the cosine", tan="the tangent", asin="the inverse sine",
        acos="the inverse cosine", atan="the inverse tangent", sinh="the hyperbolic sine",
        cosh="the hyperbolic cosine", tanh="the hyperbolic tangent", asinh="the inverse hyperbolic sine",
        acosh="the inverse hyperbolic cosine", atanh="the inverse hyperbolic tangent", erf="the error function",
        erfc="1 less the error function", lgamma="the logarithm of the gamma function's magnitude",
        floor="the largest whole number that is not above", ceil="the smallest whole number that is not below",
        trunc="the whole number towards zero", rint="the nearest whole number, half to even",
        round="the nearest whole number, half away from zero",
    ),
    **_binary(
        _D.FLOAT,
        pow="the first raised to the second", atan2="the angle of the point of height first and width second",
        fmod="the remainder of a division towards zero", copysign="the first with the second's sign",
        hypot="the length of the vector of both",
    ),
}  # fmt: skip

OPERATIONS: Mapping[str, Operation] = {
    "constant": Operation("a number", (), (_D.COMPARABLE,), {"value": None}),
    "undefined": Operation("a value that nobody may rely on", (), (_D.DATA,)),
    "thread_index": Operation("the thread's place in its block", (), (_D.U32,), _AXES),
    "block_index": Operation("the block's place in the grid", (), (_D.U32,), _AXES),
    "block_extent": Operation("the threads of a block", (), (_D.U32,), _AXES),
    "grid_extent": Operation("the blocks of the grid", (), (_D.U32,), _AXES),
    **_binary(
        _D.NUMBER, add="the sum", sub="the first less the second", mul="the product",
        min="the lesser; of floats the other where one is NaN", max="the greater; of floats the other where one is NaN",
    ),
    **_binary(_D.NUMBER, div="the quotient, of integers towards zero"),
    **_binary(_D.INTEGER, rem="the remainder, with the sign of the first", mulhi="the upper half of the product"),
    **_binary(_D.INTEGER, shl="the first shifted up by the second", shr="the first shifted down by the second"),
    **_unary(_D.INTEGER, popc="the number of set bits", clz="the number of leading bits that are not set",
             brev="the bits in reverse"),
    **_binary(_D.BITS, **{"and": "the bits in both", "or": "the bits in any", "xor": "the bits in one of both"}),
    **_unary(_D.BITS, **{"not": "the other bits"}),
    **_unary(_D.NUMBER, neg="the number with its sign turned", abs="the number without its sign"),
    **MATHEMATICS,
    "fma": _row("the product of the first two and the third, rounded once", (_D.FLOAT, _D.SAME, _D.SAME)),
    "isnan": _row("whether it is NaN", (_D.FLOAT,), (_D.BOOL,)),
    "isinf": _row("whether it is infinite", (_D.FLOAT,), (_D.BOOL,)),
    **_COMPARISONS,
    "select": Operation("the second where the first is true, else the third", (_D.BOOL, _D.DATA, _D.DATA), (_D.DATA,)),
    "cast": _row("the number in another type, as C converts it", (_D.NUMBER,), (_D.NUMBER,)),
    "bitcast": _row("the same bits as another type of the same size", (_D.DATA,), (_D.DATA,)),
    "pack": Operation("the vector of the operands", (_D.NUMBER, _D.SAME), (_D.VECTOR,), more=True),
    "extract": Operation("a component", (_D.VECTOR,), (_D.COMPONENT,), {"index": None}),
    "array": Operation("memory of its own for the block or thread", (), (_D.ARRAY,)),
    "dynamic_shared": Operation("the shared memory that the launch gives the block", (), (_D.POINTER,)),
    "offset": Operation("the pointer so many elements further on", (_D.MEMORY, _D.INTEGER), (_D.POINTER,)),
    "distance": Operation("how many elements the first is behind the second", (_D.POINTER, _D.SAME), (_D.INTEGER,)),
    "load": Operation("the element at an index", (_D.MEMORY, _D.INTEGER), (_D.ELEMENT,), {"aligned": None},
                      Effect.READ),
    "store": Operation("puts the third at an index", (_D.MEMORY, _D.INTEGER, _D.ELEMENT), (), {"aligned": None},
                       Effect.WRITE),
    "atomic": Operation("changes the element at an index at once, and gives what was there",
                        (_D.MEMORY, _D.INTEGER, _D.ELEMENT, _D.ELEMENT), (_D.ELEMENT,),
                        {"op": ("add", "sub", "min", "max", "and", "or", "xor", "exchange", "swap", "inc", "dec")},
                        Effect.WRITE, open=True),
    "barrier": Operation("waits for the block, for the lanes of the mask, or for others to see what the thread wrote",
                         (_D.INTEGER,), (), {"scope": ("block", "warp", "fence", "block_fence")}, Effect.WRITE,
                         open=True),
    "shuffle": Operation("another lane's value: lane, distance or bits, among `width` lanes; the last are the mask",
                         (_D.NUMBER, _D.INTEGER, _D.INTEGER), (_D.SAME,),
                         {"mode": ("index", "up", "down", "xor"), "width": (1, 2, 4, 8, 16, 32)}, Effect.EXCHANGE),
    "vote": Operation("what the lanes of the mask say together", (_D.BOOL, _D.INTEGER), (_D.BITS,),
                      {"mode": ("all", "any", "ballot")}, Effect.EXCHANGE),
    "match": Operation("a bit for each lane of the mask that has the same number as the lane itself",
                       (_D.INTEGER, _D.INTEGER), (_D.U32,), effect=Effect.EXCHANGE),
    "reduce": Operation("the numbers of all threads that run, of the block or of the warp, put together in any order",
                        (_D.NUMBER,), (_D.SAME,), {"op": ("add", "min", "max", "mul"), "scope": ("block", "warp")},
                        Effect.EXCHANGE),
    "scan": Operation("the numbers of the threads that run up to each one put together, its own left out or not",
                      (_D.NUMBER,), (_D.SAME,), {"op": ("add", "min", "max", "mul"), "scope": ("block", "warp"),
                                                 "backward": (False, True), "exclusive": (False, True)},
                      Effect.EXCHANGE),
    "assert": Operation("ends the launch with a message where it is false", (_D.BOOL,), (), {"message": None},
                        Effect.WRITE),
    "print": Operation("tells the user something, which no result depends on", (), (), effect=Effect.WRITE),
    "if": Operation("the first region where it is true, else the second", (_D.BOOL,), (), effect=Effect.CONTROL,
                    regions=2, open=True),
    "for": Operation("counts from the first while it compares with the second, by the third; carries the others",
                     (_D.INTEGER, _D.SAME, _D.SAME, _D.DATA), (), {"compare": COMPARISONS, "unroll": None, "row": None},
                     Effect.CONTROL, more=True, regions=1, open=True),
    "while": Operation("the first region says whether to go on with the second; carries the operands",
                       (_D.DATA,), (), effect=Effect.CONTROL, more=True, regions=2, open=True),
    "yield": Operation("ends a region with its results", (_D.DATA,), (), more=True, ends=True, open=True),
    "return": Operation("ends the kernel", (), (), ends=True),
}  # fmt: skip
