"""Defines normal forms of nodes: they do not depend on how a sum, a product or an extreme was spelled.

Each form is made once, and equal forms have equal numbers. A sum is a constant and weighted terms, a product has powers
and no number in it, an extreme is a set; a form's key begins with its kind.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from porter.contract.model.dtype import DType
from porter.lift.nodes import Exact

Form = int
Weighted = tuple[Form, Fraction]
SUM, PRODUCT, MAXIMUM, MINIMUM, ARGUMENT = "sum", "product", "maximum", "minimum", "argument"
NUMBER, READ, GATHER, UNDEFINED = "number", "read", "gather", "undefined"


class Number(NamedTuple):
    """A number; a float is an infinity."""

    kind: str
    value: Exact


class Read(NamedTuple):
    """Element `at` of an input, counted row by row."""

    kind: str
    tensor: str
    at: int


class Gather(NamedTuple):
    """The element of an input whose place is the value of `place`."""

    kind: str
    tensor: str
    place: Form


class Sum(NamedTuple):
    """`constant` plus each term times its weight, which is not 0. Never a single term of weight 1 and constant 0."""

    kind: str
    constant: Fraction
    terms: tuple[Weighted, ...]


class Product(NamedTuple):
    """Each factor to its power, which is not 0. Numbers only appear to powers that are not whole."""

    kind: str
    factors: tuple[Weighted, ...]


class Extreme(NamedTuple):
    """The largest or smallest of at least two."""

    kind: str
    items: tuple[Form, ...]


class Argument(NamedTuple):
    """The payload of the extreme key, in `pairs` of both; among equal keys the first pair's."""

    kind: str
    extreme: str
    pairs: tuple[tuple[Form, Form], ...]


class Operation(NamedTuple):
    """Any other operation."""

    kind: str
    operands: tuple[Form, ...]


Key = Number | Read | Gather | Sum | Product | Extreme | Argument | Operation


@dataclass(frozen=True, slots=True)
class Factor:
    """A form as a linear function: the `weights` of its atoms, and its `values` at random points (`squares.py`)."""

    constant: Fraction
    weights: Mapping[Form, Fraction]
    atoms: frozenset[Form]
    values: tuple[int, ...]


class Forms:
    """The forms of one execution. `precision` is the type in which a sum was added up, if it is a sum."""

    def __init__(self) -> None:
        self._keys: list[Key] = []
        self._found: dict[object, Form] = {}
        self._skeletons: dict[Form, str] = {}
        self._first_places: dict[Form, tuple[tuple[str, int], ...]] = {}
        self._common: dict[Form, Fraction] = {}
        self.factors: dict[Form, Factor] = {}
        self.precision: dict[Form, DType] = {}
        self.used: set[str] = set()  # names of identities that hold of reals, and that a result rests on

    def __getitem__(self, form: Form) -> Key:
        return self._keys[form]

    def put(self, key: Key) -> Form:
        """Returns the number of a form."""
        told = _hashed(key)
        found = self._found.get(told)
        if found is None:
            found = self._found[told] = len(self._keys)
            self._keys.append(key)
        return found

    def common_weight(self, form: Form) -> Fraction:
        """Returns the weight of all terms of a sum without a constant; 1 where they differ, and for other forms."""
        if form not in self._common:
            key = self._keys[form]
            self._common[form] = _common_weight(key) if isinstance(key, Sum) else Fraction(1)
        return self._common[form]

    def number(self, value: Exact | int) -> Form:
        """Returns the form of a number."""
        return self.put(Number(NUMBER, value if isinstance(value, float) else Fraction(value)))

    def operation(self, kind: str, *operands: Form) -> Form:
        """Returns the form of an operation that has no other."""
        return self.put(Operation(kind, operands))

    def kind(self, form: Form) -> str:
        """Returns the kind of a form."""
        return self._keys[form].kind

    def value(self, form: Form) -> Exact | None:
        """Returns the number that the form is; None where it depends on data."""
        key = self._keys[form]
        return key.value if isinstance(key, Number) else None

    def linear(self, form: Form) -> tuple[Fraction, tuple[Weighted, ...]]:
        """Returns the form as a constant and weighted terms."""
        key = self._keys[form]
        if isinstance(key, Sum):
            return key.constant, key.terms
        if isinstance(key, Number) and isinstance(key.value, Fraction):
            return key.value, ()
        return Fraction(0), ((form, Fraction(1)),)

    def operands(self, form: Form) -> tuple[Form, ...]:
        """Returns the forms directly within it."""
        match self._keys[form]:
            case Sum(_, _, parts) | Product(_, parts):
                return tuple(part for part, _ in parts)
            case Extreme(_, items) | Operation(_, items):
                return items
            case Argument(_, _, pairs):
                return tuple(part for pair in pairs for part in pair)
            case Gather(_, _, place):
                return (place,)
        return ()

    def first_places(self, form: Form) -> tuple[tuple[str, int], ...]:
        """Returns the first element of each input that a form reads."""
        stack = [] if form in self._first_places else [form]
        while stack:
            current = stack[-1]
            parts = self.operands(current)
            missing = [part for part in parts if part not in self._first_places]
            if missing:
                stack += missing
                continue
            key = self._keys[current]
            own = [(key.tensor, key.at)] if isinstance(key, Read) else []
            every = sorted({*own, *(place for part in parts for place in self._first_places[part])}, reverse=True)
            self._first_places[current] = tuple(sorted(dict(every).items()))
            stack.pop()
        return self._first_places[form]

    def skeleton(self, form: Form) -> str:
        """Returns a form without places, weights and numbers: equal at all sizes and elements."""
        stack = [] if form in self._skeletons else [form]
        while stack:
            current = stack[-1]
            missing = [part for part in self.operands(current) if part not in self._skeletons]
            if missing:
                stack += missing
            else:
                self._skeletons[current] = _digest(self._bones(current))
                stack.pop()
        return self._skeletons[form]

    def _bones(self, form: Form) -> object:
        of = self._skeletons
        match self._keys[form]:
            case Number(_, value):
                return "number" if isinstance(value, Fraction) else f"number {value}"
            case Read(_, tensor, _):
                return ("read", tensor)
            case Gather(_, tensor, place):
                terms = self.linear(place)[1]
                return ("gather", tensor, of[place] if len(terms) != 1 else self.skeleton(terms[0][0]))
            case Sum(_, _, terms):
                return (SUM, sorted({of[term] for term, _ in terms}))
            case Product(_, factors):
                return (PRODUCT, sorted({(of[factor], power > 0) for factor, power in factors}))
            case Extreme(kind, items):
                return (kind, sorted({of[item] for item in items}))
            case Argument(_, extreme, pairs):
                return (ARGUMENT, extreme, sorted({of[key] for key, _ in pairs}))
            case Operation(kind, operands):
                return (kind, [of[operand] for operand in operands])
        raise AssertionError(form)

    def ordered(self, forms: Iterable[Form]) -> list[Form]:
        """Returns forms in an order that does not depend on when they were made, but among those of one skeleton."""
        return sorted(forms, key=lambda form: (self.skeleton(form), form))


def _hashed(key: Key) -> object:
    """Returns a key for dictionaries. Hashing a fraction inverts it; hashing its two numbers takes a third."""
    match key:
        case Sum(kind, constant, parts):
            return kind, constant.as_integer_ratio(), *[(part, weight.as_integer_ratio()) for part, weight in parts]
        case Product(kind, parts):
            return kind, *[(part, power.as_integer_ratio()) for part, power in parts]
    return key


def _common_weight(key: Sum) -> Fraction:
    first = key.terms[0][1]
    ratio = first.as_integer_ratio()
    is_common = key.constant == 0 and all(weight.as_integer_ratio() == ratio for _, weight in key.terms)
    return first if is_common else Fraction(1)


def _digest(bones: object) -> str:
    return hashlib.blake2b(repr(bones).encode(), digest_size=8).hexdigest()
