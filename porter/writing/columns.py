"""Makes tables: aligned columns, readable on a terminal and in a pipe alike, and Markdown's."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text

Cell = str | Text


def columns(rows: Sequence[Sequence[Cell]], indent: str = "", gap: str = "  ") -> Text:
    """Returns `rows` as lines, every column as wide as its widest cell, without trailing blanks."""
    cells = [[Text(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
    widths = [max(row[i].cell_len for row in cells if i < len(row)) for i in range(max(map(len, cells), default=0))]
    lines = Text()
    for row in cells:
        line = Text(indent)
        for cell, width in zip(row, widths, strict=False):
            line.append_text(cell)
            line.append(" " * (width - cell.cell_len) + gap)
        line.rstrip()
        lines.append_text(line).append("\n")
    return lines


def markdown_table(head: Sequence[str], body: Sequence[Sequence[object]]) -> str:
    """Returns the rows of `body` under `head`, without a last newline."""
    lines: list[Sequence[object]] = [head, ("---",) * len(head), *body]
    return "\n".join(
        "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in row) + " |" for row in lines
    )
