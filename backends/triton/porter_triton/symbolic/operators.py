"""Operators of the library that a host applies: those that move, fill or compute element by element, and sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from porter.launch_plan import steps as plan
from porter.launch_plan.steps import OUT, Argument, TensorView
from porter.launch_plan.views import outputs
from porter.lift.nodes import Graph, Nodes, NotLiftedError
from porter_triton.symbolic.casts import cast
from porter_triton.symbolic.memory import Memory
from porter_triton.symbolic.values import Values, distinct, is_float, meant

_BINARY = {
    "add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "maximum": "maximum", "minimum": "minimum",
    "pow": "power",
}  # fmt: skip
_UNARY = {
    "neg": "negate", "abs": "absolute", "exp": "exp", "log": "log", "sqrt": "sqrt", "rsqrt": "rsqrt", "sin": "sin",
    "cos": "cos", "tanh": "tanh", "erf": "erf", "floor": "floor", "ceil": "ceil", "exp2": "exp2", "log2": "log2",
    "log1p": "log1p", "expm1": "expm1",
}  # fmt: skip
_COPIES = frozenset(("clone", "contiguous", "_to_copy", "to", "copy", "copy_", "expand", "detach", "alias"))
_REDUCTIONS = {"sum": "add", "mean": "add", "amax": "maximum", "amin": "minimum"}
_OPERANDS = ("self", "other", "tensor", "input", "exponent", "src")


@dataclass(frozen=True)
class Operators:
    """Carries out the operators of one execution."""

    values: Values
    memory: Memory

    @property
    def _graph(self) -> Graph:
        return self.values.graph

    def compute(self, step: plan.Compute) -> None:
        """Puts what an operator makes where the plan says. Raises `NotLiftedError` for one that is not known."""
        name = step.operator.partition(".")[0]
        to = outputs(step)
        if len(to) != 1:
            raise NotLiftedError(f"the host applies the operator '{step.operator}'")
        for result in step.results:
            self.memory.allocate_for(result)
        given = dict(step.arguments)
        operands = [self._operand(given[n], to[0].dtype) for n in _OPERANDS if n in given and n != OUT]
        self.memory.write(to[0], self._made(step.operator, name, to[0], operands, given))

    def _made(
        self, operator: str, name: str, to: TensorView, operands: Sequence[Nodes], given: Mapping[str, Argument]
    ) -> Nodes:
        scale = given.get("alpha", plan.Scalar(1))
        plain = isinstance(scale, plan.Scalar) and scale.value == 1
        if name in _COPIES and operands:
            return np.broadcast_to(operands[-1] if name == "copy_" else operands[0], to.shape)
        if name in _BINARY and len(operands) == 2 and plain and "rounding_mode" not in given:
            return np.broadcast_to(self._apply(_BINARY[name], to.dtype, *operands), to.shape)
        if name in _UNARY and len(operands) == 1:
            return self._apply(_UNARY[name], to.dtype, *operands)
        if name in _REDUCTIONS and len(operands) == 1:
            return self._reduced(name, to, operands[0], given.get("dim"))
        raise NotLiftedError(f"the host applies the operator '{operator}'")

    def _apply(self, op: str, dtype: str, *operands: Nodes) -> Nodes:
        if not is_float(dtype):
            raise NotLiftedError(f"the host computes `{op}` of integers")
        return distinct(lambda *given: self._graph.make(op, dtype, *given), *operands)

    def _reduced(self, name: str, to: TensorView, operand: Nodes, dim: Argument | None) -> Nodes:
        axes = _axes(dim, operand.ndim)
        kept = [axis for axis in range(operand.ndim) if axis not in axes]
        rows = operand.transpose([*axes, *kept]).reshape(-1, *(operand.shape[axis] for axis in kept))
        total: Nodes = rows[0]
        for row in rows[1:]:
            total = self._apply(_REDUCTIONS[name], to.dtype, total, row)
        if name == "mean":
            count = np.array(self._graph.number(Fraction(len(rows)), to.dtype), np.int64)
            total = self._apply("divide", to.dtype, total, count)
        return np.reshape(total, to.shape)

    def _operand(self, given: Argument, dtype: str) -> Nodes:
        match given:
            case TensorView():
                return cast(self._graph, self.memory.read(given), given.dtype, dtype)
            case plan.Scalar(value) if isinstance(value, (bool, int, float)):
                exact = meant(value) if isinstance(value, float) else Fraction(value)
                return np.array(self._graph.number(exact, dtype), np.int64)
        raise NotLiftedError("the host applies an operator to what is no tensor")


def _axes(dim: Argument | None, rank: int) -> list[int]:
    match dim:
        case plan.Scalar(int() as axis):
            return [axis % rank]
        case plan.Sequence(items) if items:
            return [axis % rank for item in items for axis in [item.value] if isinstance(axis, int)]  # type: ignore[union-attr]
    return list(range(rank))
