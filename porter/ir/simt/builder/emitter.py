"""Makes operations in order, with constants shared and integers of constants computed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from porter.ir.simt.interpret import integers
from porter.ir.simt.interpret.concrete import Concrete
from porter.ir.simt.interpret.domain import numpy_type
from porter.ir.simt.operations import OPERATIONS
from porter.ir.simt.ops import NOWHERE, Attribute, Block, Location, Op, Value
from porter.ir.simt.types import Scalar, Type

_FOLDED = frozenset(
    kind for kind in ("add", "sub", "mul", "div", "rem", "min", "max", "shl", "shr", "and", "or", "xor", "not", "neg",
                      "abs", "eq", "ne", "lt", "le", "gt", "ge", "cast")
)  # fmt: skip


_EXACT = 1 << 53  # up to which a float has every integer


class Emitter:
    """The operations of a function so far: those of the block that is being made, and of its beginning."""

    def __init__(self) -> None:
        self.prologue: list[Op] = []
        self._blocks: list[list[Op]] = [[]]
        self._constants: dict[Value, int | bool] = {}
        self._floats: dict[Value, float] = {}
        self._shared: list[dict[tuple[Type, str], Value]] = [{}]
        self.location: Location = NOWHERE

    def emit(
        self, kind: str, operands: Sequence[Value], result: Type, name: str = "", **attributes: Attribute
    ) -> Value:
        """Appends an operation with a result, unless it is a constant; returns the result."""
        folded: float | None = None
        if kind in ("neg", "cast") and isinstance(result, Scalar) and result.is_float:
            folded = self._folded_float(kind, operands[0], result)
        elif kind == "cast" and operands[0] in self._floats and isinstance(result, Scalar):
            folded = self._truncated(operands[0], result)
        elif kind in _FOLDED:
            folded = self._folded(kind, operands, result)
        if folded is not None:
            return self.constant(folded, result)
        value = Value(result, name)
        self._append(Op(kind, tuple(operands), (value,), tuple(sorted(attributes.items())), (), self.location))
        return value

    def effect(self, kind: str, operands: Sequence[Value] = (), **attributes: Attribute) -> None:
        """Appends an operation without a result."""
        self._append(Op(kind, tuple(operands), (), tuple(sorted(attributes.items())), (), self.location))

    def at_begin(self, kind: str, result: Type, name: str = "", **attributes: Attribute) -> Value:
        """Puts an operation at the function's begin: memory of the block or the thread, a coordinate."""
        value = Value(result, name)
        self.prologue.append(Op(kind, (), (value,), tuple(sorted(attributes.items())), (), self.location))
        return value

    def zero(self) -> Value:
        """The index 0, at the function's begin."""
        made = self.at_begin("constant", Scalar.I32, value=0)
        self._constants[made] = 0
        return made

    def control(
        self,
        kind: str,
        operands: Sequence[Value],
        results: Sequence[Value],
        regions: Sequence[Block],
        **given: Attribute,
    ) -> None:
        """Appends an operation with regions."""
        attributes = tuple(sorted(given.items()))
        self._append(Op(kind, tuple(operands), tuple(results), attributes, tuple(regions), self.location))

    def constant(self, value: float | bool, type_: Type) -> Value:
        """Returns a constant, the same one for the same number."""
        if isinstance(type_, Scalar) and type_.is_float:
            value = _rounded(value, type_)
        elif type_ is Scalar.BOOL:
            value = bool(value)
        elif isinstance(type_, Scalar):
            value = int(np.array([int(value) & (1 << 64) - 1], np.uint64).astype(numpy_type(type_))[0])
        key = type_, repr(value)
        for known in self._shared:
            if key in known:
                return known[key]
        made = self._shared[-1][key] = Value(type_)
        self._append(Op("constant", (), (made,), (("value", value),), (), self.location))
        if isinstance(value, float):
            self._floats[made] = value
        else:
            self._constants[made] = value
        return made

    def known(self, value: Value) -> int | bool | None:
        """Returns the number that `value` is in every thread; None where it is not known, and for floats."""
        return self._constants.get(value)

    @contextmanager
    def block(self) -> Iterator[list[Op]]:
        """Makes a block of what is emitted inside."""
        ops: list[Op] = []
        self._blocks.append(ops)
        self._shared.append({})
        try:
            yield ops
        finally:
            self._blocks.pop()
            self._shared.pop()

    @property
    def body(self) -> list[Op]:
        """The operations of the outermost block."""
        return self._blocks[0]

    def _append(self, op: Op) -> None:
        assert op.kind in OPERATIONS
        self._blocks[-1].append(op)

    def _folded_float(self, kind: str, operand: Value, result: Scalar) -> float | None:
        """Returns a constant with its sign turned, or in another type; None for another operand."""
        known = self._floats.get(operand, self._constants.get(operand))
        if known is None or (isinstance(known, int) and abs(known) > _EXACT):
            return None
        return _rounded(-known if kind == "neg" else known, result)

    def _truncated(self, operand: Value, result: Scalar) -> int | None:
        """Returns a float as a whole number; None where that may not hold it, and it depends on the device."""
        known = self._floats[operand]
        fits = result.is_integer and abs(known) < 1 << (result.bits - 1) and (known > -1 or result.is_signed)
        return int(known) if fits else None

    def _folded(self, kind: str, operands: Sequence[Value], result: Type) -> int | bool | None:
        """Returns what an operation on constants is; None where it has to be computed."""
        numbers = [self._constants.get(operand) for operand in operands]
        if None in numbers or not isinstance(result, Scalar) or result.is_float:
            return None
        if kind in ("div", "rem") and numbers[1] == 0:
            return None
        given = [np.array(n, numpy_type(o.type)) for n, o in zip(numbers, operands, strict=True)]
        with np.errstate(all="ignore"):
            found = integers.apply(kind, result, *given)
        return bool(found) if result is Scalar.BOOL else int(found)


def _rounded(value: float, type_: Scalar) -> float:
    """Returns the number of `type_` next to `value`: a `float` has no more digits where it becomes a `double`."""
    return float(Concrete().number(value, type_).item())
