"""Defines tensor programs over flat memory: loops with extents, and reads at linear functions of their variables.

Unlike in the tensor IR no tensor has axes here, so that loops which run through memory one after the other are one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeGuard

from porter.contract.model.dtype import DType
from porter.ir.tensor.expressions import Combine
from porter.ir.tensor.quantities import Quantity
from porter.schedule.linear import Linear
from porter.schedule.polynomial import Polynomial


@dataclass(frozen=True, slots=True)
class Loop:
    """The variable `name` runs over `0 <= name < extent`."""

    name: str
    extent: Polynomial


@dataclass(frozen=True, slots=True)
class Guard:
    """The condition `0 <= place < extent`, without which a point of a loop does not count."""

    place: Linear
    extent: Polynomial


@dataclass(frozen=True, slots=True)
class Number:
    """A number that depends on sizes and parameters alone."""

    quantity: Quantity


@dataclass(frozen=True, slots=True)
class Position:
    """A linear function of loop variables as a number."""

    place: Linear


@dataclass(frozen=True, slots=True)
class Gather:
    """An index that data decide: `0 <= value < extent`, in elements of `stride`."""

    value: Node
    stride: Polynomial
    extent: Polynomial


@dataclass(frozen=True, slots=True)
class Read:
    """The element of a tensor at `place`, moved by the `gathered` indices.

    It lies inside of the tensor where all `guards` hold; elsewhere its value is not used.
    """

    tensor: str
    dtype: DType
    place: Linear
    guards: tuple[Guard, ...] = ()
    gathered: tuple[Gather, ...] = ()


@dataclass(frozen=True, slots=True)
class Apply:
    """A pointwise operation of the tensor IR."""

    op: str
    operands: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Reduce:
    """`combine` of `body` over all points of `loops` at which all `guards` hold."""

    combine: Combine
    loops: tuple[Loop, ...]
    guards: tuple[Guard, ...]
    body: Node
    precision: DType


@dataclass(frozen=True, slots=True)
class ArgReduce:
    """`payload` at the first point of `loops` at which `key` is extreme."""

    combine: Combine
    loops: tuple[Loop, ...]
    key: Node
    payload: Node


@dataclass(frozen=True, slots=True)
class Scan:
    """`combine` of `body`, a function of the variable `along`, over its points up to the one where the scan is used.

    The point itself counts unless `is_exclusive`; where `is_reverse` those behind it count in place of those before.
    """

    combine: Combine
    along: str
    is_exclusive: bool
    is_reverse: bool
    body: Node
    precision: DType


Node = Number | Position | Read | Apply | Reduce | ArgReduce | Scan
Folding = Reduce | ArgReduce


def is_fold(node: Node) -> TypeGuard[Folding]:
    """Returns whether `node` is a reduction over columns."""
    return isinstance(node, ArgReduce) or (isinstance(node, Reduce) and not node.guards)


@dataclass(frozen=True, slots=True)
class Result:
    """A tensor that is computed: `body` for each point of `loops`, stored at `place`."""

    name: str
    dtype: DType
    loops: tuple[Loop, ...]
    place: Linear
    body: Node


def children(node: Node) -> tuple[Node, ...]:
    """Returns the nodes of which `node` is made directly."""
    match node:
        case Number() | Position():
            return ()
        case Read(gathered=gathered):
            return tuple(one.value for one in gathered)
        case Apply(_, operands):
            return operands
        case Reduce(body=body) | Scan(body=body):
            return (body,)
        case ArgReduce(key=key, payload=payload):
            return (key, payload)


def with_children(node: Node, parts: tuple[Node, ...]) -> Node:
    """Returns `node` made of `parts` in place of its own."""
    match node:
        case Number() | Position():
            return node
        case Read(gathered=gathered):
            moved = (replace(one, value=part) for one, part in zip(gathered, parts, strict=True))
            return replace(node, gathered=tuple(moved))
        case Apply():
            return replace(node, operands=parts)
        case Reduce() | Scan():
            return replace(node, body=parts[0])
        case ArgReduce():
            return replace(node, key=parts[0], payload=parts[1])


def walk(node: Node) -> Iterator[Node]:
    """Yields `node` and all that it is made of, each once, operands before what is made of them."""
    seen: set[Node] = set()

    def parts(one: Node) -> Iterator[Node]:
        if one not in seen:
            seen.add(one)
            for child in children(one):
                yield from parts(child)
            yield one

    yield from parts(node)


def rewritten(node: Node, rule: Callable[[Node], Node]) -> Node:
    """Returns `node` with `rule` applied to every part, operands first."""
    known: dict[Node, Node] = {}

    def new(one: Node) -> Node:
        if one not in known:
            known[one] = rule(with_children(one, tuple(map(new, children(one)))))
        return known[one]

    return new(node)


def own_loops(node: Node) -> tuple[Loop, ...]:
    """Returns the loops that `node` binds itself."""
    match node:
        case Reduce(loops=loops) | ArgReduce(loops=loops):
            return loops
    return ()


def places(node: Node) -> tuple[Linear, ...]:
    """Returns the linear functions that `node` contains outside of its operands."""
    match node:
        case Position(place):
            return (place,)
        case Read(place=place, guards=guards):
            return (place, *(guard.place for guard in guards))
        case Reduce(guards=guards):
            return tuple(guard.place for guard in guards)
        case Scan(along=along):
            return (Linear.variable(along),)
    return ()


def free(node: Node) -> frozenset[str]:
    """Returns the loop variables that `node` depends on and does not bind."""
    found = {name for place in places(node) for name in place.variables}.union(*map(free, children(node)))
    return frozenset(found - {loop.name for loop in own_loops(node)})


def with_places(node: Node, moved: Callable[[Linear], Linear]) -> Node:
    """Returns `node` with `moved` of every place in it."""

    def guarded(guards: tuple[Guard, ...]) -> tuple[Guard, ...]:
        return tuple(replace(guard, place=moved(guard.place)) for guard in guards)

    def rule(one: Node) -> Node:
        match one:
            case Position(place):
                return Position(moved(place))
            case Read(place=place, guards=guards):
                return replace(one, place=moved(place), guards=guarded(guards))
            case Reduce(guards=guards):
                return replace(one, guards=guarded(guards))
        return one

    return rewritten(node, rule)


def renamed(node: Node, names: Mapping[str, str]) -> Node:
    """Returns `node` with other names for loop variables, bound ones too."""

    def loop(one: Loop) -> Loop:
        return Loop(names.get(one.name, one.name), one.extent)

    def rule(one: Node) -> Node:
        match one:
            case Reduce(loops=loops) | ArgReduce(loops=loops):
                return replace(one, loops=tuple(map(loop, loops)))
            case Scan(along=along):
                return replace(one, along=names.get(along, along))
        return one

    return rewritten(with_places(node, lambda place: place.renamed(names)), rule)
