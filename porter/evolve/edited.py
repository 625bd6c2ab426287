"""Knobs that are edits of a candidate's text: what backends offer to turn, whoever wrote it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from porter.evolve.candidate import Value
from porter.evolve.space import AS_IS, Knob, Point
from porter.source.edit import Edit, OverlappingEditsError, apply_edits

Edits = Iterable[Edit] | None  # None where the value does not go with the text


@dataclass(frozen=True)
class EditedKnob:
    """`edits` gives what makes the text have a value of the knob other than AS_IS."""

    knob: Knob
    edits: Callable[[Value], Edits]


def edited_knob(name: str, values: tuple[Value, ...], edits: Callable[[Value], Edits]) -> EditedKnob:
    """A knob that at first is not turned."""
    return EditedKnob(Knob(name, (AS_IS, *values), AS_IS), edits)


def by_name(offered: Iterable[EditedKnob]) -> tuple[EditedKnob, ...]:
    """Of knobs with one name, as kernels give that are overloaded, the first: the others are not turned."""
    return tuple({one.knob.name: one for one in reversed(tuple(offered))}.values())[::-1]


def turned(point: Point) -> dict[str, Value]:
    """The knobs of `point` that are turned."""
    return {name: value for name, value in point.items() if value != AS_IS}


def edited(text: str, offered: Iterable[EditedKnob], wanted: dict[str, Value]) -> str | None:
    """`text` with those of the knobs that are `wanted`, in which the others are left.

    None where a value does not go with the text, or two of them not with each other.
    """
    chosen = [one for one in by_name(offered) if one.knob.name in wanted]
    found = [one.edits(wanted.pop(one.knob.name)) for one in chosen]
    if any(edits is None for edits in found):
        return None
    try:
        return apply_edits(text, (edit for edits in found for edit in edits or ()))
    except OverlappingEditsError:
        return None
