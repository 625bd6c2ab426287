"""Shares the elements of a tile among the threads of a block."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from porter_maca.tiles.steps import Shape
from porter_maca.tiles.taking_apart import COLUMNS, PARTS, ROWS

_WORDS = {ROWS: "Row", COLUMNS: "Column", PARTS: "Column"}
_EXTENTS = {ROWS: "kRows", COLUMNS: "kColumns", PARTS: "kParts"}


@dataclass(frozen=True, slots=True)
class Side:
    """The lanes of an axis: each of its `threads` has `each` of them, and the caller is number `thread`.

    Those of a fast side are packs of kVector neighbours, one for each thread, then the next for each.
    """

    extent: str
    threads: str
    thread: str
    each: str
    is_fast: bool

    def lane(self, index: str) -> str:
        """Returns the lane of the caller's element number `index`."""
        if self.is_fast:
            return f"tile::lane<{self.threads}, kVector>({self.thread}, {index})"
        return f"{self.thread} + {index} * {self.threads}"


@dataclass(frozen=True, slots=True)
class Threads:
    """The sides of a kernel's tiles. `vector` is the number of neighbours in a pack where rows are aligned."""

    blocks: Shape
    fast: str
    vector: int
    count: int | None  # of threads in a block, None where the host chooses
    extents: dict[str, int]
    names: dict[str, str]  # of the number of a thread among all, and "row_" and "column_" of its row and its column
    is_running: bool  # so that neighbours are one thread's even where they are moved one by one

    @property
    def has_both(self) -> bool:
        """Returns whether tiles have rows and columns."""
        return ROWS in self.blocks and len(self.blocks) > 1

    def side(self, block: str) -> Side:
        """Returns the side of an axis."""
        is_fast = self.vector > 1 and block == self.fast
        if not self.has_both:
            each = "kPartsEach" if block == PARTS else "kEach"
            return Side(_EXTENTS[block], "kThreads", self.names[""], each, is_fast)
        word = _WORDS[block]
        each = "kPartsEach" if block == PARTS else f"k{word}sEach"
        return Side(_EXTENTS[block], f"k{word}Threads", self.names[f"{word.lower()}_"], each, is_fast)

    def may_exceed(self, block: str) -> bool:
        """Returns whether there may be more threads than lanes that no mask tells apart from others."""
        return block == PARTS and (self.has_both or self.count is None or self.extents[PARTS] < self.count)

    def order(self, shape: Shape) -> list[str]:
        """Returns the axes of a tile, those of the fast side last."""
        return sorted(shape, key=lambda block: (block == self.fast, block))

    def lines(self) -> Iterator[str]:
        """Yields the first lines of a kernel: constants, and the caller's place in the block."""
        fixed = [f"{_EXTENTS[block]} = {self.extents[block]}" for block in sorted(self.extents)]
        if self.count is not None:
            fixed.insert(0, f"kThreads = {self.count}")
        if fixed:
            yield f"constexpr int {', '.join(fixed)};"
        if self.blocks:
            yield from self._both() if self.has_both else self._one()
        else:
            yield f"const int {self.names['']} = threadIdx.x;"

    def _one(self) -> Iterator[str]:
        for block in sorted(self.blocks):
            side = self.side(block)
            yield f"constexpr int {side.each} = tile::each({side.extent}, kThreads);"
        if self.vector > 1:
            yield f"constexpr int kVector = {self.vector if self.is_running else 'kPack'};"
        yield f"const int {self.names['']} = threadIdx.x;"

    def _both(self) -> Iterator[str]:
        if self.vector > 1:
            yield "constexpr int kVector = kPack;"
        fast, slow = (ROWS, COLUMNS) if self.fast == ROWS else (COLUMNS, ROWS)
        word, other = _WORDS[fast], _WORDS[slow]
        extent = _EXTENTS[fast if fast in self.blocks else PARTS]
        packs = f"{extent} / kVector" if self.vector > 1 else extent
        yield f"constexpr int k{word}Threads = {packs} < kThreads ? {packs} : kThreads;"
        yield f"constexpr int k{other}Threads = kThreads / k{word}Threads;"
        for block in sorted(self.blocks):
            side = self.side(block)
            yield f"constexpr int {side.each} = tile::each({side.extent}, {side.threads});"
        own, others = (self.names[f"{name.lower()}_"] for name in (word, other))
        yield f"const int {own} = threadIdx.x % k{word}Threads;"
        yield f"const int {others} = threadIdx.x / k{word}Threads;"
