"""Drafts the parameters of host functions that are extents of a launch: `dim3`, and numbers that it takes directly.

They get what the launch of a bare kernel gets (`launch.py`), in terms of the host function's arguments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from porter.contract.analysis.body import quietly, rebuild, substitute, walk
from porter.contract.analysis.passing import passed_on
from porter.contract.analysis.records import COMPONENTS, EXTENTS, symbol
from porter.contract.analysis.scope import Scope
from porter.contract.analysis.usage import Usage
from porter.contract.infer.launch import (
    Block,
    asks_for_whole,
    coordinates,
    fresh_symbol,
    has_dynamic_memory,
    launch_shape,
)
from porter.contract.infer.scalars import dimensions, launches_in
from porter.contract.model.contract import Argument, ScalarArg
from porter.contract.model.expressions import children, render
from porter.contract.model.syntax import Member, Name, Node, Number
from porter.source.program import Function, Launch
from porter.source.qualified import unqualified

_AXES = COMPONENTS[:3]


@dataclass(frozen=True, slots=True)
class _Place:
    """The place where an argument is the extent along `axis` of a launch's grid or blocks.

    `names` are the parameters of the function around the launch, each with that of the entry which it is given.
    """

    axis: int
    is_grid: bool
    launch: Launch
    inside: Function
    names: Mapping[str, str]


class LaunchParameters:
    """Finds arguments of a host function that are extents of launches. `triples` are those of the type `dim3`."""

    def __init__(self, usage: Usage, function: Function) -> None:
        self._usage = usage
        self._function = function
        of_type = [p.name for p in function.params if usage.types.of(p, function).base == EXTENTS]
        self._places: dict[str, _Place] = {}
        for name, place in self._found(of_type):
            self._places.setdefault(name, place)
        self._unused_bytes = frozenset(self._without_use())
        self.triples = tuple(n for n in of_type if any(self._places.get(f"{n}.{axis}") for axis in _AXES))

    def given(
        self, arguments: Sequence[Argument], symbols: Sequence[str]
    ) -> tuple[tuple[Argument, ...], tuple[str, ...]]:
        """Returns `arguments` with extents that cover what kernels compare with, and the symbols that are left."""
        values = {a.name: a.value for a in arguments if isinstance(a, ScalarArg) and not self._is_of_triple(a.name)}
        own = {symbol(name) for name in self._places if self._is_of_triple(name)}
        kept, found = [s for s in symbols if s not in own], list[Argument]()
        for argument in arguments:
            place = self._places.get(argument.name)
            if isinstance(argument, ScalarArg) and argument.name in self._unused_bytes:
                found.append(replace(argument, value="0", choices=()))
                kept = [symbol for symbol in kept if symbol != argument.value]
            elif not isinstance(argument, ScalarArg) or place is None:
                found.append(argument)
            elif self._is_of_triple(argument.name):
                value, fresh = self._extent(place, values)
                found.append(replace(argument, value=value))
                kept += fresh
            elif self._is_idle(place):
                found.append(replace(argument, value="1", choices=()))
                kept = [symbol for symbol in kept if symbol != argument.value]
            elif argument.value in kept and (value := self._blocks(argument.name, place, values)):
                found.append(replace(argument, value=value))
                kept.remove(argument.value)
            else:
                found.append(argument)
        return tuple(found), tuple(dict.fromkeys(kept))

    def _is_of_triple(self, name: str) -> bool:
        return name.rpartition(".")[0] in self.triples

    def _found(self, triples: Sequence[str]) -> Iterator[tuple[str, _Place]]:
        """Yields the arguments that a launch takes as they are, each with its place there."""
        for inside, names in self._reached():
            scope = Scope(self._usage, inside)
            for launch in launches_in(self._usage, inside):
                for is_grid, text in ((True, launch.grid.text), (False, launch.block.text)):
                    for axis, name in _taken(dimensions(scope, text), names, triples):
                        yield name, _Place(axis, is_grid, launch, inside, names)

    def _without_use(self) -> Iterator[str]:
        """Yields the arguments that say how much dynamic shared memory kernels get that have none."""
        for inside, names in self._reached():
            for launch in launches_in(self._usage, inside):
                kernel, given = self._kernel(launch), launch.shared_bytes
                if kernel is not None and given is not None and not has_dynamic_memory(self._usage, kernel):
                    yield from (outer for inner, outer in names.items() if inner == given.text)

    def _reached(self) -> Iterator[tuple[Function, Mapping[str, str]]]:
        """Yields the functions that the parameters are handed to, each with the names that they have there."""
        found: dict[Function, dict[str, str]] = {}
        for param in self._function.params:
            for inside, alias in passed_on(self._usage, self._function, param.name):
                found.setdefault(inside, {}).setdefault(alias, param.name)
        yield from found.items()

    def _is_idle(self, place: _Place) -> bool:
        """Returns whether a kernel never asks where it is along an axis: more than one there does its work again."""
        kernel, axis = self._kernel(place.launch), _AXES[place.axis]
        words = ("blockIdx", "gridDim") if place.is_grid else ("threadIdx", "blockDim")
        if kernel is None or any(asks_for_whole(self._usage, kernel, word) for word in words):
            return False
        return coordinates(self._usage, kernel).isdisjoint(f"{word}.{axis}" for word in words)

    def _extent(self, place: _Place, values: Mapping[str, str]) -> tuple[str, tuple[str, ...]]:
        """Returns an extent of a `dim3`, and the symbol of its own where nothing says what it covers."""
        kernel = self._kernel(place.launch)
        if kernel is None:
            return "1", ()
        handed = self._handed(kernel, place)
        shape, fresh = launch_shape(self._usage, kernel, tuple(handed))
        text = (shape.grid if place.is_grid else shape.block)[place.axis]
        told = "" if text in fresh else _told(text, handed, values)
        own = fresh_symbol(place.axis)
        return (told, ()) if told else (own, (own,))

    def _blocks(self, name: str, place: _Place, values: Mapping[str, str]) -> str:
        """Returns how many blocks cover the limit that the kernel compares its index with.

        Empty where nothing tells, and where the kernel is given the number, too, or asks how many blocks there are.
        """
        kernel = self._kernel(place.launch)
        block = self._block(place, values) if place.is_grid else None
        if kernel is None or block is None or f"gridDim.{_AXES[place.axis]}" in coordinates(self._usage, kernel):
            return ""
        handed = self._handed(kernel, place)
        if any(_is_argument(node, name) for given in handed.values() for node in walk(given)):
            return ""
        shape, fresh = launch_shape(self._usage, kernel, tuple(handed), block)
        text = shape.grid[place.axis]
        return "" if text in fresh or text.isdigit() else _told(text, handed, values)

    def _block(self, place: _Place, values: Mapping[str, str]) -> Block | None:
        """Returns the block of a launch where only numbers decide it; else None."""
        scope = Scope(self._usage, place.inside)
        named = {inner: outer for inner, outer in place.names.items() if values.get(outer, "").isdigit()}
        numbers = {inner: Number(int(values[outer])) for inner, outer in named.items()}
        extents = [scope.resolve(substitute(n, numbers)) for n in dimensions(scope, place.launch.block.text)]
        sizes = [extent.value for extent in extents if isinstance(extent, Number) and isinstance(extent.value, int)]
        if not extents or len(sizes) < len(extents):
            return None
        x, y, z = (*sizes, 1, 1)[:3]
        return x, y, z

    def _kernel(self, launch: Launch) -> Function | None:
        """Returns the kernel that is launched, of the file or of a header."""
        name = unqualified(launch.kernel)
        kernels = (*self._usage.program.kernels, *self._usage.header_kernels)
        return next((k for k in kernels if k.name == name and len(k.params) == len(launch.args)), None)

    def _handed(self, kernel: Function, place: _Place) -> Mapping[str, Node]:
        """Returns the numbers that `kernel` takes in terms of the entry's arguments, by their symbols.

        Fields of structs are among them.
        """
        scope, found = Scope(self._usage, place.inside), dict[str, Node]()
        outer = {inner: Name(name) for inner, name in place.names.items()}
        for param, given in zip(kernel.params, place.launch.args, strict=True):
            node = quietly(given.text)
            for field in self._usage.records.fields(kernel, param) or (param,) if node is not None else ():
                inner = quietly(f"given{field.name.removeprefix(param.name)}")
                if inner is not None and node is not None and not self._usage.types.of(field, kernel).pointers:
                    found[symbol(field.name)] = substitute(
                        substitute(inner, {"given": scope.resolve(node)}, 1), outer, 1
                    )
        return found


def _taken(extents: Sequence[Node], names: Mapping[str, str], triples: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yields the arguments that the extents of a grid or block are, each with its axis."""
    match extents:
        case (Name(name),) if names.get(name) in triples:
            yield from ((axis, f"{names[name]}.{component}") for axis, component in enumerate(_AXES))
            return
    for axis, extent in enumerate(extents):
        match extent:
            case Name(name) if name in names:
                yield axis, names[name]
            case Member(Name(name), component) if name in names:
                yield axis, f"{names[name]}.{component}"


def _told(text: str, handed: Mapping[str, Node], values: Mapping[str, str]) -> str:
    """Returns an extent of a kernel's launch in terms of symbols; empty where it depends on anything else."""
    node = quietly(text)
    outer = _valued(substitute(node, handed, 1), values) if node is not None else None
    return render(outer) if outer is not None else ""


def _is_argument(node: Node, name: str) -> bool:
    return isinstance(node, Name | Member) and render(node) == name


def _valued(node: Node, values: Mapping[str, str]) -> Node | None:
    """Returns `node` with the values of the arguments that it names; None where one of them has none."""
    if isinstance(node, Name | Member):
        return quietly(values.get(render(node), ""))
    parts = [_valued(child, values) for child in children(node)]
    known = [part for part in parts if part is not None]
    return rebuild(node, known) if len(known) == len(parts) else None
