"""Bounds of indices that the source does not state: symbols of their own in a probe, sizes once extents show which."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from porter.contract.contract import Contract, TensorArg
from porter.contract.expressions import names_in
from porter.contract.fit import bound_by
from porter.contract.probed import Probed
from porter.contract.questions import unknown_bounds
from porter.contract.trials import Trials, troubled


def with_bounds_as_symbols(contract: Contract) -> Contract:
    """`contract` with a symbol for every unknown bound."""
    unknown = {t.name for t in unknown_bounds(contract)}
    arguments = tuple(
        replace(a, bound=_symbol(a)) if isinstance(a, TensorArg) and a.name in unknown else a
        for a in contract.arguments
    )
    symbols = (*contract.symbols, *(_symbol(t) for t in contract.tensors if t.name in unknown))
    return replace(contract, arguments=arguments, symbols=symbols)


def with_bounds(contract: Contract, bounds: Mapping[str, str]) -> Contract:
    """`contract` with the sizes that some of these symbols stand for."""
    arguments = tuple(
        replace(a, bound=bounds.get(a.bound, a.bound)) if isinstance(a, TensorArg) else a for a in contract.arguments
    )
    return replace(contract, arguments=arguments, symbols=tuple(s for s in contract.symbols if s not in bounds))


def found_bounds(probed: Probed, trials: Trials) -> dict[str, str]:
    """Which size each unknown bound stands for; absent for one that the extents show to be a size of its own."""
    found: dict[str, str] = {}
    fits = probed.fits
    sizes = [p.sizes for p in probed.probes]
    for tensor in unknown_bounds(probed.before):
        symbol = _symbol(tensor)
        if any(f is not None and f.exact and _is_factor(symbol, f.text) for f in fits.values()):
            continue
        if all(f is not None and f.exact and symbol not in names_in(f.text) for f in fits.values()):
            found |= _largest(probed, trials, symbol)
            continue
        unexplained = [n for n, f in fits.items() if f is None or not f.exact or symbol in names_in(f.text)]
        seen = [probed.extents(name) for name in unexplained]
        choices = [s for s in probed.before.symbols if s not in found.values()]
        fitting = (s for s in choices if any(bound_by(s, symbol, extents, sizes) for extents in seen))
        stands_for = next(fitting, choices[-1] if choices else "")
        if stands_for:
            found[symbol] = stands_for
    return found


def _largest(probed: Probed, trials: Trials, symbol: str) -> dict[str, str]:
    """The largest size that indices may reach without leaving tensors whose extents are known."""
    sizes = probed.probes[0].sizes
    for choice in sorted(probed.before.symbols, key=lambda s: -sizes[s]):
        trial = with_bounds(probed.contract, {symbol: choice})
        if not troubled(trials.probe(trial, {s: n for s, n in sizes.items() if s != symbol})):
            return {symbol: choice}
    return {}


def _symbol(tensor: TensorArg) -> str:
    return f"{tensor.name}_bound"


def _is_factor(symbol: str, text: str) -> bool:
    """Whether an extent is a plain product with `symbol` in it."""
    return symbol in names_in(text) and not any(c in text for c in "+-/")
