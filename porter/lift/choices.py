"""Computes extremes, selections and arg-reductions of normal forms.

A chain of `value > best ? value : best` is one set, and a chain that carries an index along is one set of pairs of keys
and payloads. Neither shows which comparison the source wrote, or in which order. In a set NaN does not count, as in
`fmaxf`; a bounded value that keeps NaN, `x < 0 ? 0 : x`, stays a selection.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from porter.lift.arithmetic import absolute, add, exponential, is_never_negative, multiply
from porter.lift.forms import (
    ARGUMENT,
    MAXIMUM,
    MINIMUM,
    Argument,
    Extreme,
    Form,
    Forms,
    Number,
    Operation,
    Product,
    Sum,
)

_Pairs = tuple[tuple[Form, Form], ...]


def extreme(forms: Forms, kind: str, parts: Sequence[Form]) -> Form:
    """Returns the largest (`MAXIMUM`) or smallest (`MINIMUM`) of forms."""
    items: set[Form] = set()
    for part in parts:
        items |= _items(forms, kind, part)
    numbers = {item for item in items if forms.value(item) is not None}
    if len(numbers) > 1:
        best = max(numbers, key=lambda item: _sign(kind) * _value(forms, item))
        items = items - numbers | {best}
    zero = forms.number(0)
    if kind == MAXIMUM and zero in items and _makes_nothing_of_zero(forms, items - {zero}):
        items.discard(zero)
    one = forms.number(1)
    if kind == MINIMUM and one in items and any(i != one and _is_truth(forms, i) for i in items):
        items.discard(one)
    return items.pop() if len(items) == 1 else forms.put(Extreme(kind, tuple(sorted(items))))


def _makes_nothing_of_zero(forms: Forms, others: set[Form]) -> bool:
    """Returns whether the largest of `others` and 0 is that of `others`: one is not negative, and not all are NaN.

    A single one may be NaN, as a variance of infinite numbers is, and then 0 is the largest.
    """
    may_be_nan = len(others) == 1 and not _is_truth(forms, *others)
    return not may_be_nan and any(is_never_negative(forms, other) for other in others)


def _items(forms: Forms, kind: str, part: Form) -> set[Form]:
    """Returns the items whose extreme `part` is: itself alone where it is no extreme of that kind."""
    match forms[part]:
        case Extreme(own, items) if own == kind:
            return set(items)
        case Operation("select", (condition, number, value)) if condition == _beyond(forms, kind, value, number):
            return {number, value}
    return {part}


def _beyond(forms: Forms, kind: str, value: Form, number: Form) -> Form:
    """Returns whether `number` is more extreme than `value`."""
    return forms.operation("less", *((value, number) if kind == MAXIMUM else (number, value)))


def _bounded(forms: Forms, kind: str, bound: Form, value: Form) -> Form:
    """Returns `bound` where that is the more extreme one, else `value`, also where one is NaN.

    A value that a number bounds stays NaN. Where both may be NaN the source takes a certain one; the returned form then
    takes neither.
    """
    if forms.value(bound) is None or forms.value(value) is not None:
        return extreme(forms, kind, (bound, value))
    return forms.operation("select", _beyond(forms, kind, value, bound), bound, value)


def select(forms: Forms, condition: Form, then: Form, otherwise: Form) -> Form:
    """Returns `then` where `condition` holds, else `otherwise`."""
    decided = forms.value(condition)
    if decided is not None:
        return then if decided else otherwise
    if then == otherwise:
        return then
    key = forms[condition]
    match key:
        case Operation("not", (inner,)):
            return select(forms, inner, otherwise, then)
        case Operation("less", (small, large)):
            found = _selected_by_order(forms, small, large, then, otherwise)
        case Operation("or", (one, other)):
            found = _selected_with_ties(forms, (one, other), then, otherwise)
        case Operation("equal", (one, other)):
            found = _selected_by_equality(forms, one, other, then, otherwise)
        case Operation("and", parts) if any(_is_equality_of(forms, part, {then, otherwise}) for part in parts):
            found = otherwise
        case _:
            found = None
    return _selected(forms, condition, then, otherwise) if found is None else found


def _selected(forms: Forms, condition: Form, then: Form, otherwise: Form) -> Form:
    """Returns a selection between values that are not the compared ones: terms of both cases are added outside it.

    So a sum of the elements that meet a condition is a sum of selections.
    """
    if (forms.value(then), forms.value(otherwise)) == (1, 0) and _is_truth(forms, condition):
        return condition
    (one, terms), (other, rest) = forms.linear(then), forms.linear(otherwise)
    own = dict(rest)
    shared = {term: weight for term, weight in terms if own.get(term) == weight}
    if not shared or not (own.keys() == shared.keys() or dict(terms).keys() == shared.keys()):
        return forms.operation("select", condition, then, otherwise)
    parts = [add(forms, ((t, w) for t, w in case if t not in shared), c) for c, case in ((one, terms), (other, rest))]
    return add(forms, [(select(forms, condition, *parts), Fraction(1)), *shared.items()])


def _selected_by_order(forms: Forms, small: Form, large: Form, then: Form, otherwise: Form) -> Form | None:
    """Returns the selection where `small < large`."""
    if (then, otherwise) == (large, small):
        return _bounded(forms, MAXIMUM, large, small)
    if (then, otherwise) == (small, large):
        return _bounded(forms, MINIMUM, small, large)
    for kind, best, value in ((MAXIMUM, small, large), (MINIMUM, large, small)):
        kept, taken = _pairs(forms, kind, otherwise, best), _pairs(forms, kind, then, value)
        if kept and taken and _runs_upwards(forms, kept, taken):
            return forms.put(Argument(ARGUMENT, kind, kept + taken))
    inner = forms[otherwise]
    if isinstance(inner, Operation) and inner.kind == "select" and inner.operands[1] == then:
        tie, _, rest = inner.operands
        if _holds_equality(forms, tie, {small, large}):  # v < best, else v == best and its index is smaller
            return _selected_with_ties(forms, (forms.operation("less", small, large), tie), then, rest)
    return None


def _selected_with_ties(forms: Forms, parts: tuple[Form, Form], then: Form, otherwise: Form) -> Form | None:
    """Returns the selection where one value is beyond another, or equal and preferred for its payload."""
    for order, tie in (parts, parts[::-1]):
        key = forms[order]
        if not isinstance(key, Operation) or key.kind != "less":
            continue
        small, large = key.operands
        if not _holds_equality(forms, tie, {small, large}):
            continue
        for kind, best, value in ((MAXIMUM, small, large), (MINIMUM, large, small)):
            if (then, otherwise) == (value, best):
                return _bounded(forms, kind, value, best)
            kept, taken = _pairs(forms, kind, otherwise, best), _pairs(forms, kind, then, value)
            demanded = _besides_equality(forms, tie, {small, large})
            pairs = _joined(forms, (kept, taken), demanded, (then, otherwise))
            if kept and taken and pairs and _runs_upwards(forms, kept, taken):
                return forms.put(Argument(ARGUMENT, kind, pairs))
        if _is_equality_of(forms, tie, {small, large}) and _are_alike(forms, (small, large), then, otherwise):
            return select(forms, order, then, otherwise)
    return None


def _joined(forms: Forms, both: tuple[_Pairs, _Pairs], demanded: Sequence[Form], payloads: tuple[Form, Form]) -> _Pairs:
    """Returns the pairs kept and those taken in the order in which they win a tie.

    None where the conditions `demanded` of a tie, besides equal values, do not say it.
    """
    kept, taken = both
    if not demanded:
        return taken + kept
    then, otherwise = payloads
    for sign, operands in ((1, (then, otherwise)), (-1, (otherwise, then))):

        def place(pair: tuple[Form, Form], sign: int = sign) -> Fraction | float:
            return sign * _value(forms, pair[1])

        is_ordered = all(list(own) == sorted(own, key=place) for own in (kept, taken))
        if list(demanded) == [forms.operation("less", *operands)] and is_ordered:
            return tuple(sorted({*kept, *taken}, key=place))
    return ()


def _besides_equality(forms: Forms, form: Form, values: set[Form]) -> list[Form]:
    """Returns what `form` demands beside the equality of `values`."""
    key = forms[form]
    parts = key.operands if isinstance(key, Operation) and key.kind == "and" else (form,)
    return [part for part in parts if not _is_equality_of(forms, part, values)]


def _selected_by_equality(forms: Forms, one: Form, other: Form, then: Form, otherwise: Form) -> Form | None:
    """Returns the case that is right for equal values too: `otherwise`, which is `then` where the values are equal."""
    if not _are_alike(forms, (one, other), then, otherwise):
        return None
    forms.used.add("a case for equal values is the general one")
    return otherwise


def _are_alike(forms: Forms, values: tuple[Form, Form], then: Form, otherwise: Form) -> bool:
    """Returns whether two cases are the same where `values` are equal."""
    return any(
        substituted(forms, then, old, new) == substituted(forms, otherwise, old, new)
        for old, new in (values, values[::-1])
    )


def _is_equality_of(forms: Forms, form: Form, values: set[Form]) -> bool:
    key = forms[form]
    return isinstance(key, Operation) and key.kind == "equal" and set(key.operands) == values


def _holds_equality(forms: Forms, form: Form, values: set[Form]) -> bool:
    """Returns whether `form` is, or demands, that `values` are equal."""
    key = forms[form]
    parts = key.operands if isinstance(key, Operation) and key.kind == "and" else (form,)
    return any(_is_equality_of(forms, part, values) for part in parts)


def _pairs(forms: Forms, kind: str, payload: Form, best: Form) -> _Pairs:
    """Returns keys and payloads of an arg-reduction whose extreme is `best`; none where `payload` is not its own."""
    key, found = forms[best], forms[payload]
    if isinstance(found, Argument) and found.extreme == kind:
        items = set(key.items) if isinstance(key, Extreme) and key.kind == kind else {best}
        return found.pairs if {own for own, _ in found.pairs} == items else ()
    is_single = not (isinstance(key, Extreme) and key.kind == kind)
    is_pair = is_single and forms.value(best) is None and forms.value(payload) is not None
    return ((best, payload),) if is_pair else ()


def _runs_upwards(forms: Forms, kept: _Pairs, taken: _Pairs) -> bool:
    """Returns whether payloads grow with the places of their keys.

    For two elements an arg-maximum and an arg-minimum are the same graph; this distinguishes them.
    """
    if len(kept) != 1 or len(taken) != 1:
        return True
    if forms.skeleton(kept[0][0]) != forms.skeleton(taken[0][0]):
        return False  # a comparison of two things
    first, second = forms.first_places(kept[0][0]), forms.first_places(taken[0][0])
    return first == second or (first < second) == (_value(forms, kept[0][1]) < _value(forms, taken[0][1]))


def substituted(forms: Forms, form: Form, old: Form, new: Form, done: dict[Form, Form] | None = None) -> Form:
    """Returns `form` with `new` in place of `old`, in normal form."""
    done = {old: new} if done is None else done
    if form not in done:
        done[form] = _rebuilt(forms, form, [substituted(forms, part, old, new, done) for part in forms.operands(form)])
    return done[form]


def _rebuilt(forms: Forms, form: Form, parts: list[Form]) -> Form:
    match forms[form]:
        case Sum(_, constant, terms):
            return add(forms, [(part, weight) for part, (_, weight) in zip(parts, terms, strict=True)], constant)
        case Product(_, factors):
            return multiply(forms, [(part, power) for part, (_, power) in zip(parts, factors, strict=True)])
        case Extreme(kind, _):
            return extreme(forms, kind, parts)
        case Operation(kind, _):
            return operation(forms, kind, parts)
    return form


def operation(forms: Forms, kind: str, operands: Sequence[Form]) -> Form:
    """Returns the normal form of an operation that is no sum, product or extreme."""
    match kind:
        case "exp":
            return exponential(forms, operands[0])
        case "not" if isinstance(inner := forms[operands[0]], Operation) and inner.kind == "not":
            return inner.operands[0]
        case "equal" if (truth := _compared_with_zero(forms, operands)) is not None:
            return operation(forms, "not", [truth])
        case "absolute":
            return absolute(forms, operands[0])
        case "select":
            return select(forms, operands[0], operands[1], operands[2])
        case "less" | "equal" if operands[0] == operands[1]:
            return forms.number(int(kind == "equal"))
        case "equal" | "and" | "or":
            distinct = forms.ordered(set(operands))
            return forms.operation(kind, *distinct) if len(distinct) > 1 else distinct[0]
    return forms.operation(kind, *operands)


def _compared_with_zero(forms: Forms, operands: Sequence[Form]) -> Form | None:
    """Returns the truth value that is compared with 0; None where there is none."""
    for one, other in (operands, operands[::-1]):
        if forms.value(one) == 0 and _is_truth(forms, other):
            return other
    return None


def _is_truth(forms: Forms, form: Form) -> bool:
    """Returns whether a form is 0 or 1 whatever the inputs hold."""
    match forms[form]:
        case Number(_, value):
            return value in (0, 1)
        case Extreme(_, items):
            return all(_is_truth(forms, item) for item in items)
        case Operation("select", (_, then, otherwise)):
            return _is_truth(forms, then) and _is_truth(forms, otherwise)
        case Operation(kind, _):
            return kind in _TRUTHS
    return False


_TRUTHS = frozenset({"less", "equal", "not", "and", "or"})


def _sign(kind: str) -> int:
    return 1 if kind == MAXIMUM else -1


def _value(forms: Forms, form: Form) -> Fraction | float:
    key = forms[form]
    return key.value if isinstance(key, Number) else Fraction(0)
