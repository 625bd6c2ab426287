"""Tensor programs as text that is read at a glance; names of coordinates are chosen anew.

A subexpression with a reduction in it that occurs more than once has a line and a name of its own, and so has a
reduction within another one that is the same at all points of that one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import count

from porter.ir.tensor.expressions import (
    ArgReduce,
    Combine,
    Expression,
    Extent,
    Gathered,
    Number,
    Pointwise,
    Position,
    Read,
    Reduce,
    Window,
)
from porter.ir.tensor.notation import (
    MINUS,
    Factors,
    Level,
    Signed,
    Text,
    affine_parts,
    affine_text,
    factors,
    fraction,
    power,
    quantity_text,
    total,
)
from porter.ir.tensor.program import Input, Output, TensorProgram
from porter.ir.tensor.quantities import Affine, Quantity
from porter.ir.tensor.sharing import Sharing
from porter.ir.tensor.traversal import Reduction, operands

_COORDINATES = ("i", "j", "l", "q", "r", "u", "w", "y", "z")
_BOUND, _STEP = "k", "t"
_SHARED = {Combine.MAXIMUM: "m", Combine.MINIMUM: "m", Combine.SUM: "s", Combine.PRODUCT: "p"}
_ARGUMENT, _OTHER = "a", "v"
_INFIX = {
    "or": (" or ", Level.OR),
    "and": (" and ", Level.AND),
    "less": (" < ", Level.COMPARISON),
    "equal": (" == ", Level.COMPARISON),
}
_DEEPEST = 2  # of reductions within one another on one line


def printed(program: TensorProgram) -> str:
    """Returns `program` as text: a line for its inputs and sizes, then its outputs, then what it assumes."""
    tensors = (*(tensor.name for tensor in program.inputs), *(output.name for output in program.outputs))
    taken = {*program.symbols, *program.parameters, *tensors}
    lines = [_heading(program)]
    for output in program.outputs:
        lines += [f"  {line}" for line in _OutputPrinter(output, taken).lines()]
    if program.assumptions:
        lines.append(f"assuming: {'; '.join(program.assumptions)}")
    return "\n".join(lines) + "\n"


def _heading(program: TensorProgram) -> str:
    heading = f"{program.name}({', '.join(_input(tensor) for tensor in program.inputs)})"
    if not program.symbols and not program.parameters:
        return heading
    fractional = f"; {', '.join(program.parameters)}" if program.parameters else ""
    return f"{heading} where {', '.join(program.symbols)}{fractional}"


def _input(tensor: Input) -> str:
    return f"{tensor.name}: {tensor.dtype}{_brackets(tensor.shape)}"


def _brackets(items: Sequence[str]) -> str:
    return f"[{', '.join(items)}]" if items else ""


_Names = Mapping[str, str]  # what the coordinates in scope are called, and the steps of windows


class _OutputPrinter:
    """The lines of one output. Names that it gives to lines are added to `taken`."""

    def __init__(self, output: Output, taken: set[str]) -> None:
        self._output = output
        self._taken = taken
        self._sharing = Sharing(output.body)
        self._definitions: list[str] = []
        self._own_lines = self._to_be_named()
        self._named: dict[int, str] = {}

    def lines(self) -> Iterator[str]:
        """Yields what is declared, then what the output needs, then the output."""
        output = self._output
        extents = [extent or "?" for extent in output.shape]
        yield f"{output.name}: {output.dtype}{_brackets(extents)}"
        names: dict[str, str] = {}
        for coordinate in output.coordinates:
            names[coordinate] = self._free(_COORDINATES, names)
        text = self._text(output.body, names).text
        yield from self._definitions
        yield f"{output.name}{_brackets(list(names.values()))} = {text}"

    def _to_be_named(self) -> set[int]:
        """Returns the numbers of what has a line of its own."""
        parts = list(self._sharing.subexpressions())
        reducing: set[int] = set()
        shared: set[int] = set()
        for part in parts:
            if isinstance(part, Reduction) or not reducing.isdisjoint(map(self._number, operands(part))):
                reducing.add(self._number(part))
                if self._sharing.places(part) > 1:
                    shared.add(self._number(_without_sign(part)))
        reductions = [part for part in parts if isinstance(part, Reduction)]
        return shared.union(*(self._inner(reduction, reduction, shared, 1) for reduction in reductions))

    def _inner(self, around: Reduction, part: Expression, shared: set[int], depth: int) -> Iterator[int]:
        """Yields the reductions directly within another one that do not depend on its coordinates, or are deep."""
        own = {extent.name for extent in around.ranges}
        for operand in operands(part):
            if self._number(operand) in shared:
                continue
            if not isinstance(operand, Reduction):
                yield from self._inner(around, operand, shared, depth)
            elif own.isdisjoint(self._sharing.coordinates(operand)) or depth == _DEEPEST:
                yield self._number(operand)
            else:
                yield from self._inner(operand, operand, shared, depth + 1)

    def _number(self, expression: Expression) -> int:
        return self._sharing.number(expression)

    def _free(self, pool: Sequence[str], names: _Names) -> str:
        """Returns the first of a pool, or its last with a number, that nothing else is called."""
        used = {*names.values(), *self._taken}
        numbered = (f"{pool[-1]}{number}" for number in count(2))
        return next((name for name in pool if name not in used), None) or next(
            name for name in numbered if name not in used
        )

    def _text(self, expression: Expression, names: _Names) -> Text:
        if self._number(expression) not in self._own_lines:
            return self._written(expression, names)
        used = self._sharing.coordinates(expression)
        parameters = [coordinate for coordinate in names if coordinate in used]
        name = self._defined(expression, parameters, names)
        return Text(f"{name}{_brackets([names[coordinate] for coordinate in parameters])}")

    def _defined(self, expression: Expression, parameters: Sequence[str], names: _Names) -> str:
        """Returns the name of a line, which is written where it is not yet."""
        number = self._number(expression)
        if number not in self._named:
            scope = {coordinate: names[coordinate] for coordinate in parameters}
            text = self._written(expression, scope).text
            name = self._named[number] = self._free((_prefix(expression),), names)
            self._taken.add(name)
            self._definitions.append(f"{name}{_brackets(list(scope.values()))} = {text}")
        return self._named[number]

    def _written(self, expression: Expression, names: _Names) -> Text:
        """Returns an expression itself, even where it has a line of its own."""
        match expression:
            case Number(quantity):
                return quantity_text(quantity)
            case Position(affine):
                return affine_text(affine, names.__getitem__)
            case Read(tensor, indices):
                return Text(f"{tensor}{_brackets([self._index(index, names) for index in indices])}")
            case Pointwise("add", values):
                return total([self._term(value, names) for value in values])
            case Pointwise("subtract", (left, right)):
                return total([self._term(left, names), self._term(right, names).negative()])
            case Pointwise("negate", (value,)):
                return total([self._term(value, names).negative()])
            case Pointwise():
                product = self._product(expression, names)
                return total([product.signed()]) if product else self._pointwise(expression, names)
            case Reduce() | ArgReduce():
                return self._reduction(expression, names)

    def _index(self, index: Affine | Gathered, names: _Names) -> str:
        if isinstance(index, Affine):
            return affine_text(index, names.__getitem__).text
        return total([*affine_parts(index.affine, names.__getitem__), self._term(index.value, names)]).text

    def _term(self, expression: Expression, names: _Names) -> Signed:
        """Returns an expression as part of a sum."""
        return self._factors(expression, names).signed()

    def _factors(self, expression: Expression, names: _Names) -> Factors:
        """Returns an expression as part of a product."""
        if self._number(expression) not in self._own_lines:
            match expression:
                case Number(quantity):
                    return factors(quantity)
                case Pointwise("negate", (value,)):
                    return MINUS.times(self._factors(value, names))
                case Pointwise():
                    product = self._product(expression, names)
                    if product is not None:
                        return product
        return Factors(above=(self._text(expression, names),))

    def _product(self, expression: Pointwise, names: _Names) -> Factors | None:
        """Returns what stands above and below the line of a product or a quotient, constants first."""
        match expression:
            case Pointwise("multiply", values):
                ordered = sorted(values, key=lambda value: not isinstance(value, Number))
                return reduce(Factors.times, (self._factors(value, names) for value in ordered))
            case Pointwise("divide", (left, right)):
                below = self._factors(right, names)
                below = Factors(above=(self._text(right, names),)) if below.below else below
                return self._factors(left, names).times(below.over())
            case Pointwise("power", (base, Number(quantity))):
                constant = quantity.constant
                if constant is not None and constant < 0:
                    text = self._text(base, names)
                    return Factors(below=(text if constant == -1 else power(text, fraction(-constant)),))
        return None

    def _pointwise(self, expression: Pointwise, names: _Names) -> Text:
        texts = [self._text(operand, names) for operand in expression.operands]
        match expression.op:
            case "power":
                return power(*texts)
            case "not":
                return Text(f"not {texts[0].within(Level.NOT)}", Level.NOT)
            case op if op in _INFIX:
                sign, level = _INFIX[op]
                least = Level.SUM if level is Level.COMPARISON else level
                return Text(sign.join(text.within(least) for text in texts), level)
        return Text(f"{expression.op}({', '.join(text.text for text in texts)})")

    def _reduction(self, node: Reduction, names: _Names) -> Text:
        inner = dict(names)
        ranges = [self._range(extent, inner) for extent in node.ranges]
        separator = "; " if any(isinstance(extent, Window) for extent in node.ranges) else ", "
        body = "; ".join(self._text(operand, inner).text for operand in operands(node))
        if isinstance(node, ArgReduce):
            word = f"arg{node.combine}"
        else:
            word = str(node.combine) if node.precision is self._output.dtype else f"{node.combine}.{node.precision}"
        return Text(f"{word}[{separator.join(ranges)}]({body})")

    def _range(self, extent: Extent, names: dict[str, str]) -> str:
        """Returns a range as text, and gives its coordinate a name in `names`."""
        if isinstance(extent, Window):
            return self._window(extent, names)
        lower, upper = affine_text(extent.lower, names.__getitem__), _below(extent.upper, names)
        name = names[extent.name] = self._free((_BOUND,), names)
        return f"{name} {upper}" if lower.text == "0" else f"{lower.within(Level.SUM)} <= {name} {upper}"

    def _window(self, window: Window, names: dict[str, str]) -> str:
        start = affine_parts(window.start, names.__getitem__)
        step = names[f"{window.name}:"] = self._free((_STEP,), names)
        name = names[window.name] = self._free((_BOUND,), names)
        place = total([*start, factors(window.step).times(Factors(above=(Text(step),))).signed()]).text
        count, limit = (quantity_text(quantity).text for quantity in (window.count, window.extent))
        return f"{name} = {place}, {step} < {count}, 0 <= {name} < {limit}"


def _below(upper: Affine, names: _Names) -> str:
    """Returns what a coordinate is below; `< i + 1` reads `<= i`."""
    if upper.terms and upper.constant.constant == 1:
        return f"<= {affine_text(replace(upper, constant=Quantity.of(0)), names.__getitem__).text}"
    return f"< {affine_text(upper, names.__getitem__).text}"


def _prefix(expression: Expression) -> str:
    if isinstance(expression, Reduce):
        return _SHARED[expression.combine]
    return _ARGUMENT if isinstance(expression, ArgReduce) else _OTHER


def _without_sign(expression: Expression) -> Expression:
    """Returns the operand of an expression that only turns its sign."""
    match expression:
        case Pointwise("negate", (value,)) | Pointwise("multiply", (Number(Quantity(-1, (), 0)), value)):
            return value
    return expression
