"""Finds template parameters from arguments, and the most specialised of the patterns that fit them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from porter.source.qualified import unqualified
from porter.syntax.nodes import Expression, Literal, Name, TypeName
from porter_triton.host.c_types import Arithmetic, Array, Pointer, Record

_Thing = TypeVar("_Thing")
Bound = dict[str, object]


def matched(
    pattern: TypeName | Expression, given: object, open_: frozenset[str], bound: Bound, fixed: Callable[..., object]
) -> bool:
    """Returns whether `pattern` is `given` for some values of the parameters `open_`, which are put into `bound`.

    `fixed` says what a pattern without such parameters means. A parameter that is found twice must be the same.
    """
    if isinstance(pattern, TypeName) and pattern.pointers and names_in(pattern) & open_:
        for _ in range(pattern.pointers):
            if not isinstance(given, Pointer):
                return False
            given = given.element
        pattern = TypeName(pattern.name, pattern.arguments)
    name = getattr(pattern, "name", "")
    if isinstance(pattern, TypeName | Name) and name in open_ and not getattr(pattern, "arguments", ()):
        return equal(bound.setdefault(name, given), given)
    if not names_in(pattern) & open_:
        wanted = fixed(pattern)
        return wanted is not None and equal(wanted, given)
    if (
        not isinstance(pattern, TypeName)
        or not isinstance(given, Record)
        or unqualified(given.name) != unqualified(name)
    ):
        return False
    own = [argument for _, argument in given.bindings]
    pairs = zip(pattern.arguments, own, strict=False)
    return len(own) >= len(pattern.arguments) and all(matched(p, a, open_, bound, fixed) for p, a in pairs)


def equal(one: object, other: object) -> bool:
    """Returns whether two template arguments are the same type or number; PyTorch's half is a type of its own."""
    return one == other and owner(other) in ("", owner(one))


def owner(argument: object) -> str:
    """Returns the owner of a type; empty for CUDA's own types, and where nobody said."""
    while isinstance(argument, Pointer | Array):
        argument = argument.element
    return argument.owner if isinstance(argument, Arithmetic) else ""


def names_in(pattern: object) -> frozenset[str]:
    """Returns the names in a template argument as written."""
    if isinstance(pattern, TypeName | Name):
        inner = pattern.arguments if isinstance(pattern, TypeName) else pattern.template
        return frozenset((pattern.name,)).union(*map(names_in, inner))
    if isinstance(pattern, tuple):
        return frozenset[str]().union(*map(names_in, pattern))
    fields = getattr(pattern, "__slots__", ()) if not isinstance(pattern, Literal | str) else ()
    return frozenset[str]().union(*(names_in(getattr(pattern, f)) for f in fields))


@dataclass(frozen=True, slots=True)
class Patterns:
    """The template arguments that a specialisation is for, as written, and its own parameters in them."""

    written: Sequence[object]
    open: frozenset[str]


def most_specialised(candidates: Sequence[tuple[_Thing, Patterns]]) -> _Thing | None:
    """Returns the pattern that all others cover, among those that fit; None if there is none, the first of equals."""
    for one, own in candidates:
        if all(_cover(other, own) for _, other in candidates):
            return one
    return None


def _cover(general: Patterns, special: Patterns) -> bool:
    """Returns whether whatever `special` fits `general` fits, too."""
    bound: dict[str, str] = {}
    pairs = zip(general.written, special.written, strict=False)
    return all(_covered(g, s, general.open, special.open, bound) for g, s in pairs)


def _covered(
    general: object, special: object, open_: frozenset[str], own: frozenset[str], bound: dict[str, str]
) -> bool:
    name, inner = getattr(general, "name", ""), getattr(general, "arguments", ())
    if name in open_ and not inner:
        less = getattr(special, "pointers", 0) - getattr(general, "pointers", 0)
        text = spelled(replace(special, pointers=less)) if isinstance(special, TypeName) else spelled(special)
        return less >= 0 and bound.setdefault(name, text) == text
    if not names_in(general) & open_:  # of two without parameters that fit the same argument each is the other
        return not names_in(special) & own
    if not isinstance(general, TypeName) or not isinstance(special, TypeName):
        return False
    alike = general.pointers == special.pointers and unqualified(name) == unqualified(special.name)
    return alike and all(_covered(g, s, open_, own, bound) for g, s in zip(inner, special.arguments, strict=False))


def spelled(node: object) -> str:
    """Returns a template argument as text without its place."""
    if isinstance(node, TypeName):
        inner = f"<{','.join(map(spelled, node.arguments))}>" if node.arguments else ""
        return f"{unqualified(node.name)}{inner}{'*' * node.pointers}"
    if isinstance(node, Name):
        return unqualified(node.name)
    return str(node.value) if isinstance(node, Literal) else str(node)
