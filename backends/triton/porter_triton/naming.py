"""Gives the functions of the source their names in Python."""

from __future__ import annotations

import builtins
import keyword

from porter.contract.model.contract import Entry, EntryKind
from porter.source.qualified import unqualified

_RESERVED = frozenset((*keyword.kwlist, *dir(builtins), "math", "tl", "torch", "triton"))


def python_name(name: str) -> str:
    """Returns the name without its namespaces, with an underscore appended if it is a keyword or builtin of Python."""
    plain = unqualified(name)
    return f"{plain}_" if plain in _RESERVED else plain


def function_of(entry: Entry) -> str:
    """Returns the module's function that answers for `entry`, its first instance: a kernel has its own launcher."""
    name = python_name(entry.name)
    return f"launch_{name}" if entry.kind is EntryKind.KERNEL else name
