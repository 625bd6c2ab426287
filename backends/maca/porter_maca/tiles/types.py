"""Spells element types as MACA C++ does, and finds the types of values in a kernel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from porter.contract.model.dtype import DType
from porter.ir.tile.expressions import (
    Cast,
    Compute,
    Filled,
    Fold,
    FoldIndex,
    Lanes,
    Literal,
    Load,
    Name,
    Program,
    Running,
    Ticket,
    Value,
)

_NAMES = {
    DType.FLOAT64: "double",
    DType.FLOAT32: "float",
    DType.INT64: "int64_t",
    DType.INT32: "int",
    DType.INT16: "int16_t",
    DType.INT8: "int8_t",
    DType.UINT64: "uint64_t",
    DType.UINT32: "uint32_t",
    DType.UINT16: "uint16_t",
    DType.UINT8: "uint8_t",
    DType.BOOL: "bool",
}
SINGLE = frozenset(("divide_rn", "multiply_rn"))
_TRUTHS = frozenset(("less", "equal", "and", "or", "not"))
_OF_FLOATS = frozenset(
    (
        *("divide", "power", "exp", "exp2", "expm1", "log", "log2", "log1p", "sqrt", "rsqrt", "sin", "cos", "tan"),
        *("sinh", "cosh", "tanh", "asin", "acos", "atan", "atan2", "erf", "erfc", "lgamma", "floor", "ceil", "round"),
    )
)


class UnprintableError(Exception):
    """MACA C++, or this printer, has no word for something; the message names it."""


def type_name(dtype: DType) -> str:
    """Returns the C++ type of values that are computed with."""
    if dtype not in _NAMES:
        raise UnprintableError(f"nothing is computed in {dtype}")
    return _NAMES[dtype]


@dataclass
class Types:
    """The types of a kernel's names: numbers, and the targets of pointers."""

    tensors: Mapping[str, DType]
    precision: DType
    numbers: dict[str, DType] = field(default_factory=dict)
    pointers: dict[str, str] = field(default_factory=dict)  # the tensor into which each leads
    generic: set[str] = field(default_factory=set)  # tensors whose element type is a parameter of the kernel
    counted: set[str] = field(default_factory=set)  # numbers of a block, and parts of these

    def tensor(self, pointer: Value) -> str:
        """Returns the tensor that a pointer leads into, empty for anything else."""
        match pointer:
            case Name(name):
                return self.pointers.get(name, "")
            case Compute("add", operands):
                return self.tensor(operands[0])
        return ""

    def of(self, value: Value) -> DType | None:
        """Returns the type of a value; None for a literal, which takes the type around it."""
        match value:
            case Name(name):
                return self.numbers.get(name)
            case Ticket():
                return DType.INT32
            case Program() | Lanes() | FoldIndex():
                return DType.INT32
            case Cast(_, dtype) | Filled(dtype=dtype):
                return dtype
            case Load(pointer=pointer, dtype=dtype):
                return dtype or self.tensors[self.tensor(pointer)]
            case Fold(value=inner) | Running(value=inner):
                return self.joint([inner])
            case Compute():
                return self._of_computed(value)
            case Literal():
                return None

    def _of_computed(self, value: Compute) -> DType | None:
        if value.op in _TRUTHS:
            return DType.BOOL
        if value.op == "truncate":
            return DType.INT64
        if value.op in SINGLE:
            return DType.FLOAT32
        joint = self.joint(value.operands[1:] if value.op == "select" else value.operands)
        if value.op in _OF_FLOATS and (joint is None or not joint.is_float):
            return self.precision
        return joint

    def is_counted(self, value: Value) -> bool:
        """Returns whether a value is the number of a block, or a part of it."""
        match value:
            case Name(name):
                return name in self.counted
            case Cast(Program()):
                return True
            case Compute("floor_divide" | "modulo", (above, _)):
                return self.is_counted(above)
        return False

    def joint(self, values: Iterable[Value]) -> DType | None:
        """Returns the type in which values meet; None where all are literals."""
        found = [dtype for dtype in map(self.of, values) if dtype is not None]
        for wide in (DType.FLOAT64, DType.FLOAT32, DType.INT64):
            if wide in found:
                return wide
        if any(dtype.is_float for dtype in found):
            return DType.FLOAT32
        return DType.INT32 if found else None
