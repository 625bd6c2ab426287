"""Finds the sizes at which all rows of a kernel's tensors begin at a pack, so that packs are moved at once."""

from __future__ import annotations

from porter.ir.tile.expressions import Cast, Compute, Literal, Name, Value
from porter.ir.tile.program import Kernel, Loop
from porter_maca.tiles.expressions import pointer_parts

PACK = 16  # bytes that a thread moves at once
_TILES = ("BLOCK_ROWS", "BLOCK_COLUMNS")  # constants that are multiples of the elements of a pack


class Alignment:
    """Collects what a call needs: `sizes` that are multiples of a pack's elements, `tensors` that begin with one."""

    def __init__(self, kernel: Kernel) -> None:
        self.sizes: dict[str, None] = {}
        self.tensors: dict[str, None] = {}
        self._pointers = {f"{name}_ptr": name for name in kernel.tensors}
        self._sizes = frozenset(kernel.sizes)
        self._values: dict[str, tuple[Value, ...]] = {}  # of what names are, which are multiples if all of these are

    def known(self, name: str, value: Value) -> None:
        """Takes in what a name is."""
        self._values[name] = (*self._values.get(name, ()), value)

    def steps_by(self, loop: Loop) -> None:
        """Takes in the variable of a loop."""
        self._values[loop.name] = (loop.start, loop.step)

    def allows(self, pointer: Value) -> bool:
        """Returns whether sizes can show that a pointer begins a pack; then calls have to have these sizes."""
        base, offsets = pointer_parts(pointer)
        assert isinstance(base, Name)
        tensor = self._pointers.get(base.name)
        found = [self._needed(one, frozenset()) for one in offsets]
        if tensor is None:
            (row,) = self._values[base.name]
            if not self.allows(row):
                return False
        else:
            self.tensors[tensor] = None
        for sizes in found:
            if sizes is None:
                return False
            self.sizes |= dict.fromkeys(sizes)
        return True

    def _needed(self, value: Value, within: frozenset[str]) -> tuple[str, ...] | None:
        """Returns the sizes that have to be multiples for a value to be one; None where no size decides it."""
        match value:
            case Literal(number):
                return () if number % PACK == 0 else None
            case Name(name) if name in self._sizes:
                return (name,)
            case Name(name) if name in _TILES:
                return ()
            case Name(name) if name in self._values and name not in within:
                return self._all(self._values[name], within | {name})
            case Cast(inner):
                return self._needed(inner, within)
            case Compute("add" | "subtract" | "modulo", operands):
                return self._all(operands, within)
            case Compute("multiply", operands):
                return self._one_of(operands, within)
        return None

    def _all(self, values: tuple[Value, ...], within: frozenset[str]) -> tuple[str, ...] | None:
        found = [self._needed(one, within) for one in values]
        return None if None in found else tuple(name for one in found if one for name in one)

    def _one_of(self, factors: tuple[Value, ...], within: frozenset[str]) -> tuple[str, ...] | None:
        found = [needed for one in factors if (needed := self._needed(one, within)) is not None]
        return min(found, key=len, default=None)
