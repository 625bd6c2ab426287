"""The pointwise operations on torch: integers stay exact, all else is in one precision."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce

import torch

from porter.ir.tensor.values import Fault, Value, at_fault, elementwise, first_fault, numeric

_Function = Callable[..., torch.Tensor]

# Of integers these are integers.
_EXACT: Mapping[str, _Function] = {
    "add": torch.add,
    "multiply": torch.mul,
    "subtract": torch.sub,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "negate": torch.neg,
    "absolute": torch.abs,
    "less": torch.lt,
    "equal": torch.eq,
    "remainder": torch.fmod,
    "quotient": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    "cast": lambda a: a,
}
# Of integers these are fractions.
_FRACTIONAL: Mapping[str, _Function] = {
    "exp": torch.exp,
    "exp2": torch.exp2,
    "log": torch.log,
    "log2": torch.log2,
    "log1p": torch.log1p,
    "expm1": torch.expm1,
    "sqrt": torch.sqrt,
    "rsqrt": torch.rsqrt,
    "sin": torch.sin,
    "cos": torch.cos,
    "tan": torch.tan,
    "tanh": torch.tanh,
    "sinh": torch.sinh,
    "cosh": torch.cosh,
    "asin": torch.asin,
    "acos": torch.acos,
    "atan": torch.atan,
    "atan2": torch.atan2,
    "erf": torch.erf,
    "erfc": torch.erfc,
    "lgamma": torch.lgamma,
    "divide": torch.div,
}
_SINGLE: Mapping[str, _Function] = {"divide_rn": torch.div, "multiply_rn": torch.mul}
_ROUNDING: Mapping[str, _Function] = {"floor": torch.floor, "ceil": torch.ceil, "round": torch.round}
_BY_ZERO = ("remainder", "quotient")  # of integers these have no value where the second operand is 0


def apply(op: str, operands: Sequence[Value], precision: torch.dtype) -> Value:
    """Returns the operation `op` of the operands at each point."""
    match op:
        case "select":
            return _selected(*operands)
        case "and" | "or":
            return _joined(op, *operands)
        case "not":
            return elementwise(torch.logical_not, *operands)
        case "power":
            return elementwise(lambda base, exponent: _power(base, exponent, precision), *operands)
        case "truncate":
            return elementwise(lambda data: numeric(data).to(torch.int64), *operands)
        case _ if op in _ROUNDING:
            return elementwise(lambda data: _ROUNDING[op](data) if data.is_floating_point() else data, *operands)
        case _ if op in _SINGLE:
            return elementwise(lambda *data: _SINGLE[op](*(item.float() for item in data)).to(precision), *operands)
        case _ if op in _FRACTIONAL:
            return elementwise(lambda *data: _FRACTIONAL[op](*(item.to(precision) for item in data)), *operands)
    if op in _BY_ZERO and not any(operand.data.is_floating_point() for operand in operands):
        operands = (operands[0], _not_zero(operands[1]))
    if len(operands) == 1:
        return elementwise(_exact(op), *operands)
    return reduce(lambda *pair: elementwise(_exact(op), *pair), operands)


def _exact(op: str) -> _Function:
    return lambda *data: _EXACT[op](*_alike([numeric(item) for item in data]))


def _alike(items: Sequence[torch.Tensor]) -> Sequence[torch.Tensor]:
    """Returns the tensors in one type: a float where one of them is."""
    floats = [item.dtype for item in items if item.is_floating_point()]
    return [item.to(floats[0]) for item in items] if floats else items


def _not_zero(divisor: Value) -> Value:
    zero = elementwise(lambda data: numeric(data) == 0, Value(divisor.axes, divisor.data))
    safe = elementwise(lambda data: torch.where(data == 0, torch.ones_like(data), data), divisor)
    return at_fault(safe, zero, ZeroDivisionError("an integer is divided by 0"))


def _power(base: torch.Tensor, exponent: torch.Tensor, precision: torch.dtype) -> torch.Tensor:
    base, exponent = numeric(base), numeric(exponent)
    whole = not base.is_floating_point() and not exponent.is_floating_point()
    if whole and bool((exponent >= 0).all()):
        return torch.pow(base, exponent)
    return torch.pow(base.to(precision), exponent.to(precision))


def _selected(condition: Value, then: Value, otherwise: Value) -> Value:
    """Returns what the condition selects; a fault of what is not selected does not matter."""

    def chosen(held: torch.Tensor, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        first, second = _alike([numeric(first), numeric(second)])
        return torch.where(held != 0, first, second)

    plain = elementwise(chosen, *(Value(value.axes, value.data) for value in (condition, then, otherwise)))
    truth = elementwise(lambda held: held != 0, Value(condition.axes, condition.data))
    faults = [condition.fault]
    for value, taken in ((then, truth), (otherwise, elementwise(torch.logical_not, truth))):
        if value.fault is not None:
            faults.append(Fault(elementwise(torch.logical_and, taken, value.fault.where), value.fault.error))
    return Value(plain.axes, plain.data, first_fault([Value((), plain.data, fault) for fault in faults]))


def _joined(op: str, left: Value, right: Value) -> Value:
    """Returns whether both, or one, is true; the right one is not asked where the left one decides, as in C."""
    decided = Value((), torch.tensor(op == "or", device=left.data.device))
    right = elementwise(lambda data: data != 0, right)
    return _selected(left, decided, right) if op == "or" else _selected(left, right, decided)
