"""Sums of digits in a wider type: a sum that may have wrapped around in 32 bits is another one in 64."""

from __future__ import annotations

from dataclasses import replace

from porter_triton.lower import conversions, intervals
from porter_triton.lower.affine import Affine
from porter_triton.lower.types import INT, UINT, Arithmetic, Pointer
from porter_triton.lower.values import ATOM, PRODUCT, SUM, Scalar, number


def affine(value: Scalar, type_: Arithmetic) -> Affine | None:
    """`value`, converted to `type_`, as a sum of digits and of uniform names of that type."""
    source, found = value.type, intervals.affine_of(value)
    if found is None or isinstance(source, Pointer) or source.bits >= type_.bits or type_.is_float:
        return found
    if value.interval is None and source.kind == "uint" and found.carries:
        return None
    if not found.rest:
        return found
    shared = conversions.convert(uniform(replace(found, offset=0), source), type_)
    return replace(found, rest=((shared.within(ATOM), 1),))


def uniform(found: Affine, type_: Arithmetic) -> Scalar:
    """Returns what all threads share of a sum whose names have the width of `type_`."""
    if not found.rest:
        return number(found.offset)
    products = [text if factor == 1 else f"{_atom(text)} * {factor}" for text, factor in found.rest]
    offset = [str(found.offset)] if found.offset else []
    text = " + ".join([*products, *offset])
    level = SUM if len(products) + len(offset) > 1 else PRODUCT if products[0] != _atom(products[0]) else ATOM
    return Scalar(text, type_, held=INT if type_ is UINT else None, level=level, loose=True)


def _atom(text: str) -> str:
    """A product's or a name's text as an operand."""
    return text if text.isidentifier() or (text.startswith("(") and text.endswith(")")) else f"({text})"
