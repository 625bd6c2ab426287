"""The rules of a well-formed function: the table of operations, a table of invariants, and a walk over all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from porter.ir.simt.operations import OPERATIONS, Operation, holds
from porter.ir.simt.ops import Block, Function, Op, Value
from porter.ir.simt.types import Array, Pointer, Scalar, Space, Type, Vector


class MalformedError(Exception):
    """A function breaks an invariant; the message names it, the operation, its line, and what is wrong there."""


@dataclass(frozen=True, slots=True)
class Place:
    """An operation, the values defined before it, whether it is the last of its block, and what that is a region of."""

    op: Op
    defined: AbstractSet[Value]
    ends: bool
    parent: Op | None

    @property
    def row(self) -> Operation | None:
        """Returns its row in the table; None where it has none."""
        return OPERATIONS.get(self.op.kind)


Invariant = Callable[[Place], str | None]  # returns what is wrong at a place that breaks it


def verify(function: Function) -> None:
    """Raises `MalformedError` where `function` breaks an invariant."""
    parameters = [parameter.value for parameter in function.parameters]
    if again := _repeated((*parameters, *_defined_in(function.body))):
        raise MalformedError(f"{function.name}: a value of type {again.type} is defined twice")
    if function.body.arguments:
        raise MalformedError(f"{function.name}: its body has arguments of its own")
    for place in _places(function.body, set(parameters), None):
        if isinstance(place, str):
            raise MalformedError(f"{function.name}: {place}")
        for invariant in INVARIANTS:
            if broken := invariant(place):
                raise MalformedError(f"{function.name}: line {place.op.location}: '{place.op.kind}': {broken}")


def kinds_are_known(place: Place) -> str | None:
    """An operation is a row of the table."""
    return None if place.row else "there is no such operation"


def operands_are_defined(place: Place) -> str | None:
    """An operand is a parameter, or was computed before, here or around."""
    for number, operand in enumerate(place.op.operands):
        if operand not in place.defined:
            return f"operand {number + 1} is not defined here"
    return None


def operands_are_as_many_as_it_takes(place: Place) -> str | None:
    """An operation has as many operands as its row says."""
    row, given = place.row, len(place.op.operands)
    if row is None or row.open:
        return None
    if row.more and given >= len(row.takes) - 1:
        return None
    return None if given == len(row.takes) else f"it takes {len(row.takes)} operands and has {given}"


def operands_are_of_their_types(place: Place) -> str | None:
    """An operand has a type that its row allows."""
    op, row = place.op, place.row
    if row is None or not row.takes:
        return None
    for number, operand in enumerate(op.operands):
        demand = row.takes[min(number, len(row.takes) - 1)]
        if not holds(demand, operand.type, op.operands[0].type):
            return f"operand {number + 1}, of type {operand.type}, is not {demand.value}"
    return None


def results_are_of_their_types(place: Place) -> str | None:
    """An operation has the results of its row, of types that it allows."""
    op, row = place.op, place.row
    if row is None or op.kind in _FREE:
        return None
    if len(op.results) != len(row.gives):
        return f"it has {len(row.gives)} results, not {len(op.results)}"
    first = op.operands[0].type if op.operands else None
    for result, demand in zip(op.results, row.gives, strict=True):
        if not holds(demand, result.type, first):
            return f"its result, of type {result.type}, is not {demand.value}"
    return None


def attributes_are_those_of_its_row(place: Place) -> str | None:
    """An operation has the attributes of its row, each with a value that is allowed."""
    row, given = place.row, dict(place.op.attributes)
    if row is None:
        return None
    for name, value in given.items():
        if name not in row.attributes:
            return f"it has no attribute '{name}'"
        allowed = row.attributes[name]
        if allowed is not None and value not in allowed:
            return f"the attribute '{name}' is {value}"
    missing = [name for name in row.attributes if name not in given and name not in _OPTIONAL]
    if missing:
        return f"the attribute '{missing[0]}' is not given"
    return None if [*given] == sorted(given) else "its attributes are not sorted"


def regions_are_as_many_as_it_has(place: Place) -> str | None:
    """An operation has the regions of its row."""
    row = place.row
    if row is None or len(place.op.regions) == row.regions:
        return None
    return f"it has {row.regions} regions, not {len(place.op.regions)}"


def blocks_end_once(place: Place) -> str | None:
    """The last operation of a block hands on its results or ends the kernel, and no other one does."""
    row = place.row
    if row is None or row.ends == place.ends:
        return None
    return "more follows it" if row.ends else "nothing ends the block behind it"


def endings_fit(place: Place) -> str | None:
    """A region ends with `yield`, the kernel with `return`."""
    if place.op.kind == "return" and place.parent is not None:
        return "it stands within a region"
    return "it stands outside of a region" if place.op.kind == "yield" and place.parent is None else None


def constants_are_of_their_type(place: Place) -> str | None:
    """A constant is a number that its type holds; a pointer is null."""
    if place.op.kind != "constant" or len(place.op.results) != 1:
        return None
    value, type_ = dict(place.op.attributes).get("value"), place.op.result.type
    if isinstance(type_, Pointer):
        return None if value == 0 else "a pointer that is not null"
    if type_ is Scalar.BOOL:
        return None if isinstance(value, bool) else f"{value} is not a truth value"
    if isinstance(type_, Scalar) and type_.is_float:
        return None if isinstance(value, float) else f"{value} is not a float"
    if not isinstance(value, int) or isinstance(value, bool) or not isinstance(type_, Scalar):
        return f"{value} is not an integer"
    least = -(1 << type_.bits - 1) if type_.is_signed else 0
    return None if least <= value < least + (1 << type_.bits) else f"{value} is not {type_}"


def selections_are_of_one_type(place: Place) -> str | None:
    """A selection has the type of both that it selects from."""
    op = place.op
    if op.kind != "select" or len(op.operands) != 3 or len(op.results) != 1:
        return None
    types = {op.operands[1].type, op.operands[2].type, op.result.type}
    return None if len(types) == 1 else "it selects between values of different types"


def packs_are_whole(place: Place) -> str | None:
    """A vector is packed of as many numbers of its type as it holds."""
    op = place.op
    if op.kind != "pack" or not op.operands or not isinstance(vector := op.result.type, Vector):
        return None
    fits = vector == Vector(op.operands[0].type, len(op.operands)) if isinstance(op.operands[0].type, Scalar) else False
    return None if fits else f"{len(op.operands)} values of type {op.operands[0].type} are not {vector}"


def components_are_inside(place: Place) -> str | None:
    """A component is one that the vector has."""
    if place.op.kind != "extract" or not place.op.operands:
        return None
    index, vector = dict(place.op.attributes).get("index"), place.op.operands[0].type
    inside = isinstance(index, int) and isinstance(vector, Vector) and 0 <= index < vector.count
    return None if inside else f"a {vector} has no component {index}"


def bits_are_as_many(place: Place) -> str | None:
    """Bits that are read as another type are as many; a pointer stays in its space."""
    op = place.op
    if op.kind != "bitcast" or not op.operands or len(op.results) != 1:
        return None
    source, target = op.operands[0].type, op.result.type
    if isinstance(source, Pointer) and isinstance(target, Pointer) and source.space != target.space:
        return f"a pointer to {source.space} memory is none to {target.space} memory"
    return None if _bytes(source) == _bytes(target) else f"a {source} is {_bytes(source)} bytes, a {target} is not"


def memory_keeps_its_element(place: Place) -> str | None:
    """A pointer that an offset makes points to the same elements in the same space."""
    op = place.op
    if op.kind != "offset" or not op.operands or not isinstance(base := op.operands[0].type, Pointer | Array):
        return None
    wanted = Pointer(base.element, base.space)
    return None if op.result.type == wanted else f"it gives {op.result.type}, not {wanted}"


def arrays_hold_something(place: Place) -> str | None:
    """An array has one element at least, and a block's is made outside of control."""
    op = place.op
    if op.kind != "array" or len(op.results) != 1 or not isinstance(array := op.result.type, Array):
        return None
    if array.count < 1:
        return f"it has {array.count} elements"
    return "a block's memory is made within a region" if array.space is Space.SHARED and place.parent else None


def dynamic_memory_is_shared(place: Place) -> str | None:
    """The memory that a launch gives a block is shared."""
    op = place.op
    if op.kind != "dynamic_shared" or len(op.results) != 1 or not isinstance(found := op.result.type, Pointer):
        return None
    return None if found.space is Space.SHARED else f"it lies in {found.space} memory"


def atomics_and_barriers_have_their_operands(place: Place) -> str | None:
    """An atomic change has one value, a comparing one two; the barrier of a warp has a mask."""
    if place.op.kind not in ("atomic", "barrier"):
        return None
    given, attributes = len(place.op.operands), dict(place.op.attributes)
    wanted = 4 if attributes.get("op") == "swap" else 3
    if place.op.kind == "barrier":
        wanted = int(attributes.get("scope") == "warp")
    return None if given == wanted else f"it takes {wanted} operands and has {given}"


def votes_are_of_their_types(place: Place) -> str | None:
    """A ballot is a u32, any other vote a truth value."""
    if place.op.kind != "vote" or len(place.op.results) != 1:
        return None
    wanted = Scalar.U32 if dict(place.op.attributes).get("mode") == "ballot" else Scalar.BOOL
    return None if place.op.result.type is wanted else f"it gives {place.op.result.type}, not {wanted}"


def regions_take_what_is_carried(place: Place) -> str | None:
    """The arguments of a region have the types of what is handed to it."""
    op, row = place.op, place.row
    if row is None or not row.regions or len(op.regions) != row.regions:
        return None
    for wanted, region in zip(_arguments(op), op.regions, strict=True):
        if broken := _unlike(wanted, [argument.type for argument in region.arguments], "arguments of a region"):
            return broken
    return None


def regions_yield_what_is_used(place: Place) -> str | None:
    """A region yields values of the types that its operation goes on with."""
    op, row = place.op, place.row
    if row is None or not row.regions or len(op.regions) != row.regions:
        return None
    for wanted, region in zip(_yields(op), op.regions, strict=True):
        if region.ops:
            given = [operand.type for operand in region.ops[-1].operands]
            if broken := _unlike(wanted, given, "values that a region yields"):
                return broken
    return None


def loops_give_what_they_carry(place: Place) -> str | None:
    """A loop takes what it needs, and has a result for each value that it carries; an `if` takes its condition."""
    op = place.op
    if op.kind == "if":
        return None if len(op.operands) == 1 else f"it takes 1 operand and has {len(op.operands)}"
    if op.kind not in ("for", "while"):
        return None
    if op.kind == "for" and len(op.operands) < 3:
        return f"it takes 3 operands at least and has {len(op.operands)}"
    return _unlike([value.type for value in carried(op)], [result.type for result in op.results], "results of a loop")


INVARIANTS: tuple[Invariant, ...] = (
    kinds_are_known,
    operands_are_defined,
    operands_are_as_many_as_it_takes,
    atomics_and_barriers_have_their_operands,
    loops_give_what_they_carry,
    operands_are_of_their_types,
    results_are_of_their_types,
    attributes_are_those_of_its_row,
    regions_are_as_many_as_it_has,
    regions_take_what_is_carried,
    regions_yield_what_is_used,
    blocks_end_once,
    endings_fit,
    constants_are_of_their_type,
    selections_are_of_one_type,
    packs_are_whole,
    components_are_inside,
    bits_are_as_many,
    memory_keeps_its_element,
    arrays_hold_something,
    dynamic_memory_is_shared,
    votes_are_of_their_types,
)

_FREE = frozenset({"if", "for", "while"})  # whose results are what their regions yield
_OPTIONAL = frozenset({"unroll", "row", "aligned"})


def carried(op: Op) -> tuple[Value, ...]:
    """The operands of a loop with which it begins, and that each iteration hands to the next."""
    return op.operands[3:] if op.kind == "for" else op.operands


def _arguments(op: Op) -> list[list[Type]]:
    """The types of the arguments that each region of `op` has to have."""
    types = [value.type for value in carried(op)]
    match op.kind:
        case "if":
            return [[], []]
        case "for":
            return [[op.operands[0].type, *types]]
    return [types, types]


def _yields(op: Op) -> list[list[Type]]:
    """The types of what each region of `op` has to yield."""
    types = [result.type for result in op.results]
    match op.kind:
        case "if":
            return [types, types]
        case "for":
            return [types]
    return [[Scalar.BOOL, *types], types]


def _unlike(wanted: list[Type], given: list[Type], what: str) -> str | None:
    if wanted == given:
        return None
    return f"the {what} are ({', '.join(map(str, given))}), not ({', '.join(map(str, wanted))})"


def _bytes(type_: Type) -> int:
    return 8 if isinstance(type_, Pointer) else type_.bytes if isinstance(type_, Scalar | Vector) else 0


def _places(block: Block, defined: AbstractSet[Value], parent: Op | None) -> Iterator[Place | str]:
    """Yields every operation of a block with what is defined before it; a sentence for a block without any."""
    if not block.ops:
        yield "a block has no operation that ends it"
    known = set(defined) | set(block.arguments)
    for number, op in enumerate(block.ops):
        yield Place(op, known, number == len(block.ops) - 1, parent)
        for region in op.regions:
            yield from _places(region, known, op)
        known |= set(op.results)


def _defined_in(block: Block) -> Iterator[Value]:
    yield from block.arguments
    for op in block.ops:
        yield from op.results
        for region in op.regions:
            yield from _defined_in(region)


def _repeated(values: Iterable[Value]) -> Value | None:
    seen: set[Value] = set()
    for value in values:
        if value in seen:
            return value
        seen.add(value)
    return None
