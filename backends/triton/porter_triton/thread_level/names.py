"""Chooses names of the output: the source's own, unless two things of different type share one."""

from __future__ import annotations

import builtins
import keyword

_OPTIONS = ("grid", "warmup", "num_warps", "num_stages", "num_ctas", "maxnreg")  # what a launch takes by name
_RESERVED = frozenset(keyword.kwlist) | frozenset(dir(builtins)) | {"tl", "triton", "torch", *_OPTIONS}


class Names:
    """Hands out identifiers. A name is free again when its scope ends, but only for a value of the same type."""

    def __init__(self, taken: frozenset[str]) -> None:
        self._kinds: dict[str, object] = {}
        self._open: set[str] = set(taken)
        self._scopes: list[list[str]] = [[]]

    def declare(self, wanted: str, kind: object) -> str:
        """Returns a name for a variable called `wanted` whose type and shape are `kind`.

        Names that begin with two underscores are Python's own: no kernel may use them.
        """
        wanted = (wanted.lstrip("_") or wanted) if wanted.startswith("__") else wanted
        stem = f"{wanted}_" if wanted in _RESERVED else wanted
        name, number = stem, 1
        while name in self._open or self._kinds.get(name, kind) != kind:
            number += 1
            name = f"{wanted}_{number}"  # never a keyword of Python, because of the number
        self._open.add(name)
        self._kinds[name] = kind
        self._scopes[-1].append(name)
        return name

    def reserve(self, wanted: str, kind: object) -> str:
        """Returns a name that stays taken to the end."""
        name = self.declare(wanted, kind)
        self._scopes[-1].remove(name)
        return name

    def knows(self, name: str) -> bool:
        """Returns whether something is or was called so."""
        return name in self._open or name in self._kinds

    def enter(self) -> None:
        """Begins a scope."""
        self._scopes.append([])

    def leave(self) -> None:
        """Ends the innermost scope."""
        self._open.difference_update(self._scopes.pop())
