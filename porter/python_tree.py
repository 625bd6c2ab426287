"""The syntax trees of Python text, read by one thread at a time."""

from __future__ import annotations

import ast
import threading

# CPython 3.11 counts the depth of the tree that it builds once for all threads. A thread that comes in between, while
# the collector runs what a dead object left behind, throws the count off, and the first one ends with a SystemError
# (https://github.com/python/cpython/issues/106905). A thread that comes back to itself may go on.
_READING = threading.RLock()


def module_tree(text: str | bytes, filename: str = "<unknown>") -> ast.Module:
    """Returns the tree of a module. Raises what `ast.parse` raises: `SyntaxError`, `ValueError`, `RecursionError`."""
    with _READING:
        return ast.parse(text, filename)  # noqa: TID251 - the place that the others are sent to


def expression_tree(text: str) -> ast.expr:
    """Returns the tree of one expression. Raises what `ast.parse` raises."""
    with _READING:
        return ast.parse(text, mode="eval").body  # noqa: TID251
