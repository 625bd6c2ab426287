"""Offers knobs that are edits of a candidate's text: backends can turn them whoever wrote the text."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from porter.evolve.candidate import Value
from porter.evolve.space import AS_IS, Knob, Point
from porter.source.edit import Edit, OverlappingEditsError, apply_edits

Edits = Iterable[Edit] | None  # None where the value does not go with the text


@dataclass(frozen=True)
class EditedKnob:
    """`edits` returns the edits that give the text a value of the knob other than AS_IS."""

    knob: Knob
    edits: Callable[[Value], Edits]


def edited_knob(name: str, values: tuple[Value, ...], edits: Callable[[Value], Edits]) -> EditedKnob:
    """Returns a knob that at first is not turned."""
    return EditedKnob(Knob(name, (AS_IS, *values), AS_IS), edits)


def by_name(offered: Iterable[EditedKnob]) -> tuple[EditedKnob, ...]:
    """Keeps the first of knobs with one name, as overloaded kernels give: the others are not turned."""
    return tuple({one.knob.name: one for one in reversed(tuple(offered))}.values())[::-1]


def turned(point: Point) -> dict[str, Value]:
    """Returns the knobs of `point` that are turned."""
    return {name: value for name, value in point.items() if value != AS_IS}


def edited(text: str, offered: Iterable[EditedKnob], wanted: dict[str, Value]) -> str | None:
    """Returns `text` with the knobs that are `wanted` turned, and the others left.

    None where a value does not fit the text, or two values do not fit each other.
    """
    chosen = [one for one in by_name(offered) if one.knob.name in wanted]
    found = [one.edits(wanted.pop(one.knob.name)) for one in chosen]
    if any(edits is None for edits in found):
        return None
    try:
        return apply_edits(text, (edit for edits in found for edit in edits or ()))
    except OverlappingEditsError:
        return None
