"""Finds bounds of indices that the source does not state: symbols in a probe, sizes once extents show which."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations

from porter.contract.analysis.records import symbol
from porter.contract.model.contract import Contract, TensorArg, with_parts
from porter.contract.model.expressions import evaluate, names_in
from porter.contract.model.questions import unknown_bounds
from porter.contract.probe.fit import bound_by
from porter.contract.probe.probed import Probed
from porter.contract.probe.trials import Trials, troubled

_BOUND = "_bound"


def with_bounds_as_symbols(contract: Contract) -> Contract:
    """Returns `contract` with a symbol for every unknown bound."""
    unknown = {t.name for t in unknown_bounds(contract)}
    arguments = with_parts(contract.arguments, lambda t: replace(t, bound=_symbol(t)) if t.name in unknown else t)
    symbols = (*contract.symbols, *(_symbol(t) for t in contract.parts if t.name in unknown))
    return replace(contract, arguments=arguments, symbols=symbols)


def with_bounds(contract: Contract, bounds: Mapping[str, str]) -> Contract:
    """Returns `contract` with the sizes that some of these symbols stand for."""
    arguments = with_parts(contract.arguments, lambda t: replace(t, bound=bounds.get(t.bound, t.bound)))
    return replace(contract, arguments=arguments, symbols=tuple(s for s in contract.symbols if s not in bounds))


def found_bounds(probed: Probed, trials: Trials) -> dict[str, str]:
    """Returns the size that each unknown bound stands for; absent where extents show that it is its own size."""
    found: dict[str, str] = {}
    fits = probed.fits
    sizes = [p.sizes for p in probed.probes]
    unknown = [s for t in unknown_bounds(probed.before) if (s := _symbol(t)) in probed.contract.symbols]
    for bound in unknown:
        if any(f is not None and f.exact and _is_factor(bound, f.text) for f in fits.values()):
            continue
        if all(f is not None and f.exact and bound not in names_in(f.text) for f in fits.values()):
            others = {s: "1" for s in unknown if s != bound} | found
            found |= _largest(with_bounds(probed.contract, others), trials, bound, sizes[0])
            continue
        unexplained = [n for n, f in fits.items() if f is None or not f.exact or bound in names_in(f.text)]
        seen = [probed.extents(name) for name in unexplained]
        choices = [s for s in probed.before.symbols if s not in found.values()]
        fitting = (s for s in choices if any(bound_by(s, bound, extents, sizes) for extents in seen))
        stands_for = next(fitting, choices[-1] if choices else "")
        if stands_for:
            found[bound] = stands_for
    return found


def largest_bounds(contract: Contract, trials: Trials, sizes: Mapping[str, int]) -> dict[str, str]:
    """Returns the largest sizes that unknown bounds may stand for, one after the other.

    `contract` has its bounds as symbols, and a run with these symbols leaves tensors of known extent. Only the first of
    the other bounds is used.
    """
    found: dict[str, str] = {}
    unknown = [_symbol(t) for t in contract.parts if _symbol(t) in contract.symbols]
    for bound in unknown:
        others = {s: "1" for s in unknown if s != bound} | found
        found |= _largest(with_bounds(contract, others), trials, bound, sizes)
    return found if len(found) == len(unknown) else {}


def _largest(contract: Contract, trials: Trials, bound: str, sizes: Mapping[str, int]) -> dict[str, str]:
    """Returns the largest size, or product of a few, that indices may reach without leaving tensors of known extents.

    Sizes are tried from the smallest on, until one leaves them: an index far beyond may lie in another tensor. Where
    nothing limits indices, the result is just the largest size.
    """
    plain = [s for s in contract.symbols if s in sizes and not s.endswith(_BOUND)]
    products = (" * ".join(factors) for count in (1, 2) for factors in combinations(plain, count))
    reached = ""
    for choice in sorted(products, key=lambda text: (evaluate(text, sizes), -text.count("*"))):
        trial = with_bounds(contract, {bound: choice})
        if troubled(trials.probe(trial, {s: n for s, n in sizes.items() if s in trial.symbols})):
            return {bound: reached} if reached else {}
        reached = choice
    return {bound: max(plain, key=lambda s: sizes[s])} if plain else {}


def _symbol(tensor: TensorArg) -> str:
    return symbol(tensor.name) + _BOUND


def _is_factor(bound: str, text: str) -> bool:
    """Returns whether an extent is a plain product with `bound` in it."""
    return bound in names_in(text) and not any(c in text for c in "+-/")
