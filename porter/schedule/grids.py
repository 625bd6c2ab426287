"""Computes how many programs a launch has."""

from __future__ import annotations

from collections.abc import Sequence

from porter.ir.tile.program import Host
from porter.schedule.host_values import host
from porter.schedule.loops import Loop
from porter.schedule.polynomial import product


def grid(rows: Sequence[Loop], tile: str, parts: int = 1) -> tuple[Host, ...]:
    """Returns the grid with `parts` programs for each row, or for each `tile` rows of the last loop."""
    if not rows:
        return (Host(str(parts)),)
    *others, last = rows
    text = host(last.extent).text if tile == "1" else f"cdiv({host(last.extent).text}, {tile})"
    if others:
        before = host(product(loop.extent for loop in others)).text
        text = f"{bracketed(before)} * {bracketed(text)}"
    return (Host(f"{bracketed(text)} * {parts}" if parts > 1 else text),)


def tiled_grid(rows: Sequence[Loop], tiles: Sequence[str]) -> tuple[Host, ...]:
    """Returns the grid with a program for each tile: the last loops are cut into tiles of these extents."""
    if not rows:
        return (Host("1"),)
    cut = [f"cdiv({host(r.extent).text}, {t})" for r, t in zip(rows[-len(tiles) :], tiles, strict=True)]
    if others := rows[: -len(tiles)]:
        cut.insert(0, bracketed(host(product(loop.extent for loop in others)).text))
    return (Host(" * ".join(cut)),)


def bracketed(text: str) -> str:
    """Returns an expression as a factor of a product."""
    return text if text.isidentifier() or text.startswith("cdiv(") else f"({text})"
