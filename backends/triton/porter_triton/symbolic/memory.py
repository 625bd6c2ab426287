"""The buffers of an execution: a node for each element, of the width with which a buffer is first used.

An address is a number: that of its buffer above `ADDRESS_BITS`, and a byte of it below. Programs of a launch run one
after the other, in no order that a device keeps; so none may use what another wrote, unless it has asked for it by an
atomic operation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from porter.contract.dtype import DType
from porter.launch_plan.steps import TensorView
from porter.launch_plan.views import extent_bytes
from porter.lift.nodes import Assumption, Graph, Node, Nodes, NotLiftedError
from porter_triton.requests import ADDRESS_BITS
from porter_triton.symbolic import whole_numbers
from porter_triton.symbolic.keys import bits_of, float_of
from porter_triton.symbolic.request import InputTensor
from porter_triton.symbolic.values import ADDRESS, Data, Values, distinct, is_float, item_bytes

Mask = NDArray[np.bool_]
_INSIDE = (1 << ADDRESS_BITS) - 1


def _none() -> NDArray[np.int64]:
    return np.zeros(0, np.int64)


@dataclass
class _Buffer:
    """`cells` are elements of `item` bytes; 0 where nobody has used it. `read_by` and `written_by` are programs.

    `source` is the argument whose elements it holds. `guards` are the conditions under which elements were written that
    held nothing before.
    """

    size_bytes: int
    source: InputTensor | None = None
    content: bytes = b""
    item: int = 0
    cells: Nodes = field(default_factory=_none)
    read_by: NDArray[np.int64] = field(default_factory=_none)
    written_by: NDArray[np.int64] = field(default_factory=_none)
    is_written: bool = False
    guards: dict[int, set[Node]] = field(default_factory=dict)

    @property
    def named(self) -> str:
        return f"'{self.source.name}'" if self.source else "a buffer of its own"


class Memory:
    """The buffers of one execution, by their numbers."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._graph: Graph = values.graph
        self._buffers: dict[int, _Buffer] = {}
        self._program = self._launch_begin = 1
        self._launch = 0
        self._ordered = False

    def allocate(self, number: int, size_bytes: int) -> None:
        """New memory that holds nothing."""
        self._buffers[number] = _Buffer(size_bytes)

    def allocate_for(self, view: TensorView) -> None:
        """New memory for a tensor of its own."""
        self.allocate(view.buffer, extent_bytes(view)[1])

    def hold(self, number: int, source: InputTensor) -> None:
        """New memory with the elements of an argument."""
        count = int(np.prod(source.shape, dtype=np.int64))
        self._buffers[number] = _Buffer(count * source.dtype.bytes, source=source)

    def constant(self, number: int, content: bytes) -> None:
        """New memory with what a host wrote."""
        self._buffers[number] = _Buffer(len(content), content=content)

    # Tensors, as steps of a plan name them

    def read(self, view: TensorView) -> Nodes:
        """Returns the nodes of a tensor."""
        buffer = self._buffers[view.buffer]
        places = _places(view)
        if buffer.guards and not buffer.guards.keys().isdisjoint(places.ravel().tolist()):
            raise NotLiftedError(f"a value of the data decides whether elements of {buffer.named} are written at all")
        return self._taken_for(self._cells(buffer, view.dtype)[places], view.dtype)

    def write(self, view: TensorView, nodes: Nodes) -> None:
        """The elements of a tensor become `nodes`."""
        buffer, places = self._buffers[view.buffer], _places(view)
        self._cells(buffer, view.dtype)[places] = nodes
        buffer.is_written = True
        for place in places.ravel().tolist() if buffer.guards else ():
            buffer.guards.pop(place, None)

    def address(self, view: TensorView) -> int:
        """Returns the address of the first element of a tensor."""
        return ((view.buffer + 1) << ADDRESS_BITS) + view.offset * item_bytes(view.dtype)

    def held(self, number: int) -> Nodes:
        """Returns what a buffer that an argument came in holds, element by element."""
        buffer = self._buffers[number]
        assert buffer.source is not None
        cells = self._cells(buffer, buffer.source.dtype.value)
        return self._taken_for(cells, buffer.source.dtype.value)

    # Programs

    def begin_launch(self) -> None:
        """All that was asked for before is done."""
        self._launch += 1
        self._launch_begin = self._program + 1

    def begin_program(self) -> None:
        """The next program of the launch begins."""
        self._program += 1
        self._ordered = False

    def acquire(self) -> None:
        """The program asks, by an atomic operation, for what others have written."""
        self._ordered = True

    def load(self, pointers: Data, mask: Data, other: Nodes | None, dtype: str) -> Nodes:
        """Returns what is at `pointers` where `mask` holds, which are truth values or nodes of some, else `other`."""
        otherwise = np.broadcast_to(np.int64(self._graph.undefined) if other is None else other, pointers.shape)
        lanes, certain = self._lanes(mask)
        found = np.full(pointers.shape, self._graph.undefined, np.int64)
        for buffer, at, taking in self._by_buffer(pointers, lanes):
            found[taking] = self._loaded(buffer, at, pointers[taking], certain[taking], dtype)
        if mask.dtype == np.bool_:
            return np.where(mask, found, otherwise)
        return distinct(partial(self._graph.make, "select", dtype), mask, found, otherwise)

    def store(self, pointers: Data, nodes: Nodes, mask: Data, dtype: str) -> None:
        """Puts `nodes` at `pointers` where `mask` holds."""
        lanes, certain = self._lanes(mask)
        self._refuse_undefined(mask)
        nodes = np.broadcast_to(nodes, pointers.shape)
        for buffer, at, taking in self._by_buffer(pointers, lanes):
            places = self._numbered(buffer, at, pointers[taking], dtype, "writes")
            new, cells = nodes[taking], self._cells(buffer, dtype)
            undecided = ~certain[taking]
            if undecided.any():
                held = self._taken_for(cells[places], dtype)
                select = partial(self._graph.make, "select", dtype)
                new = np.where(undecided, distinct(select, mask[taking], new, held), new)
                self._guard(buffer, places[undecided], mask[taking][undecided])
            for place in places[~undecided].tolist() if buffer.guards else ():
                buffer.guards.pop(place, None)
            self._check_one_value(places, new)
            self._check_written(buffer, places, new)
            cells[places] = new
            buffer.written_by[places] = self._program
            buffer.is_written = True

    def update(self, op: Callable[..., Node], pointers: Data, nodes: Nodes, mask: Data, dtype: str) -> Nodes:
        """`op` of what is at `pointers` and `nodes`, lane after lane; returns numbers that were there before.

        What depends on data is an `outcome` node: it is another in each order.
        """
        lanes, certain = self._lanes(mask)
        if (lanes & ~certain).any():
            raise NotLiftedError("a value of the data decides which elements are updated atomically")
        self._refuse_undefined(mask)
        self._graph.assumptions.add(Assumption.ANY_ORDER)
        nodes = np.broadcast_to(nodes, pointers.shape)
        before = np.full(pointers.shape, self._graph.undefined, np.int64)
        for buffer, at, taking in self._by_buffer(pointers, lanes):
            places = self._numbered(buffer, at, pointers[taking], dtype, "updates")
            cells, old = self._cells(buffer, dtype), []
            for place, node in zip(places.tolist(), nodes[taking].tolist(), strict=True):
                held = int(self._taken_for(cells[place : place + 1], dtype)[0])
                cells[place] = op(dtype, held, node)
                old.append(held if self._graph.value(held) is not None else self._graph.make("outcome", dtype, held))
            before[taking] = old
            buffer.written_by[places] = self._program
            buffer.is_written = True
        return before

    def exchange(self, pointers: Data, wanted: Nodes, new: Nodes, dtype: str) -> Nodes:
        """Puts numbers of `new` where those of `wanted` are, lane after lane; returns what was there before."""
        self._graph.assumptions.add(Assumption.ANY_ORDER)
        before = np.full(pointers.shape, self._graph.undefined, np.int64)
        wanted, new = np.broadcast_to(wanted, pointers.shape), np.broadcast_to(new, pointers.shape)
        for buffer, at, taking in self._by_buffer(pointers, np.ones(pointers.shape, np.bool_)):
            places, cells, old = self._numbered(buffer, at, pointers[taking], dtype, "updates"), buffer.cells, []
            for place, value, node in zip(places.tolist(), wanted[taking].tolist(), new[taking].tolist(), strict=True):
                held = int(self._taken_for(cells[place : place + 1], dtype)[0])
                numbers = self._graph.value(held), self._graph.value(value)
                if None in numbers:
                    raise NotLiftedError("it compares a value of the data in an atomic exchange")
                cells[place] = node if numbers[0] == numbers[1] else held
                old.append(held)
            before[taking] = old
            buffer.written_by[places] = self._program
            buffer.is_written = True
        return before

    def _lanes(self, mask: Data) -> tuple[Mask, Mask]:
        """The lanes that may take part, and those of which that is certain, whether they do or not."""
        if mask.dtype == np.bool_:
            return mask, np.ones(mask.shape, np.bool_)
        number = self._values.is_number(mask)
        true = number & (distinct(lambda node: int(bool(self._graph.value(node))), mask) != 0)
        return true | (~number & (mask != self._graph.undefined)), number | (mask == self._graph.undefined)

    def _refuse_undefined(self, mask: Data) -> None:
        if mask.dtype != np.bool_ and (mask == self._graph.undefined).any():
            raise NotLiftedError("a value that is not defined decides what is written")

    def _by_buffer(self, pointers: Data, lanes: Mask) -> Iterator[tuple[_Buffer, NDArray[np.int64], Mask]]:
        """The buffers that addresses lie in, with the bytes that they name and the lanes that name them."""
        base = (pointers["base"] if pointers.dtype == ADDRESS else pointers).astype(np.int64)
        numbers = (base >> ADDRESS_BITS) - 1
        lanes = np.broadcast_to(lanes, pointers.shape)
        for number in np.unique(numbers[lanes]).tolist():
            if number not in self._buffers:
                raise NotLiftedError("it uses an address outside of every tensor")
            taking = lanes & (numbers == number)
            yield self._buffers[number], base[taking] & _INSIDE, taking

    def _numbered(
        self, buffer: _Buffer, at: NDArray[np.int64], pointers: Data, dtype: str, does: str
    ) -> NDArray[np.int64]:
        """Returns which elements addresses name, all of which have to be numbers and inside."""
        places = at // item_bytes(dtype)
        if pointers.dtype == ADDRESS:
            if not self._values.is_number(pointers["place"]).all():
                raise NotLiftedError(f"a value of the data decides what it {does} in {buffer.named}")
            places = places + self._values.integers(pointers["place"])
        outside = (places < 0) | (places >= buffer.size_bytes // item_bytes(dtype))
        if outside.any():
            count = buffer.size_bytes // item_bytes(dtype)
            raise NotLiftedError(f"it {does} element {places[outside][0]} of {buffer.named}, which has {count}")
        return places

    def _loaded(self, buffer: _Buffer, at: NDArray[np.int64], pointers: Data, certain: Mask, dtype: str) -> Nodes:
        cells, width = self._cells(buffer, dtype), item_bytes(dtype)
        places, count = at // width, buffer.size_bytes // width
        if pointers.dtype != ADDRESS:
            return self._read(buffer, cells, places, certain, dtype)
        known = self._values.is_number(pointers["place"])
        found = np.full(places.shape, self._graph.undefined, np.int64)
        if known.any():
            whole = places[known] + self._values.integers(pointers["place"][known])
            found[known] = self._read(buffer, cells, whole, certain[known], dtype)
        open_ = ~known & (pointers["place"] != self._graph.undefined)
        if open_.any():
            if buffer.source is None or buffer.is_written:
                raise NotLiftedError("a value of the data decides which element it reads of what it computed itself")
            found[open_] = self._gathered(buffer.source, places[open_], pointers["place"][open_], count)
        return self._taken_for(found, dtype)

    def _read(self, buffer: _Buffer, cells: Nodes, places: NDArray[np.int64], certain: Mask, dtype: str) -> Nodes:
        outside = (places < 0) | (places >= len(cells))
        if (outside & certain).any():
            which = places[outside & certain][0]
            raise NotLiftedError(f"it reads element {which} of {buffer.named}, which has {len(cells)}")
        inside = places[~outside]
        found = np.full(places.shape, self._graph.undefined, np.int64)
        found[~outside] = self._taken_for(cells[inside], dtype)
        by = buffer.written_by[inside]
        if not self._ordered and ((by >= self._launch_begin) & (by != self._program)).any():
            raise NotLiftedError("a program reads what another one of the same launch wrote")
        last = buffer.read_by[inside]
        other = (last == -self._launch) | ((last >= self._launch_begin) & (last != self._program))
        buffer.read_by[inside] = np.where(other, -self._launch, self._program)
        return found

    def _gathered(self, source: InputTensor, places: NDArray[np.int64], offsets: Nodes, count: int) -> Nodes:
        dtype = source.dtype.value
        if count == 0:
            raise NotLiftedError(f"it reads an element of '{source.name}', which has none")
        begins = self._values.numbers(places, "int64")
        found = distinct(partial(whole_numbers.make, self._graph, "add", "int64"), begins, offsets)
        return distinct(lambda at: self._graph.gather(source.name, at, dtype), found)

    def _guard(self, buffer: _Buffer, places: NDArray[np.int64], conditions: Nodes) -> None:
        """Elements are written under `conditions`: what held nothing does so still where none of them is true."""
        for place, condition in zip(places.tolist(), conditions.tolist(), strict=True):
            if int(buffer.cells[place]) == self._graph.undefined:
                buffer.guards[place] = {condition}
            elif place in buffer.guards:
                if self._graph.make("not", "bool", condition) in buffer.guards[place] or any(
                    self._graph.make("not", "bool", other) == condition for other in buffer.guards[place]
                ):
                    del buffer.guards[place]
                else:
                    buffer.guards[place].add(condition)

    def _check_one_value(self, places: NDArray[np.int64], nodes: Nodes) -> None:
        if len(places) < 2 or bool((places[1:] > places[:-1]).all()):
            return
        order = np.argsort(places, kind="stable")
        same = places[order][1:] == places[order][:-1]
        if (same & (nodes[order][1:] != nodes[order][:-1])).any():
            raise NotLiftedError("two lanes write different values to one element")

    def _check_written(self, buffer: _Buffer, places: NDArray[np.int64], nodes: Nodes) -> None:
        if self._ordered:
            return
        changed = buffer.cells[places] != nodes
        by, last = buffer.written_by[places], buffer.read_by[places]
        if (changed & (by >= self._launch_begin) & (by != self._program)).any():
            raise NotLiftedError("two programs of a launch write different values to one element")
        read = (last == -self._launch) | ((last >= self._launch_begin) & (last != self._program))
        if (changed & read).any():
            raise NotLiftedError("a program overwrites what another one of the same launch reads")

    # Cells

    def _cells(self, buffer: _Buffer, dtype: str) -> Nodes:
        """The nodes of a buffer as elements of the width of the type called `dtype`."""
        item = item_bytes(dtype)
        if buffer.item not in (0, item):
            self._renew(buffer)
        if buffer.item == 0:
            self._open(buffer, dtype)
        return buffer.cells

    def _open(self, buffer: _Buffer, dtype: str) -> None:
        count = buffer.size_bytes // item_bytes(dtype)
        if buffer.source is not None:
            made = self._inputs(buffer.source, dtype)
        elif buffer.content:
            made = self._contents(buffer.content, dtype)
        else:
            made = np.full(count, self._graph.undefined, np.int64)
        buffer.item, buffer.cells = item_bytes(dtype), made
        buffer.read_by, buffer.written_by = np.zeros(count, np.int64), np.zeros(count, np.int64)

    def _inputs(self, source: InputTensor, dtype: str) -> Nodes:
        if source.dtype.bytes != item_bytes(dtype):
            raise NotLiftedError(f"it takes elements of '{source.name}', which are {source.dtype}, for {dtype}")
        count = int(np.prod(source.shape, dtype=np.int64))
        return np.array([self._graph.read(source.name, at, source.dtype.value) for at in range(count)], np.int64)

    def _contents(self, content: bytes, dtype: str) -> Nodes:
        stored = np.frombuffer(content, DType(dtype).storage)
        if not is_float(dtype):
            return self._values.numbers(stored, dtype)
        whole = self._values.numbers(stored.view(f"u{stored.itemsize}").astype(np.int64), "int64")
        return distinct(lambda node: float_of(self._graph, node, dtype), whole)

    def _renew(self, buffer: _Buffer) -> None:
        """Another width is taken where nothing is lost: of memory that holds nothing, or zeros."""
        undefined = bool((buffer.cells == self._graph.undefined).all())
        zeros = all(self._graph.value(node) == 0 for node in np.unique(buffer.cells).tolist())
        if buffer.source is not None or not (undefined or zeros):
            raise NotLiftedError(f"it uses {buffer.named} with elements of two widths")
        buffer.content = b"" if undefined else bytes(buffer.size_bytes)
        buffer.item = 0

    def _taken_for(self, nodes: Nodes, dtype: str) -> Nodes:
        """Returns what memory holds as elements of the type called `dtype`: floats as bits, bits as floats."""
        wants_float = is_float(dtype)

        def taken(node: Node) -> Node:
            held = self._graph.type_of(node)
            if node == self._graph.undefined or is_float(held) == wants_float:
                return node
            return float_of(self._graph, node, dtype) if wants_float else bits_of(self._graph, node, held, dtype)

        return distinct(taken, nodes)


def _places(view: TensorView) -> NDArray[np.int64]:
    """The elements of a buffer that a tensor has."""
    places = np.full(view.shape, view.offset, np.int64)
    for axis, (extent, stride) in enumerate(zip(view.shape, view.strides, strict=True)):
        shape = [1] * len(view.shape)
        shape[axis] = extent
        places = places + stride * np.arange(extent, dtype=np.int64).reshape(shape)
    return places
