"""Joins sums with a case for each of two values being the larger one.

A merge of two parts of an online softmax may say which part has the larger maximum, and rescale the other one. With M
the larger of a and b that is `A + B exp(b - M)` where M is a, and `B + A exp(a - M)` where it is b. Both are `A exp(a -
M) + B exp(b - M)`.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from porter.lift.arithmetic import add, exponential, multiply
from porter.lift.choices import extreme, substituted
from porter.lift.forms import MAXIMUM, MINIMUM, Extreme, Form, Forms, Operation, Product

_ONE = Fraction(1)
_Selection = tuple[Form, Form, Form]  # a form that is one, and its two cases


def of_the_larger(forms: Forms, form: Form) -> Form:
    """Returns a form without its cases by which of two values is the larger one, where both are one."""
    found: dict[tuple[Form, Form], list[_Selection]] = {}
    for term, _ in forms.linear(form)[1]:
        key = forms[term]
        for factor in [part for part, _ in key.factors] if isinstance(key, Product) else [term]:
            for compared, selections in _cases(forms, factor):
                found.setdefault(compared, []).extend(selections)
    for (small, large), selections in found.items():
        joined = _joined(forms, form, small, large, selections)
        if joined is not None:
            forms.used.add("a case for each of two values is one for the larger")
            form = joined
    return form


def _cases(forms: Forms, factor: Form) -> Iterator[tuple[tuple[Form, Form], list[_Selection]]]:
    """Yields the two values that a factor compares: it selects by them, or is an exponential of the smaller one."""
    match forms[factor]:
        case Operation("select", (condition, then, otherwise)):
            compared = forms[condition]
            if isinstance(compared, Operation) and compared.kind == "less":
                yield (compared.operands[0], compared.operands[1]), [(factor, then, otherwise)]
        case Operation("exp", (exponent,)):
            for term, _ in forms.linear(exponent)[1]:
                least = forms[term]
                if isinstance(least, Extreme) and least.kind == MINIMUM and len(least.items) == 2:
                    yield (least.items[0], least.items[1]), []


def _joined(forms: Forms, form: Form, small: Form, large: Form, selections: list[_Selection]) -> Form | None:
    """Returns what a form is in both cases, `small < large` and not; None where they differ."""
    most, least = (extreme(forms, kind, (small, large)) for kind in (MAXIMUM, MINIMUM))
    told = []
    for number, (larger, smaller) in enumerate(((large, small), (small, large)), start=1):
        known = {selection[0]: selection[number] for selection in selections}
        case = substituted(forms, form, most, larger, {**known, most: larger, least: smaller})
        scale = exponential(forms, add(forms, [(larger, _ONE), (most, -_ONE)]))  # 1 in this case
        told.append(multiply(forms, [(case, _ONE), (scale, _ONE)]))
    return told[0] if told[0] == told[1] else None
