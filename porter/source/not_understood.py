"""Finds what the grammar could not read, as far as it touches code that matters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tree_sitter import Node

from porter.source.functions import Defined
from porter.source.lexer import TokenKind
from porter.source.program import NotUnderstood
from porter.source.reading import Reading
from porter.source.syntax import ask

_LONGEST = 60


def error_extents(reading: Reading) -> list[tuple[int, int, str]]:
    """Start, end and reason of everything the grammar stumbled over, in the text it read."""
    if not reading.tree.root_node.has_error:
        return []
    return [
        _extent(reading, kind, nodes[0]) for c in ask("errors", reading.tree.root_node) for kind, nodes in c.items()
    ]


def _extent(reading: Reading, kind: str, node: Node) -> tuple[int, int, str]:
    if kind == "missing":
        return node.start_byte, node.start_byte + 1, f"expected {node.type!r}"
    shown = " ".join(reading.text[node.start_byte : node.end_byte].split())
    shown = shown if len(shown) <= _LONGEST else shown[: _LONGEST - 3] + "..."
    return node.start_byte, max(node.end_byte, node.start_byte + 1), f"cannot read {shown!r}"


def not_understood(reading: Reading, functions: Sequence[Defined]) -> Iterator[NotUnderstood]:
    """The errors within a kernel or a function that launches one, and kernels that only their brackets gave away."""
    launching = [t.start for t in reading.words if t.kind is TokenKind.LAUNCH_OPEN]
    matter = [d for d in functions if d.function.space == "global" or any(d.body <= at < d.end for at in launching)]
    for start, end, reason in error_extents(reading):
        if any(start < d.end and end > d.start for d in matter):
            yield NotUnderstood(reason, reading.span(start, end))
    for defined in matter:
        if not defined.whole:
            yield NotUnderstood(
                f"the code around {defined.function.name!r} is not a C++ definition",
                reading.span(defined.start, defined.body),
            )
