"""Every node of a tree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import Field


def walk(node: object) -> Iterator[object]:
    """`node` and every node below it, each before those inside, in the order of the source."""
    waiting = [node]
    while waiting:
        found = waiting.pop()
        if isinstance(found, tuple):
            waiting.extend(reversed(found))
            continue
        # `dataclasses.fields` makes a tuple of them at each call, and kernels are walked thousands of times.
        fields: dict[str, Field[object]] = getattr(type(found), "__dataclass_fields__", {})
        if fields:
            yield found
            waiting.extend(getattr(found, name) for name in reversed(fields))
