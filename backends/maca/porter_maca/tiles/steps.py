"""Defines the steps of a block: loops over the elements that a thread has, and what threads do together.

Statements of the tile IR over the same tile become one loop. A value of the whole block is computed by each of its
threads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from porter.contract.model.dtype import DType
from porter.ir.tensor.expressions import Combine
from porter.ir.tile.expressions import Value
from porter.ir.tile.program import Loop, Store

Shape = frozenset[str]  # the constants that are the extents of a tile
NO_SHAPE: Shape = frozenset()


@dataclass(frozen=True, slots=True)
class Define:
    """`name` is `value` for the whole block, or for each element of a tile."""

    name: str
    value: Value


@dataclass(frozen=True, slots=True)
class Count:
    """`name` counts the lanes of a tile of `block` that lie inside of what is `left`."""

    name: str
    left: Value
    block: str


@dataclass(frozen=True, slots=True)
class Accumulate:
    """`name`, of this thread alone, takes in `value` of each of its elements."""

    name: str
    combine: Combine
    value: Value


@dataclass(frozen=True, slots=True)
class Extreme:
    """`place` is the first lane of this thread at which `value` is extreme, and `key` the value there."""

    place: str
    key: str
    combine: Combine
    value: Value
    lanes: str


@dataclass(frozen=True, slots=True)
class Packs:
    """A tile whose elements are neighbours in memory: the first lies at `pointer`, and `count` of them are used.

    `condition` is one on the other axis of the tile; where it is false none is used.
    """

    pointer: Value
    count: Value
    condition: Value | None


@dataclass(frozen=True, slots=True)
class LoadPacks:
    """Loads a tile of neighbours into `name`, as numbers of `dtype`."""

    name: str
    packs: Packs
    other: Fraction | float
    dtype: DType
    shape: Shape


@dataclass(frozen=True, slots=True)
class StorePacks:
    """Stores the tile `name` to neighbours."""

    name: str
    packs: Packs
    shape: Shape


@dataclass
class Elements:
    """A loop over a thread's elements of a tile, with loads of neighbours before it and stores of these behind it."""

    shape: Shape
    loads: list[LoadPacks] = field(default_factory=list)
    items: list[Define | Accumulate | Extreme | Store] = field(default_factory=list)
    stores: list[StorePacks] = field(default_factory=list)

    @property
    def has_stored(self) -> bool:
        """Returns whether something is stored in the loop or behind it."""
        return bool(self.stores) or any(isinstance(item, Store) for item in self.items)


@dataclass(frozen=True, slots=True)
class Fold:
    """The threads of the block, or of a row, combine their values of `name`; `shape` is that of a row."""

    name: str
    combine: Combine
    dtype: DType
    shape: Shape


@dataclass(frozen=True, slots=True)
class FoldPlace:
    """The threads of the block, or of a row, find the first extreme of all their elements."""

    place: str
    key: str
    combine: Combine
    shape: Shape


@dataclass(slots=True)
class Run:
    """Each element of the tile `name` becomes the combination of all up to it, or, in reverse, of all from it on.

    The element itself counts, unless the step is exclusive. The combination of all is `total`, where wanted.
    """

    name: str
    combine: Combine
    dtype: DType
    is_reverse: bool
    is_exclusive: bool
    total: str = ""


@dataclass(frozen=True, slots=True)
class Meet:
    """The threads of the block wait for each other: later stores do not overwrite what others still load."""


@dataclass
class Repeat:
    """The steps of a loop."""

    loop: Loop
    body: list[Step]


Step = Define | Count | Elements | Fold | FoldPlace | Run | Store | Meet | Repeat


def all_steps(steps: list[Step]) -> Iterator[Step]:
    """Yields all steps, those of loops behind the loop itself."""
    for step in steps:
        yield step
        if isinstance(step, Repeat):
            yield from all_steps(step.body)
