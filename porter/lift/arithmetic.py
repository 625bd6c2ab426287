"""Computes sums, products and exponentials of normal forms."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from porter.lift.forms import (
    MAXIMUM,
    PRODUCT,
    SUM,
    Extreme,
    Form,
    Forms,
    Number,
    Operation,
    Product,
    Sum,
    Weighted,
)
from porter.lift.nodes import Exact, NotLiftedError
from porter.lift.squares import centred, is_square_of_sum

_ONE = Fraction(1)
_Powers = dict[Form, Fraction]


def add(forms: Forms, parts: Iterable[Weighted], constant: Fraction = Fraction(0)) -> Form:
    """Returns the sum of `constant` and of forms times their weights, flattened."""
    total: dict[Form, Fraction] = {}
    for part, weight in parts:
        own, terms = forms.linear(part)
        is_whole = weight == 1
        constant += own if is_whole else own * weight
        for term, factor in terms:
            more = factor if is_whole else factor * weight
            total[term] = total[term] + more if term in total else more
    return _summed(forms, constant, {term: weight for term, weight in total.items() if weight})


def _summed(forms: Forms, constant: Fraction, terms: dict[Form, Fraction]) -> Form:
    if not terms:
        return forms.number(constant)
    if any(is_square_of_sum(forms, term) for term in terms):
        told = centred(forms, constant, terms)
        if told is not None:
            return told
    if constant == 0 and len(terms) == 1 and next(iter(terms.values())) == 1:
        return next(iter(terms))
    return forms.put(Sum(SUM, constant, tuple(sorted(terms.items()))))


def scaled(forms: Forms, form: Form, weight: Fraction) -> Form:
    """Returns `weight` times a form."""
    return form if weight == 1 else add(forms, [(form, weight)])


def multiply(forms: Forms, parts: Iterable[Weighted], weight: Fraction = _ONE) -> Form:
    """Returns the product of forms to their powers and of `weight`.

    Numbers become the weight, exponentials become one, which goes into sums of exponentials: so the factor by which an
    online softmax corrects its sum cancels.
    """
    powers, exponents, weight = _collected(forms, parts, weight)
    while any(power.denominator == 1 and _can_be_taken_apart(forms, factor) for factor, power in powers.items()):
        powers, more, weight = _collected(forms, powers.items(), weight)  # roots that make a whole power
        exponents += more
    if weight == 0:
        if any(forms.value(factor) == 0 for factor in powers):
            raise NotLiftedError("it divides 0 by 0")
        return forms.number(0)
    if exponents:
        exponent = exponential(forms, add(forms, exponents))
        value = forms.value(exponent)
        if isinstance(value, Fraction):
            weight *= value
        else:
            spread = _distributed(forms, exponent, powers, weight)
            if spread is not None:
                return spread
            powers[exponent] = powers.get(exponent, Fraction(0)) + 1
    return _multiplied(forms, {factor: power for factor, power in powers.items() if power}, weight)


def _can_be_taken_apart(forms: Forms, factor: Form) -> bool:
    key = forms[factor]
    if isinstance(key, Sum):
        return forms.common_weight(factor) != 1
    return isinstance(key, Product) or (isinstance(key, Number) and isinstance(key.value, Fraction) and key.value != 0)


def _collected(forms: Forms, parts: Iterable[Weighted], weight: Fraction) -> tuple[_Powers, list[Weighted], Fraction]:
    """Returns the factors with their powers, the exponents of exponentials, and the weight."""
    powers: _Powers = {}
    exponents: list[Weighted] = []
    pending = list(parts)
    while pending:
        form, power = pending.pop()
        key = forms[form]
        whole = power.denominator == 1
        match key:
            case Product(_, factors) if whole:
                pending += [(factor, own * power) for factor, own in factors]
            case Operation("exp", (exponent,)) if whole:
                exponents.append((exponent, power))
            case Number(_, value) if isinstance(value, Fraction) and (root := rational_power(value, power)) is not None:
                weight *= root
            case Sum() if whole and (common := forms.common_weight(form)) != 1:
                weight *= common ** int(power)
                pending.append((add(forms, [(form, 1 / common)]), power))
            case _:
                powers[form] = powers.get(form, Fraction(0)) + power
    return powers, exponents, weight


def _distributed(forms: Forms, exponent: Form, powers: _Powers, weight: Fraction) -> Form | None:
    """Returns an exponential times a sum of exponentials, term by term; None where no factor is such a sum."""
    for factor, power in powers.items():
        key = forms[factor]
        if isinstance(key, Sum) and power == 1 and all(_has_exponential(forms, term) for term, _ in key.terms):
            forms.used.add("exponentials distribute over sums")
            others = [(other, own) for other, own in powers.items() if other != factor] + [(exponent, _ONE)]
            parts = [(multiply(forms, [(term, _ONE), *others]), own * weight) for term, own in key.terms]
            if key.constant:
                parts.append((multiply(forms, others), key.constant * weight))
            return add(forms, parts)
    return None


def _has_exponential(forms: Forms, form: Form) -> bool:
    key = forms[form]
    factors = key.factors if isinstance(key, Product) else ((form, _ONE),)
    return any(forms.kind(factor) == "exp" for factor, _ in factors)


def _multiplied(forms: Forms, powers: _Powers, weight: Fraction) -> Form:
    if not powers:
        return forms.number(weight)
    if len(powers) == 1 and next(iter(powers.values())) == 1:
        return scaled(forms, next(iter(powers)), weight)
    return scaled(forms, forms.put(Product(PRODUCT, tuple(sorted(powers.items())))), weight)


def rational_power(value: Fraction, power: Fraction) -> Fraction | None:
    """Returns `value` to `power`; None where that is not a fraction, or not defined."""
    if value == 0:
        return Fraction(0) if power > 0 else None
    if power.denominator == 1:
        return value ** int(power)
    return value if value == 1 else None  # a size may be a square by chance


def exponential(forms: Forms, exponent: Form) -> Form:
    """Returns e to the power of a form."""
    value = forms.value(exponent)
    if value == 0:
        return forms.number(1)
    if isinstance(value, float):
        return forms.number(0 if value < 0 else value)
    constant, terms = forms.linear(exponent)
    logarithm = forms[terms[0][0]] if constant == 0 and len(terms) == 1 else None
    if isinstance(logarithm, Operation) and logarithm.kind == "log":
        return multiply(forms, [(logarithm.operands[0], terms[0][1])])
    return forms.operation("exp", exponent)


def quotient_of_decimals(value: float) -> Exact:
    """Returns the fraction with a small denominator that a rounded product of constants means, else its decimal.

    `exp2(x * log2(e))` is `exp(x)`: the product of the constants is 1 except for rounding, in float32 up to 1e-7.
    """
    near = Fraction(value).limit_denominator(64)
    return near if abs(float(near) - value) <= 2e-7 * abs(value) else Fraction(repr(value))


def absolute(forms: Forms, form: Form) -> Form:
    """Returns the absolute value, the same for a form and its negative."""
    value = forms.value(form)
    if value is not None:
        return forms.number(max(value, -value))
    if is_never_negative(forms, form):
        return form
    terms = forms.linear(form)[1]
    first = forms.ordered(term for term, _ in terms)[0]
    return forms.operation("absolute", scaled(forms, form, Fraction(1 if dict(terms)[first] > 0 else -1)))


def is_never_negative(forms: Forms, form: Form) -> bool:
    """Returns whether a form is at least 0 whatever the inputs hold, as far as its shape says."""
    match forms[form]:
        case Number(_, value):
            return value >= 0
        case Sum(_, constant, terms):
            return constant >= 0 and all(weight > 0 and is_never_negative(forms, term) for term, weight in terms)
        case Product(_, factors):
            return all(power % 2 == 0 or is_never_negative(forms, factor) for factor, power in factors)
        case Extreme(kind, items):
            return (any if kind == MAXIMUM else all)(is_never_negative(forms, item) for item in items)
        case Operation(kind, _):
            return kind in _NEVER_NEGATIVE
    return False


_NEVER_NEGATIVE = frozenset({"exp", "absolute", "less", "equal", "not", "and", "or", "exp2"})
