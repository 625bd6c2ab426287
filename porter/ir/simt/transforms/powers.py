"""Powers with a small whole exponent as products, within two units of the last place as CUDA's own are."""

from __future__ import annotations

from porter.ir.simt.ops import Function, Op, Value, walk
from porter.ir.simt.transforms.folding import constant
from porter.ir.simt.transforms.rewriting import Replacement, rewritten
from porter.ir.simt.types import Scalar

_FACTORS = {1: (), 2: (1, 1), 3: (2, 1), 4: (2, 2)}  # beyond, the error of products exceeds that of a logarithm


def with_products_for_powers(function: Function) -> Function:
    """Returns `function` with `x * x` for `pow(x, 2)`, with exponents of 1 to 4, and `1 / x` for one of -1."""
    exponents = {op.result: op.attribute("value") for op in walk(function.body) if op.kind == "constant"}

    def rule(op: Op) -> Replacement | None:
        exponent = exponents.get(op.operands[1]) if op.kind == "pow" else None
        if exponent == -1:
            return _inverse(op)
        return _product(op, int(exponent)) if exponent in _FACTORS else None

    return rewritten(function, rule)


def _inverse(op: Op) -> Replacement:
    type_ = op.result.type
    assert isinstance(type_, Scalar)
    one = constant(type_, 1.0)
    return Replacement((one, Op("div", (one.result, op.operands[0]), op.results, (), (), op.location)), op.results)


def _product(op: Op, exponent: int) -> Replacement:
    base = op.operands[0]
    ops: list[Op] = []
    powers = {1: base}
    for number in (2, exponent) if exponent > 2 else (exponent,):
        if _FACTORS[number]:
            factors = tuple(powers[factor] for factor in _FACTORS[number])
            ops.append(Op("mul", factors, (Value(base.type, op.result.name),), (), (), op.location))
            powers[number] = ops[-1].result
    return Replacement(tuple(ops), (powers[exponent],))
