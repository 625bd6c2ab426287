"""Null pointers behind conditions that a run decides as well: Triton compiles what these keep from being reached."""

from __future__ import annotations

import re

from porter_triton.lower.context import Context
from porter_triton.lower.emit import Branch, Line, Suite
from porter_triton.lower.types import Arithmetic
from porter_triton.lower.values import Scalar

_QUESTION = re.compile(r"\b(\w+) is (?:not )?None\b")
_WORDS = frozenset({"not", "True", "False"})


def note(cx: Context, condition: Scalar) -> None:
    """Remember of which pointers `condition` asks whether they are null, if that is not all it asks."""
    rest = re.findall(r"[A-Za-z_]\w*", _QUESTION.sub("", condition.text))
    if not _WORDS.issuperset(rest):
        cx.decisions.absent |= set(_QUESTION.findall(condition.text))


def loaded(cx: Context, load: Scalar, bases: frozenset[str]) -> Scalar | None:
    """Returns what `load` gives where there is something to load from, else zeros; None where nothing need be asked."""
    absent = sorted(bases & cx.decisions.absent)
    if not absent:
        return None
    assert isinstance(load.type, Arithmetic)
    name = cx.names.temporary("value")
    zeros = f"tl.zeros([{cx.block}], {load.type.triton})" if load.varying else f"tl.cast(0, {load.type.triton})"
    there = " and ".join(f"{base} is not None" for base in absent)
    nowhere = " or ".join(f"{base} is None" for base in absent)
    yes, no = Suite([Line(load.text, name, loads=True)]), Suite([Line(zeros, name)])
    cx.suite.nodes.append(Branch(there, nowhere, yes, no))
    return Scalar(name, load.type, load.varying)
