"""Whether a module leaves what it is judged with as it was: torch, numpy, Triton's interpreter, the watch over it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

_Namespaces = Mapping[str, tuple[object, Mapping[str, object]]]
_Settings = Mapping[str, tuple[Callable[[], object], object]]


class Untouched:
    """What modules and classes hold now, and what `settings` answer.

    Names may be added, which lazy imports do; none may be replaced.
    """

    def __init__(
        self, namespaces: Iterable[object], settings: Mapping[str, Callable[[], object]] | None = None
    ) -> None:
        self._held: _Namespaces = {str(getattr(n, "__name__", n)): (n, dict(vars(n))) for n in namespaces}
        self._settings: _Settings = {name: (ask, ask()) for name, ask in (settings or {}).items()}

    def replaced(self) -> str:
        """The first name that holds something else than it did; empty where none does."""
        for space, (namespace, held) in self._held.items():
            now = vars(namespace)
            if name := next((name for name, value in held.items() if now.get(name) is not value), ""):
                return f"{space}.{name}"
        return next((name for name, (ask, before) in self._settings.items() if ask() != before), "")
