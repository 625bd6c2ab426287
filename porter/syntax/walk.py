"""Every node of a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace

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


def rebuilt(node: object, change: Callable[[object], object]) -> object:
    """`node` with what `change` makes of every node below it and then of itself; what stays the same is not copied."""
    if isinstance(node, tuple):
        items = tuple(rebuilt(item, change) for item in node)
        return items if any(new is not old for new, old in zip(items, node, strict=True)) else node
    inside = _FIELDS[type(node)]
    if inside is None:
        return node
    old = {name: getattr(node, name) for name in inside}
    new = {name: rebuilt(value, change) for name, value in old.items()}
    changed = {name: value for name, value in new.items() if value is not old[name]}
    return change(replace(node, **changed) if changed else node)  # type: ignore[type-var]
