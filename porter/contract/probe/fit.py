"""Finds the expression over symbols that explains the extents seen at several sizes.

The sizes of a probe are different primes, so that an expression hardly ever explains three probes by chance. Candidates
come simplest first: constants, products of symbols, rounded-up products, sums of two products, products of shifted
symbols (`(H - 2) * (W - 2)`), rows that lie further apart than they are wide (`(B - 1) * P + V`), tiles whose edge is a
symbol (`cdiv(M, T) * cdiv(N, T)`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, permutations, product
from math import gcd, prod

import numpy as np

_ROUNDINGS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
_MAX_COEFFICIENT = 1 << 16
_MOST_NUMBERS = 1 << 10  # that lie together for each index, as three of a point do
_MAX_FACTORS = 5
_MAX_STEP = 64
_WARP = 32
_MOST_OF_VECTOR = 16  # numbers, as a matrix has
_MOST_LESS = 2  # elements of the last row: those that what reads its neighbours leaves
_MOST_TIMES = 8  # that the second of two products is taken
_MAX_SLACK = 2.0
_PLACES, _WRAP = 3, 1 << 64


@dataclass(frozen=True, slots=True)
class Fit:
    """`text` explains the extents exactly, or covers them; `multiple_of` is set for a product rounded up to it.

    `apart` is set for rows with a distance of their own: the condition under which they do not overlap (`V <= P`).
    """

    text: str
    exact: bool
    multiple_of: int = 0
    apart: str = ""


@dataclass(frozen=True, slots=True)
class _Term:
    """A product with its value in each probe."""

    text: str
    values: tuple[int, ...]


def fit(extents: Sequence[int], probes: Sequence[Mapping[str, int]]) -> Fit | None:
    """Returns the simplest expression for `extents[k]` at sizes `probes[k]`, else a product that just covers them."""
    return _fitted(tuple(extents), tuple(tuple(p.items()) for p in probes))


@lru_cache(maxsize=1024)
def _fitted(seen: tuple[int, ...], at: tuple[tuple[tuple[str, int], ...], ...]) -> Fit | None:
    """Returns what `fit` does; remembered, since trying several meanings asks for most of it again."""
    if len(set(seen)) == 1:
        return Fit(str(seen[0]), exact=True)
    products, probes = _remembered(at), [dict(sizes) for sizes in at]
    for candidates in (
        _scaled(seen, products),
        _rounded(seen, products),
        _sums(seen, products),
        _shifted(seen, probes),
        _strided(seen, probes),
        _halved(seen, probes),
        _tiled(seen, probes),
    ):
        found = next(candidates, None)
        if found is not None:
            return found
    return _cover(seen, products)


@lru_cache(maxsize=4)
def _remembered(probes: tuple[tuple[tuple[str, int], ...], ...]) -> Sequence[_Term]:
    """Returns the products at the sizes of `probes`, of which each tensor's extents are taken."""
    return tuple(_products([dict(p) for p in probes]))


def bound_by(symbol: str, bound: str, extents: Sequence[int], probes: Sequence[Mapping[str, int]]) -> bool:
    """Returns whether extents seen with indices below `bound` would be a plain product with a bound of `symbol`.

    Every index was `bound - 1`, so an extent grows by some stride for each step of the bound: `(B - 1) * V + bound`
    becomes `B * V` when the bound is `V`, and that of points with three numbers each has three times as many.
    """
    at = tuple(tuple((s, n) for s, n in p.items() if s != bound) for p in probes)
    products = _remembered(at)
    steps = [p[symbol] - p[bound] for p in probes]
    strides = (_Term("1", (1,) * len(probes)), *products)
    moved = [tuple(s * d for s, d in zip(stride.values, steps, strict=True)) for stride in strides]
    reached = [m for m in moved if all(e + one > 0 for e, one in zip(extents, m, strict=True))]
    values = [term.values for term in products]
    return any(_is_difference(extents, v, m) for v, m in _dependent(extents, values, reached))


def _dependent(
    seen: Sequence[int], values: Sequence[tuple[int, ...]], moved: Sequence[tuple[int, ...]]
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yields pairs of `values` and `moved` of which the first three extents may be a sum: their determinant is zero.

    Ten symbols have three thousand products, of whose nine million pairs hardly any is left. Modulo 2 ** 64 it is exact
    enough: whoever asks looks at each pair again.
    """
    if len(seen) < _PLACES:
        yield from product(values, moved)
        return
    taken = np.array([[one % _WRAP for one in v[:_PLACES]] for v in values], np.uint64).reshape(-1, _PLACES)
    e = [one % _WRAP for one in seen]
    for m in moved:
        across = [(m[i] * e[j] - m[j] * e[i]) % _WRAP for i, j in ((1, 2), (2, 0), (0, 1))]
        for place in np.flatnonzero(taken @ np.array(across, np.uint64) == 0):
            yield values[place], m


def _is_difference(seen: Sequence[int], values: Sequence[int], moved: Sequence[int]) -> bool:
    """Returns whether every extent is `k * value - c * moved`, with the same two coefficients for all."""
    determinant = values[0] * moved[1] - values[1] * moved[0]
    if not determinant:
        return False
    k, odd = divmod(seen[0] * moved[1] - seen[1] * moved[0], determinant)
    c, rest = divmod(seen[0] * values[1] - seen[1] * values[0], determinant)
    if odd or rest or not (1 <= k <= _MAX_COEFFICIENT and 1 <= c <= _MOST_NUMBERS):
        return False
    return all(e == k * v - c * m for e, v, m in zip(seen, values, moved, strict=True))


def _products(probes: Sequence[Mapping[str, int]]) -> Iterator[_Term]:
    """Yields products of up to five different symbols, then some with a square, as of attention, or a cube, as of a
    stencil; fewest first.
    """
    symbols = list(probes[0])
    for count in range(1, min(_MAX_FACTORS, len(symbols)) + 1):
        for chosen in combinations(symbols, count):
            yield _Term(" * ".join(chosen), tuple(prod(p[s] for s in chosen) for p in probes))
    for count in range(min(_MAX_FACTORS - 1, len(symbols))):
        for square in symbols:
            for chosen in combinations([s for s in symbols if s != square], count):
                factors = (*chosen, square, square)
                yield _Term(" * ".join(factors), tuple(prod(p[s] for s in factors) for p in probes))
    yield from (_Term(" * ".join((s, s, s)), tuple(p[s] ** 3 for p in probes)) for s in symbols)


def _ratio(seen: Sequence[int], values: Sequence[int]) -> int:
    """Returns `c` when every extent is `c` times the value, else 0."""
    first, rest = divmod(seen[0], values[0]) if values[0] else (0, 1)
    if rest or not 1 <= abs(first) <= _MAX_COEFFICIENT:
        return 0
    return first if all(s == first * v for s, v in zip(seen, values, strict=True)) else 0


def _times(coefficient: int, text: str) -> str:
    if coefficient == 1:
        return text
    return f"{coefficient} * {text}" if " + " not in text and " - " not in text else f"{coefficient} * ({text})"


def _divides(values: Sequence[int], seen: Sequence[int]) -> bool:
    """Returns whether every extent is a multiple of the value, as it is of each factor of its explanation.

    Most factors fail this: asking it first leaves few products to be made.
    """
    return all(s % v == 0 if v else s == 0 for s, v in zip(seen, values, strict=True))


def _scaled(seen: tuple[int, ...], products: Sequence[_Term]) -> Iterator[Fit]:
    for term in products:
        coefficient = _ratio(seen, term.values)
        if coefficient > 0:
            yield Fit(_times(coefficient, term.text), exact=True)


def _rounded(seen: tuple[int, ...], products: Sequence[_Term]) -> Iterator[Fit]:
    for term in products:
        for unit in _ROUNDINGS:
            if seen[0] % -(-term.values[0] // unit):
                continue
            counts = [-(-v // unit) for v in term.values]
            coefficient = _ratio(seen, counts) if len(set(counts)) > 1 else 0
            if coefficient > 0:
                whole = unit if coefficient % unit == 0 else 0
                yield Fit(_times(coefficient, f"cdiv({term.text}, {unit})"), exact=True, multiple_of=whole)


def _sums(seen: tuple[int, ...], products: Sequence[_Term]) -> Iterator[Fit]:
    """Yields `a + c`, `a - c`, `n * a + c`, and `a + c * b`."""
    for term in products:
        rest = {s - v for s, v in zip(seen, term.values, strict=True)}
        if len(rest) == 1:
            (constant,) = rest
            yield Fit(f"{term.text} {'+' if constant > 0 else '-'} {abs(constant)}", exact=True)
    yield from _lines(seen, products)
    places = dict[tuple[int, ...], list[int]]()
    for place, term in enumerate(products):
        places.setdefault(term.values, []).append(place)
    for term in products:
        remaining = tuple(s - v for s, v in zip(seen, term.values, strict=True))
        for place, coefficient in sorted(_multiples(remaining, places)):
            other = products[place].text
            if other != term.text:
                sign = "+" if coefficient > 0 else "-"
                yield Fit(f"{term.text} {sign} {_times(abs(coefficient), other)}", exact=True)


def _multiples(
    remaining: tuple[int, ...], places: Mapping[tuple[int, ...], Sequence[int]]
) -> Iterator[tuple[int, int]]:
    """Yields the places of values of which `remaining` is a multiple, and how many times."""
    for times in range(1, _MOST_TIMES + 1):
        if not any(r % times for r in remaining):
            for coefficient in (times, -times):
                values = tuple(r // coefficient for r in remaining)
                yield from ((place, coefficient) for place in places.get(values, ()))


def _lines(seen: tuple[int, ...], products: Sequence[_Term]) -> Iterator[Fit]:
    """Yields `5 * n - 4`: one element of every five is used; and `64 * n + 1`, blocks of threads that begin behind it.

    Through two points there is always a line.
    """
    for term in products:
        if len(set(term.values)) < 3:
            continue
        slope, rest = divmod(seen[1] - seen[0], (term.values[1] - term.values[0]) or _MAX_COEFFICIENT)
        offset = seen[0] - slope * term.values[0]
        of_blocks = slope % _WARP == 0 and slope <= _MAX_COEFFICIENT
        steps = (1 < slope <= _MAX_STEP or of_blocks) and -slope < offset < (slope if of_blocks else 0)
        if rest == 0 and steps and all(s == slope * v + offset for s, v in zip(seen, term.values, strict=True)):
            yield Fit(f"{slope} * {term.text} {'+' if offset > 0 else '-'} {abs(offset)}", exact=True)


def _shifted(seen: tuple[int, ...], probes: Sequence[Mapping[str, int]]) -> Iterator[Fit]:
    """Yields products in which one or two symbols are shifted by a little or halved."""
    symbols = list(probes[0])
    every = {s: list(_atoms(s, probes)) for s in symbols}
    atoms = {s: [a for a in every[s] if _divides(a.values, seen)] for s in symbols}
    for count in range(1, min(4, len(symbols)) + 1):
        for chosen in combinations(symbols, count):
            for moved in combinations(chosen, min(2, count)):
                yield from _shifted_products(seen, chosen, moved, atoms, probes)
            if count > 2:  # every axis of a volume shrinks alike
                yield from _products_of(seen, (), zip(*(every[s] for s in chosen), strict=True))


def _shifted_products(
    seen: tuple[int, ...],
    chosen: tuple[str, ...],
    moved: tuple[str, ...],
    atoms: Mapping[str, list[_Term]],
    probes: Sequence[Mapping[str, int]],
) -> Iterator[Fit]:
    plain = [_Term(s, tuple(p[s] for p in probes)) for s in chosen if s not in moved]
    pairs = (
        [(a, b) for a in atoms[moved[0]] for b in atoms[moved[1]]]
        if len(moved) > 1
        else [(a,) for a in atoms[moved[0]]]
    )
    yield from _products_of(seen, plain, pairs)


def _products_of(seen: tuple[int, ...], plain: Sequence[_Term], moved: Iterable[tuple[_Term, ...]]) -> Iterator[Fit]:
    for terms in moved if all(_divides(f.values, seen) for f in plain) else ():
        factors = [*plain, *terms]
        values = [prod(column) for column in zip(*(f.values for f in factors), strict=True)]
        coefficient = _ratio(seen, values)
        if 0 < coefficient <= 4:
            yield Fit(_times(coefficient, " * ".join(f.text for f in factors)), exact=True)


def _atoms(symbol: str, probes: Sequence[Mapping[str, int]]) -> Iterator[_Term]:
    values = [p[symbol] for p in probes]
    for shift in (0, 1, -1, 2, -2, 3, -3, 4, -4):
        text = symbol if shift == 0 else f"({symbol} {'+' if shift > 0 else '-'} {abs(shift)})"
        yield _Term(text, tuple(v + shift for v in values))
    yield _Term(f"({symbol} / 2)", tuple(v // 2 for v in values))
    yield _Term(f"cdiv({symbol}, 2)", tuple(-(-v // 2) for v in values))
    yield _Term(f"(({symbol} - 1) / 2)", tuple((v - 1) // 2 for v in values))


def _tiled(seen: tuple[int, ...], probes: Sequence[Mapping[str, int]]) -> Iterator[Fit]:
    """Yields `cdiv(rows, tile) * cdiv(columns, tile)`: one element for each tile, whose edges are symbols."""
    symbols = list(probes[0])
    whole = _factors(symbols, seen, probes)
    for tile in symbols:
        others = [s for s in symbols if s != tile]
        counts = [_Term(f"cdiv({s}, {tile})", tuple(-(-p[s] // p[tile]) for p in probes)) for s in others]
        for tiled in _subsets(others, range(1, 3)):
            chosen = [term for s, term in zip(others, counts, strict=True) if s in tiled]
            if not all(_divides(term.values, seen) for term in chosen):
                continue
            plain = [_Term(s, tuple(p[s] for p in probes)) for s in whole if s != tile and s not in tiled]
            for kept in range(len(plain) + 1):
                for factors in combinations(plain, kept):
                    yield from _products_of(seen, factors, [tuple(chosen)])


def _strided(seen: tuple[int, ...], probes: Sequence[Mapping[str, int]]) -> Iterator[Fit]:
    """Yields `(rows - 1) * stride + width`: rows with a distance of their own.

    The stride is a symbol, the width another one, some of it (the channels of a pixel) or the sum of two, or a little
    less, in equal units: products of symbols, and the numbers of a vector. There may be a few planes of as many rows:
    `(3 * rows - 1) * stride + width`.
    """
    common = gcd(*seen)
    for numbers in range(1, _MOST_OF_VECTOR + 1):
        for found in _rows(tuple(s // numbers for s in seen), probes) if common % numbers == 0 else ():
            yield replace(found, text=_times(numbers, found.text))


def _rows(seen: tuple[int, ...], probes: Sequence[Mapping[str, int]]) -> Iterator[Fit]:
    symbols = list(probes[0])
    whole = _factors(symbols, seen, probes)
    for lead in symbols:
        others = [s for s in symbols if s != lead]
        for unit in _subsets([s for s in whole if s != lead], range(len(others) - 1)):
            free = [s for s in others if s not in unit]
            for rows in _subsets(free, range(1, len(free))):
                for found in _reaching(rows, lead, unit, seen[0], probes[0]):
                    widths = found.widths(seen, probes)
                    yield from _wide(found, widths, [s for s in free if s not in rows], probes) if widths else ()


def _reaching(
    rows: tuple[str, ...], lead: str, unit: tuple[str, ...], seen: int, sizes: Mapping[str, int]
) -> Iterator[_Rows]:
    """Yields one plane of rows, and as many as were seen if rows do not overlap, where they fit the first probe.

    Most do not, and ten sizes make thousands of them.
    """
    width = prod(sizes[s] for s in unit)
    count, distance = prod(sizes[s] for s in rows), sizes[lead] * width
    most = -(-seen // (count * distance))
    for planes in (1, most) if 1 < most <= _MOST_TIMES else (1,):
        last = seen - (planes * count - 1) * distance
        if last > 0 and last % width == 0:
            yield _Rows(rows, lead, unit, planes)


def _wide(
    rows: _Rows, widths: Sequence[int], free: Sequence[str], probes: Sequence[Mapping[str, int]]
) -> Iterator[Fit]:
    """Yields rows of which the last one has these widths: one or two of the `free` symbols, or some of one."""
    first, sizes = widths[0], probes[0]
    for summed in _subsets(free, range(1, 3)):
        less = sum(sizes[s] for s in summed) - first
        if 0 <= less <= _MOST_LESS and all(
            sum(p[s] for s in summed) - w == less for w, p in zip(widths, probes, strict=True)
        ):
            yield rows.fit(" + ".join(summed), less)
    for symbol in free:
        times, rest = divmod(first, sizes[symbol])
        if not rest and 1 < times <= _MOST_OF_VECTOR and _are(widths, times, symbol, probes):
            yield rows.fit(_times(times, symbol))


def _are(widths: Sequence[int], times: int, symbol: str, probes: Sequence[Mapping[str, int]]) -> bool:
    """Returns whether every width is so many times the size `symbol`."""
    return all(w == times * p[symbol] for w, p in zip(widths, probes, strict=True))


def _halved(seen: tuple[int, ...], probes: Sequence[Mapping[str, int]]) -> Iterator[Fit]:
    """Yields `(cdiv(rows, 2) - 1) * stride + 2 * cdiv(width, 2)`: rows of half an image, with a distance of their own.

    The last of them is as wide as the image, or as half of it, or is made of whole pairs.
    """
    for lead, rows, width in permutations(probes[0], 3):
        widths = [_Term(width, tuple(p[width] for p in probes)), *_halves(width, probes)]
        widths += [_Term(_times(2, t.text), tuple(2 * v for v in t.values)) for t in _halves(width, probes)]
        for count in _halves(rows, probes):
            starts = ((n - 1) * p[lead] for n, p in zip(count.values, probes, strict=True))
            last = tuple(s - start for s, start in zip(seen, starts, strict=True))
            for reached in widths:
                if last == reached.values:
                    text = f"({count.text} - 1) * {lead} + {reached.text}"
                    yield Fit(text, exact=True, apart=f"{reached.text} <= {lead}")


def _halves(symbol: str, probes: Sequence[Mapping[str, int]]) -> list[_Term]:
    values = [p[symbol] for p in probes]
    whole, part = tuple(v // 2 for v in values), tuple(-(-v // 2) for v in values)
    return [_Term(f"cdiv({symbol}, 2)", part), _Term(f"({symbol} / 2)", whole)]


def _factors(symbols: Sequence[str], seen: Sequence[int], probes: Sequence[Mapping[str, int]]) -> list[str]:
    """Returns the symbols that may be factors of what was seen."""
    return [s for s in symbols if _divides([p[s] for p in probes], seen)]


def _subsets(symbols: Sequence[str], sizes: range) -> Iterator[tuple[str, ...]]:
    return (chosen for size in sizes for chosen in combinations(symbols, size))


@dataclass(frozen=True, slots=True)
class _Rows:
    """`planes` of as many rows as the product of `rows`, each `lead` units after the last; a unit may be a product."""

    rows: tuple[str, ...]
    lead: str
    unit: tuple[str, ...]
    planes: int = 1

    def widths(self, seen: Sequence[int], probes: Sequence[Mapping[str, int]]) -> list[int]:
        """Returns the rest for the last row, in units; empty where that is not a whole number of them."""
        units = [prod(p[s] for s in self.unit) for p in probes]
        counts = [self.planes * prod(p[s] for s in self.rows) for p in probes]
        starts = [(n - 1) * p[self.lead] * u for n, p, u in zip(counts, probes, units, strict=True)]
        last = [s - start for s, start in zip(seen, starts, strict=True)]
        whole = all(n > 0 and n % u == 0 for n, u in zip(last, units, strict=True))
        return [n // u for n, u in zip(last, units, strict=True)] if whole else []

    def fit(self, width: str, less: int = 0) -> Fit:
        """Fits rows of `width`, where the last units of the last row are not reached: the part left of them is read."""
        reached = f"{width} - {less}" if less else width
        last = " * ".join((f"({reached})" if self.unit else reached, *self.unit))
        text = f"({_times(self.planes, ' * '.join(self.rows))} - 1) * {' * '.join((self.lead, *self.unit))} + {last}"
        return Fit(text, exact=True, apart=f"{width} <= {self.lead}")


def _cover(seen: tuple[int, ...], products: Sequence[_Term]) -> Fit | None:
    """Returns the tightest product above every extent, if each extent fills at least half of it."""
    slack = [
        (max(v / s for s, v in zip(seen, t.values, strict=True)), t)
        for t in products
        if all(v >= s > 0 for s, v in zip(seen, t.values, strict=True))
    ]
    if not slack:
        return None
    ratio, term = min(slack, key=lambda pair: pair[0])
    return Fit(term.text, exact=False) if ratio <= _MAX_SLACK else None
