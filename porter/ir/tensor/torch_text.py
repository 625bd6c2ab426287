"""A tensor program as Python text on torch, for readers who have no porter: a function `run` of its inputs.

Every coordinate has an axis of its own, and a value is a tensor that spreads over all of them: plain, slow, and easy to
check. It computes in double precision, as `interpret` does, and allocates all points of a reduction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction

from porter.ir.tensor.expressions import (
    Combine,
    Expression,
    Extent,
    Gathered,
    Number,
    Pointwise,
    Position,
    Range,
    Read,
    Reduce,
)
from porter.ir.tensor.program import Output, TensorProgram
from porter.ir.tensor.quantities import Affine, Floor, Quantity

_FOLDS = {Combine.SUM: "sum", Combine.PRODUCT: "prod", Combine.MAXIMUM: "amax", Combine.MINIMUM: "amin"}
_NEUTRAL = {Combine.SUM: "0.0", Combine.PRODUCT: "1.0", Combine.MAXIMUM: "-math.inf", Combine.MINIMUM: "math.inf"}
_INFIX = {"add": "+", "multiply": "*", "subtract": "-", "divide": "/", "divide_rn": "/", "multiply_rn": "*"}
_CALLED = {
    "maximum": "torch.maximum", "minimum": "torch.minimum", "power": "torch.pow", "negate": "torch.neg",
    "absolute": "torch.abs", "exp": "torch.exp", "exp2": "torch.exp2", "log": "torch.log", "log2": "torch.log2",
    "log1p": "torch.log1p", "expm1": "torch.expm1", "sqrt": "torch.sqrt", "rsqrt": "torch.rsqrt", "sin": "torch.sin",
    "cos": "torch.cos", "tan": "torch.tan", "tanh": "torch.tanh", "sinh": "torch.sinh", "cosh": "torch.cosh",
    "asin": "torch.asin", "acos": "torch.acos", "atan": "torch.atan", "atan2": "torch.atan2", "erf": "torch.erf",
    "erfc": "torch.erfc", "lgamma": "torch.lgamma", "floor": "torch.floor", "ceil": "torch.ceil",
    "round": "torch.round", "truncate": "torch.trunc", "remainder": "torch.fmod",
}  # fmt: skip
_COMPARED = {"less": "<", "equal": "=="}
_HELPERS = '''\
import math

import torch


def _element(tensor, *places):
    """The elements at these places; one outside of the tensor is the nearest inside, and is not used."""
    inside = (place.long().clamp(0, max(0, extent - 1)) for place, extent in zip(places, tensor.shape))
    return tensor.double()[tuple(inside)]


def _folded(fold, value, neutral, axes, held):
    """The fold of a value along axes, each with its extent, where `held` is true."""
    shape = list(torch.broadcast_shapes(value.shape, held.shape))
    for axis, extent in axes.items():
        shape[axis] = extent
    value = torch.where(held, value, neutral).broadcast_to(shape)
    for axis, extent in axes.items():
        if extent == 0:
            value = torch.full_like(value.sum(axis, keepdim=True), neutral)
        else:
            value = getattr(value, fold)(axis, keepdim=True)
    return value
'''


class NotWritableError(Exception):
    """A program holds what this text has no words for; the message says what."""


def torch_text(program: TensorProgram, inputs: Sequence[str], sizes: Mapping[str, str]) -> str:
    """A module whose function `run` takes `inputs` and returns the outputs of `program`, in their order.

    `sizes` has for each symbol and parameter the Python that gives it. Raises `NotWritableError`.
    """
    missing = [name for name in (*program.symbols, *program.parameters) if name not in sizes]
    if missing:
        raise NotWritableError(f"no axis of an input and no argument is `{missing[0]}`")
    lines = [f"    {name} = {text}" for name, text in sizes.items() if name != text]
    device = program.inputs[0].name if program.inputs else None
    lines.append(f"    device = {device}.device" if device else '    device = "cpu"')
    for number, output in enumerate(program.outputs):
        lines += [f"    {line}" for line in _Writer(output, f"r{number}").lines()]
    results = [f"r{number}" for number in range(len(program.outputs))]
    returned = results[0] if len(results) == 1 else f"({', '.join(results)})"
    head = f"def run({', '.join(inputs)}):"
    whole = (_HELPERS, "", "@torch.no_grad()", head, *lines, f"    return {returned}", "")
    return "\n".join(whole)


class _Writer:
    """Writes one output, each of its expressions once."""

    def __init__(self, output: Output, result: str) -> None:
        self._output, self._result = output, result
        self._lines: list[str] = []
        self._known: dict[Expression, str] = {}
        self._axes = {name: axis for axis, name in enumerate((*output.coordinates, *_bound(output.body)))}

    def lines(self) -> Iterator[str]:
        """Yields the lines that compute the output."""
        extents = [self._extent(text) for text in self._output.shape]
        for name, extent in zip(self._output.coordinates, extents, strict=True):
            self._coordinate(name, f"torch.arange({extent}, device=device)")
        value = self._value(self._output.body)
        rank = len(self._axes)
        shape = ", ".join((*extents, *["1"] * (rank - len(extents))))
        final = ", ".join(extents) + ("," if len(extents) == 1 else "")
        yield from self._lines
        yield f"{self._result} = {value}.broadcast_to(({shape}{',' if rank == 1 else ''})).reshape(({final}))"
        yield f"{self._result} = {self._result}.to(torch.{self._output.dtype.value})"

    def _extent(self, text: str) -> str:
        if not text:
            raise NotWritableError(f"nothing gives the shape of `{self._output.name}`")
        return text.replace("/", "//")

    def _value(self, expression: Expression) -> str:
        if expression not in self._known:
            text = self._text(expression)
            name = f"{self._result}_{len(self._known)}"
            self._lines.append(f"{name} = {text}")
            self._known[expression] = name
        return self._known[expression]

    def _text(self, expression: Expression) -> str:
        match expression:
            case Number(quantity):
                return self._full(_quantity(quantity))
            case Position(affine):
                return f"({self._place(affine)}).double()"
            case Read(tensor, indices):
                places = (self._index(index) for index in indices)
                return f"_element({', '.join((tensor, *places))})" if indices else self._full(f"{tensor}.double()")
            case Pointwise(op, operands):
                return _pointwise(op, [self._value(operand) for operand in operands])
            case Reduce(combine, ranges, body):
                return self._reduced(combine, ranges, body)
        raise NotWritableError("it looks for the place of an extreme")

    def _full(self, number: str) -> str:
        ones = ", ".join(["1"] * len(self._axes)) + ("," if len(self._axes) == 1 else "")
        return f"torch.full(({ones}), {number}, dtype=torch.float64, device=device)"

    def _index(self, index: Affine | Gathered) -> str:
        if isinstance(index, Gathered):
            return f"{self._value(index.value)} + {self._place(index.affine)}"
        return self._place(index)

    def _place(self, affine: Affine) -> str:
        """A whole number for each point, as a tensor."""
        constant = _whole(affine.constant)
        if not affine.terms:
            return self._full(constant).replace("torch.float64", "torch.int64")
        parts = [] if constant == "0" else [constant]
        for term, factor in affine.terms:
            named = f"c_{term.coordinate} // ({_whole(term.divisor)})" if isinstance(term, Floor) else f"c_{term}"
            parts.append(named if _whole(factor) == "1" else f"({named}) * ({_whole(factor)})")
        return " + ".join(parts)

    def _reduced(self, combine: Combine, ranges: Sequence[Extent], body: Expression) -> str:
        held, axes = list[str](), list[str]()
        for extent in ranges:
            if not isinstance(extent, Range):
                raise NotWritableError("it slides a window")
            axes.append(f"{self._axes[extent.name]}: c_{extent.name}.numel()")
            if not (extent.lower.terms or extent.upper.terms):
                ends = f"{_whole(extent.lower.constant)}, {_whole(extent.upper.constant)}"
                self._coordinate(extent.name, f"torch.arange({ends}, device=device)")
                continue
            first, last = (f"{self._result}_{side}_{extent.name}" for side in ("from", "to"))
            self._lines += [f"{first} = {self._place(extent.lower)}", f"{last} = {self._place(extent.upper)}"]
            least, most = f"int({first}.min())", f"int({last}.max())"
            self._coordinate(extent.name, f"torch.arange({least}, max({least}, {most}), device=device)")
            held.append(f"(c_{extent.name} >= {first}) & (c_{extent.name} < {last})")
        value = self._value(body)
        mask = " & ".join(f"({one})" for one in held) or "torch.tensor(True, device=device)"
        return f"_folded('{_FOLDS[combine]}', {value}, {_NEUTRAL[combine]}, {{{', '.join(axes)}}}, {mask})"

    def _coordinate(self, name: str, values: str) -> None:
        shape = ["1"] * len(self._axes)
        shape[self._axes[name]] = "-1"
        self._lines.append(f"c_{name} = {values}.reshape({', '.join(shape)})")


def _bound(expression: Expression) -> Iterator[str]:
    """Yields the coordinates that reductions bind, each once."""
    seen = dict[str, None]()
    todo = [expression]
    while todo:
        one = todo.pop()
        match one:
            case Read(_, indices):
                todo += [index.value for index in indices if isinstance(index, Gathered)]
            case Pointwise(_, values):
                todo += values
            case Reduce(_, ranges, body):
                seen |= dict.fromkeys(extent.name for extent in ranges)
                todo.append(body)
    yield from seen


def _pointwise(op: str, values: Sequence[str]) -> str:
    if op in _INFIX:
        return f" {_INFIX[op]} ".join(values)
    if op in _COMPARED:
        return f"({values[0]} {_COMPARED[op]} {values[1]}).double()"
    match op:
        case "select":
            return f"torch.where({values[0]} != 0, {values[1]}, {values[2]})"
        case "and":
            return f"(({values[0]} != 0) & ({values[1]} != 0)).double()"
        case "or":
            return f"(({values[0]} != 0) | ({values[1]} != 0)).double()"
        case "not":
            return f"({values[0]} == 0).double()"
        case "cast":
            return values[0]
        case "quotient":
            return f"torch.trunc({values[0]} / {values[1]})"
    if op not in _CALLED:
        raise NotWritableError(f"it has the operation `{op}`")
    text = values[0]
    for value in values[1:]:
        text = f"{_CALLED[op]}({text}, {value})"
    return text if len(values) > 1 else f"{_CALLED[op]}({text})"


def _quantity(quantity: Quantity) -> str:
    """A number that depends on sizes, as a float."""
    text = _sum(quantity, lambda part: repr(float(part)), lambda name: f"float({name})")
    return f"1.0 / ({text})" if quantity.inverse else text


def _whole(quantity: Quantity) -> str:
    """The same, as a whole number. Raises `NotWritableError` where it may be none."""
    parts = (quantity.factor, quantity.offset)
    if quantity.inverse or any(part.denominator != 1 for part in parts) or any(p < 0 for _, p in quantity.powers):
        raise NotWritableError("a place in a tensor is a fraction of sizes")
    return _sum(quantity, lambda part: str(part.numerator), str)


def _sum(quantity: Quantity, number: Callable[[Fraction], str], size: Callable[[str], str]) -> str:
    if not quantity.powers:
        return number(quantity.factor + quantity.offset)
    powers = [size(name) if power == 1 else f"{size(name)} ** {power}" for name, power in quantity.powers]
    text = " * ".join(powers if quantity.factor == 1 else (number(quantity.factor), *powers))
    return f"{text} + {number(quantity.offset)}" if quantity.offset else text
