"""Every node of a tree."""

from __future__ import annotations

from collections.abc import Iterator


class _Fields(dict[type, tuple[str, ...]]):
    """The fields of each kind of node, last first; asked once a kind, for kernels are walked thousands of times."""

    def __missing__(self, kind: type) -> tuple[str, ...]:
        self[kind] = tuple(reversed(getattr(kind, "__dataclass_fields__", {})))
        return self[kind]


_FIELDS = _Fields()


def walk(node: object) -> Iterator[object]:
    """`node` and every node below it, each before those inside, in the order of the source."""
    waiting = [node]
    while waiting:
        found = waiting.pop()
        if isinstance(found, tuple):
            waiting.extend(reversed(found))
        elif fields := _FIELDS[type(found)]:
            yield found
            waiting.extend([getattr(found, name) for name in fields])
