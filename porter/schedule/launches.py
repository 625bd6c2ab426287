"""Writes launches of kernels: the sizes of their tiles, the number of programs, and their warps.

A schedule is chosen at some sizes. Where kernels are compiled at the call, a tile is no wider than its axis, and each
warp has as many elements as before: a pool in tiles of 256 points took three times as long as `torch.compile` on an
H100 where its rows had 48. Where they are compiled before, launches say which other tiles are worth an instance.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod

from porter.ir.tile.expressions import Axis
from porter.ir.tile.program import Host, Kernel, Launch
from porter.schedule.grids import grid, tiled_grid
from porter.schedule.host_values import HostValues, Names, host
from porter.schedule.kernel_writer import BLOCK, PARTS
from porter.schedule.loops import Loop
from porter.schedule.nests import Nest
from porter.schedule.polynomial import Polynomial
from porter.schedule.schedule import Algorithm, Schedule
from porter.schedule.space import window_axes

_MOST_WARPS = 32
_LEAST_LANES = 32  # of a tile with one axis, which a warp has at least
_MOST_OF_WARP = 1024  # elements of a row that a warp holds, while there may be more warps
_PARTS_OF_WARP = 64  # parts of a row that a warp puts together
_NARROWEST = 16  # points of a row that a tile has at least, where it has several rows


@dataclass(frozen=True, slots=True)
class _Tile:
    """The extents of a tile and its warps, as the host's texts; `rows` is empty where it has one axis."""

    rows: str
    columns: str
    warps: str

    @property
    def blocks(self) -> tuple[tuple[str, Host], ...]:
        own = ((BLOCK[Axis.ROWS], self.rows),) if self.rows else ()
        return tuple((name, Host(text)) for name, text in (*own, (BLOCK[Axis.COLUMNS], self.columns)))

    @property
    def extents(self) -> tuple[str, ...]:
        return (self.rows, self.columns) if self.rows else (self.columns,)


class Launches:
    """Writes launches, with tiles fitted to a call where `is_fitted`; the host computes `sizes`, under `names`."""

    def __init__(self, values: HostValues, names: Names, *, is_fitted: bool) -> None:
        self.sizes: list[tuple[str, Host]] = []
        self._values = values
        self.names = names
        self._is_fitted = is_fitted

    def tiled_loops(self, nest: Nest, schedule: Schedule) -> int:
        """Returns along how many of its last loops a nest without columns is cut into tiles."""
        has_rows = schedule.rows > 1 or self._is_fitted or window_axes(nest) > 0
        return min(len(nest.rows), 2 if has_rows else 1)

    def flat(self, kernel: Kernel, nest: Nest, schedule: Schedule) -> Launch:
        """Returns the launch of a nest without columns: a program for each tile of points."""
        loops = nest.rows[len(nest.rows) - self.tiled_loops(nest, schedule) :]
        if not loops:
            return Launch(kernel.name, tiled_grid((), ()), (), Host(str(schedule.warps)))
        tile = self._of_points(loops, schedule, is_along_window=window_axes(nest) == 1)
        launch, *narrower = (
            Launch(kernel.name, tiled_grid(nest.rows, one.extents), one.blocks, Host(one.warps))
            for one in (tile, *self._narrower(tile))
        )
        return replace(launch, narrower=tuple(narrower))

    def by_row(self, kernel: Kernel, nest: Nest, schedule: Schedule) -> Launch:
        """Returns the launch of a nest with a program for each row, or for each tile of rows."""
        tile = self._of_rows(nest, schedule)
        programs = grid(nest.rows, tile.rows if schedule.rows > 1 else "1")
        return Launch(kernel.name, programs, tile.blocks, Host(tile.warps), row=self._row(kernel, nest, schedule))

    def by_part(self, kernel: Kernel, nest: Nest, schedule: Schedule, parts: int) -> Launch:
        """Returns the launch of a nest whose rows have `parts` programs."""
        tile = self._of_rows(nest, schedule)
        blocks = (*tile.blocks, (PARTS, Host(str(schedule.parts))))
        warps = tile.warps
        if self._is_fitted and BLOCK[Axis.COLUMNS] not in kernel.blocks:  # it puts parts together and stores no columns
            warps = str(min(schedule.warps, max(1, schedule.rows * schedule.parts // _PARTS_OF_WARP)))
        row = self._row(kernel, nest, schedule)
        return Launch(kernel.name, grid(nest.rows, tile.rows or "1", parts), blocks, Host(warps), row=row)

    def _narrower(self, tile: _Tile) -> Iterator[_Tile]:
        """Yields tiles of as many points in more and shorter rows, for kernels that are compiled before."""
        if self._is_fitted or not tile.rows:
            return
        rows, columns = int(tile.rows), int(tile.columns)
        while columns > _NARROWEST:
            rows, columns = 2 * rows, columns // 2
            yield _Tile(str(rows), str(columns), tile.warps)

    def _row(self, kernel: Kernel, nest: Nest, schedule: Schedule) -> Host | None:
        """Returns the length of a row that is gone through in tiles, for kernels that are compiled before."""
        is_tiled = (
            schedule.rows == 1 and schedule.algorithm is not Algorithm.HELD and BLOCK[Axis.COLUMNS] in kernel.blocks
        )
        return Host(host(nest.columns[-1].extent).text) if is_tiled and not self._is_fitted else None

    def _of_points(self, loops: tuple[Loop, ...], schedule: Schedule, *, is_along_window: bool) -> _Tile:
        if not self._is_fitted or len(loops) == 1:
            rows = str(schedule.rows) if len(loops) > 1 else ""
            return _Tile(rows, str(schedule.columns), str(schedule.warps))
        total = schedule.rows * schedule.columns
        if is_along_window:
            columns = self._divided(str(schedule.columns), loops[-1].extent)
        else:
            columns = self._fitted("block_columns", str(schedule.columns), loops[-1].extent, 1)
        most = str(total // int(columns)) if columns.isdecimal() else f"{total} // {columns}"
        rows = self._fitted("block_rows", most, loops[-2].extent, 1)
        return _Tile(rows, columns, self._warps(rows, columns, total // schedule.warps))

    def _of_rows(self, nest: Nest, schedule: Schedule) -> _Tile:
        if schedule.algorithm is Algorithm.HELD:
            return self._of_held(nest, schedule)
        rows, extent = str(schedule.rows) if schedule.rows > 1 else "", nest.columns[-1].extent
        if not self._is_fitted:
            return _Tile(rows, str(schedule.columns), str(schedule.warps))
        if rows:
            rows = self._fitted("block_rows", rows, nest.rows[-1].extent, 1)
        columns = self._fitted("block_columns", str(schedule.columns), extent, 1 if rows else _LEAST_LANES)
        return _Tile(rows, columns, self._warps(rows, columns, schedule.rows * schedule.columns // schedule.warps))

    def _of_held(self, nest: Nest, schedule: Schedule) -> _Tile:
        """Returns the tile of whole rows: several of one axis, or one of up to two axes."""
        *outer, column = (f"pow2ceil(max({host(loop.extent).text}, 1))" for loop in nest.columns)
        rows = str(schedule.rows) if schedule.rows > 1 else "".join(outer)
        if not self._is_fitted:
            return _Tile(rows, column, str(schedule.warps))
        if schedule.rows > 1:
            rows = self._fitted("block_rows", rows, nest.rows[-1].extent, 1)
        elif rows:
            rows = self._named("block_rows", rows)
        columns = self._named("block_columns", column)
        return _Tile(rows, columns, self._warps_of_held(rows, columns, schedule))

    def _warps_of_held(self, rows: str, columns: str, schedule: Schedule) -> str:
        """Returns the warps of rows that may be longer than those that the schedule was chosen for."""
        own = schedule.rows * (1 << (schedule.columns - 1).bit_length()) // schedule.warps
        most = _MOST_WARPS if own <= _MOST_OF_WARP else schedule.warps
        return f"min({most}, {self._warps(rows, columns, min(own, _MOST_OF_WARP))})"

    def _fitted(self, word: str, most: str, extent: Polynomial, least: int) -> str:
        """Returns the extent of a tile along a loop: `most`, or the power of two that holds the whole loop."""
        if extent.constant is not None and most.isdecimal():
            return str(min(int(most), 1 << (max(int(extent.constant), least) - 1).bit_length()))
        return self._named(word, f"min({most}, pow2ceil(max({self._told(extent)}, {least})))")

    def _divided(self, most: str, extent: Polynomial) -> str:
        """Returns the extent of a tile along an axis whose windows are reduced: a sixteenth of it, but at least 128.

        Then a tile has several rows, and few lanes beyond their ends. On an H200 pools of rows of 650 took 0.5 to 0.6
        of the time, of 6,553 0.7 to 0.8. Pools of windows along two axes took 1.3 times as long.
        """
        told = self._told(extent)
        return self._named("block_columns", f"min({most}, pow2ceil(max(cdiv({told}, 16), min({told}, 128), 1)))")

    def _told(self, extent: Polynomial) -> str:
        return host(extent).text if extent.constant is not None else self._values.size(extent)

    def _named(self, word: str, text: str) -> str:
        """Returns the name of a size that the host computes, the same for the same text."""
        known = next((name for name, size in self.sizes if size.text == text), None)
        if known is None:
            known = self.names.fresh(word)
            self.sizes.append((known, Host(text)))
        return known

    def _warps(self, rows: str, columns: str, elements: int) -> str:
        """Returns how many warps a tile has with `elements` for each; all are powers of two."""
        extents = [text for text in (rows, columns) if text]
        fixed = prod(int(text) for text in extents if text.isdecimal())
        common = min(fixed, max(1, elements))
        factors = [str(fixed // common)] if fixed > common else []
        product = " * ".join([*factors, *(text for text in extents if not text.isdecimal())])
        if elements <= common:
            return product or "1"
        return f"max(1, {product} // {elements // common})" if product else "1"
