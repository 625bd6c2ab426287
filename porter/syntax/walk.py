"""Every node of a tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

# What a field of these types holds is no node: two thirds of all that trees of kernels hold.
_PLAIN = frozenset(("str", "int", "bool", "int | None", "str | None", "tuple[str, ...]"))


class _Fields(dict[type, tuple[str, ...] | None]):
    """The fields of each kind of node that may hold nodes, last first; None for what is no node.

    Asked once a kind, for kernels are walked thousands of times.
    """

    def __missing__(self, kind: type) -> tuple[str, ...] | None:
        held = [field.name for field in fields(kind) if field.type not in _PLAIN] if is_dataclass(kind) else None
        self[kind] = None if held is None else tuple(reversed(held))
        return self[kind]


_FIELDS = _Fields()


def walk(node: object) -> Iterator[object]:
    """`node` and every node below it, each before those inside, in the order of the source."""
    waiting = [node]
    while waiting:
        found = waiting.pop()
        if isinstance(found, tuple):
            waiting.extend(reversed(found))
        elif (inside := _FIELDS[type(found)]) is not None:
            yield found
            waiting.extend([getattr(found, name) for name in inside])
