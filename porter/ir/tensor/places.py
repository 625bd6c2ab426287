"""The parts of a tensor program, each with where it stands: outputs, their expressions, and the numbers in these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from porter.contract.model.expressions import names_in
from porter.ir.tensor.expressions import (
    ArgReduce,
    Expression,
    Extent,
    Number,
    Pointwise,
    Read,
    Reduce,
    Window,
)
from porter.ir.tensor.program import Output, TensorProgram
from porter.ir.tensor.quantities import Affine, Floor, Quantity
from porter.ir.tensor.traversal import Reduction, affines, bounds, operands

Thing = TensorProgram | Output | Expression | Extent | Affine | Floor | Quantity


@dataclass(frozen=True, slots=True)
class Place:
    """A part of a program: where it stands, and the coordinates in scope there."""

    program: TensorProgram
    thing: Thing
    path: tuple[str, ...] = ()
    scope: frozenset[str] = frozenset()

    def inside(self, thing: Thing, *steps: str, binding: Iterable[str] = ()) -> Place:
        """Returns the place of a part of this one."""
        return Place(self.program, thing, (*self.path, *steps), self.scope.union(binding))


def has_quotients(program: TensorProgram) -> bool:
    """Returns whether a coordinate is divided somewhere in `program`."""
    return any(isinstance(place.thing, Floor) for place in places(program))


def used_names(program: TensorProgram) -> frozenset[str]:
    """Returns the symbols and parameters that the extents of tensors and the numbers of `program` depend on."""
    shapes = [tensor.shape for tensor in program.inputs] + [tensor.shape for tensor in program.outputs]
    extents = (extent for shape in shapes for extent in shape if extent)
    numbers = (place.thing for place in places(program) if isinstance(place.thing, Quantity))
    return frozenset[str]().union(*map(names_in, extents), *({name for name, _ in n.powers} for n in numbers))


def tensors_read(program: TensorProgram) -> frozenset[str]:
    """Returns the names of the tensors of which `program` reads elements."""
    return frozenset(place.thing.tensor for place in places(program) if isinstance(place.thing, Read))


def places(program: TensorProgram) -> Iterator[Place]:
    """Yields every part of a program, each before its own parts."""
    root = Place(program, program)
    yield root
    for output in program.outputs:
        place = root.inside(output, output.name)
        yield place
        yield from inside(place.inside(output.body, binding=output.coordinates))


def inside(root: Place) -> Iterator[Place]:
    """Yields an expression and all that it is made of; what occurs twice in one scope comes once."""
    seen: set[tuple[int, frozenset[str]]] = set()

    def parts(place: Place) -> Iterator[Place]:
        expression = place.thing
        assert isinstance(expression, Expression)
        if (id(expression), place.scope) in seen:
            return
        seen.add((id(expression), place.scope))
        yield place
        word = _word(expression)
        yield from _numbers(place, expression, word)
        binding: list[str] = []
        if isinstance(expression, Reduction):
            for extent in expression.ranges:
                yield from _extent(place.inside(extent, f"{word}[{extent.name}]", binding=binding))
                binding.append(extent.name)
        for count, operand in enumerate(operands(expression)):
            step = f"{word} operand {count + 1}" if isinstance(expression, Pointwise | ArgReduce) else word
            yield from parts(place.inside(operand, step, binding=binding))

    yield from parts(root)


def _word(expression: Expression) -> str:
    match expression:
        case Pointwise(op, _):
            return op
        case Read(tensor, _):
            return tensor
        case Reduce(combine=combine):
            return str(combine)
        case ArgReduce(combine=combine):
            return f"arg{combine}"
    return type(expression).__name__.lower()


def _numbers(place: Place, expression: Expression, word: str) -> Iterator[Place]:
    if isinstance(expression, Number):
        yield place.inside(expression.quantity, word)
    for count, affine in enumerate(affines(expression)):
        yield from _affine(place.inside(affine, f"{word} index {count + 1}" if isinstance(expression, Read) else word))


def _extent(place: Place) -> Iterator[Place]:
    yield place
    assert isinstance(place.thing, Extent)
    for affine in bounds(place.thing):
        yield from _affine(place.inside(affine))
    if isinstance(place.thing, Window):
        for quantity in (place.thing.step, place.thing.count, place.thing.extent):
            yield place.inside(quantity)


def _affine(place: Place) -> Iterator[Place]:
    yield place
    assert isinstance(place.thing, Affine)
    yield place.inside(place.thing.constant)
    for term, coefficient in place.thing.terms:
        yield place.inside(coefficient)
        if isinstance(term, Floor):
            yield place.inside(term)
            yield place.inside(term.divisor)
