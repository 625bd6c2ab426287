"""Long lines broken as `black` breaks them at 100 columns."""

from __future__ import annotations

from collections.abc import Sequence

WIDTH = 100


def bracketed(head: str, items: Sequence[str], tail: str, indent: str) -> str:
    """`head` + `items` in round brackets + `tail`: on one line, with the items on a line, or with a line for each."""
    whole = f"{indent}{head}({', '.join(items)}){tail}"
    if len(whole) <= WIDTH or not items:
        return whole
    inner = f"{indent}    {', '.join(items)}"
    if len(inner) <= WIDTH and "*" not in items:
        return f"{indent}{head}(\n{inner}\n{indent}){tail}"
    lines = "".join(f"{indent}    {item},\n" for item in items)
    return f"{indent}{head}(\n{lines}{indent}){tail}"
