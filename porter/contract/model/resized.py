"""Changes a contract: an expression wherever it has a size."""

from __future__ import annotations

import re
from dataclasses import replace

from porter.contract.model.contract import Contract, ScalarArg, TensorArg
from porter.contract.model.expressions import names_in


def multiplied(contract: Contract, size: str, factors: tuple[str, ...]) -> Contract:
    """Returns `contract` with `size` times `factors` wherever it had `size`."""
    return with_size(contract, size, " * ".join((size, *factors)))


def with_size(contract: Contract, size: str, text: str) -> Contract:
    """Returns `contract` with the expression `text` wherever it had `size`."""
    name, inner = re.compile(rf"\b{re.escape(size)}\b"), text if text.isidentifier() else f"({text})"

    def rewritten(*texts: str) -> tuple[str, ...]:
        return tuple(text if given == size else name.sub(inner, given) for given in texts)

    def argument(given: ScalarArg | TensorArg) -> ScalarArg | TensorArg:
        if isinstance(given, ScalarArg):
            return replace(given, value=rewritten(given.value)[0])
        fields = tuple(replace(field, bound=rewritten(field.bound)[0]) for field in given.fields)
        return replace(given, shape=rewritten(*given.shape), bound=rewritten(given.bound)[0], fields=fields)

    launch = contract.entry.launch
    if launch is not None:
        x, y, z = rewritten(*launch.grid)
        launch = replace(launch, grid=(x, y, z), shared_bytes=rewritten(launch.shared_bytes)[0])
    return replace(
        contract,
        arguments=tuple(argument(a) for a in contract.arguments),
        symbols=tuple(s for s in contract.symbols if s != size or s in names_in(text)),
        conditions=rewritten(*contract.conditions),
        branches=rewritten(*contract.branches),
        shares=rewritten(*contract.shares),
        entry=replace(contract.entry, launch=launch),
    )
