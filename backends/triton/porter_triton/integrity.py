"""Whether a module leaves what it is judged with as it was: torch, numpy, Triton's interpreter, the watch over it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

_Namespaces = Mapping[str, tuple[object, Mapping[str, object]]]


class Untouched:
    """What modules and classes hold now. Names may be added to them, which lazy imports do; none may be replaced."""

    def __init__(self, namespaces: Iterable[object]) -> None:
        self._held: _Namespaces = {str(getattr(n, "__name__", n)): (n, dict(vars(n))) for n in namespaces}

    def replaced(self) -> str:
        """The first name that holds something else than it did; empty where none does."""
        for space, (namespace, held) in self._held.items():
            now = vars(namespace)
            if name := next((name for name, value in held.items() if now.get(name) is not value), ""):
                return f"{space}.{name}"
        return ""
