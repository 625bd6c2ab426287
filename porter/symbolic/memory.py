"""Buffers of nodes: one for each element, of the width with which a buffer is first used.

Addresses are those of `interpret/memory.py`: the buffer's number above, a byte of it below.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from porter.contract.model.dtype import DType
from porter.ir.simt.interpret.domain import Data, Datum, Mask, is_symbolic
from porter.ir.simt.types import Element, Scalar, Vector
from porter.launch_plan.steps import TensorView
from porter.lift.nodes import Assumption, Node, Nodes, NoTensorProgramError, NotLiftedError
from porter.symbolic.commuted import Commuted
from porter.symbolic.domain import PLACED, Symbolic
from porter.symbolic.races import Order, Shadow, of_several
from porter.symbolic.values import dtype_of

_BITS = 40
_INSIDE = (1 << _BITS) - 1


@dataclass(frozen=True, slots=True)
class Source:
    """A tensor whose elements are symbols."""

    name: str
    dtype: DType
    count: int


@dataclass
class _Buffer:
    """`cells` are elements of `item` bytes, in rows of `size` bytes that lie `stride` apart; none before it is used.

    `guards` are the conditions under which elements were written that held nothing before.
    """

    size: int
    stride: int
    rows: int
    source: Source | None = None
    content: bytes = b""
    item: int = 0
    cells: Nodes | None = None
    shadow: Shadow | None = None
    is_written: bool = False
    guards: dict[int, set[Node]] = field(default_factory=dict)


class Cells:
    """The memory of nodes."""

    def __init__(self, domain: Symbolic) -> None:
        self._domain, self._graph = domain, domain.graph
        self._commuted = Commuted(self._graph)
        self.order = Order()
        self.is_contested = False  # an atomic found what it would not have found in another order
        self._buffers: dict[int, _Buffer] = {}
        self._next = 1

    def allocate(self, size_bytes: int, rows: int) -> tuple[int, int]:
        """Makes `rows` memories of `size_bytes`, which hold nothing."""
        stride = -(-size_bytes // 64) * 64 + 64
        return self._add(_Buffer(size_bytes, stride, rows)), stride

    def hold(self, source: Source) -> int:
        """Returns the address of a new buffer with the elements of a tensor."""
        size = source.count * source.dtype.bytes
        return self._add(_Buffer(size, max(size, 1), 1, source))

    def constant(self, content: bytes) -> int:
        """Returns the address of a new buffer with what a host wrote."""
        return self._add(_Buffer(len(content), max(len(content), 1), 1, content=content))

    def _add(self, buffer: _Buffer) -> int:
        number, self._next = self._next, self._next + 1
        self._buffers[number] = buffer
        return number << _BITS

    def free(self, address: int) -> None:
        """Takes back what was allocated at `address`."""
        del self._buffers[address >> _BITS]

    def cells(self, address: int, dtype: DType) -> Nodes:
        """Returns the elements of the buffer at `address`, which changes with them."""
        buffer = self._buffers[address >> _BITS]
        if buffer.guards:
            raise NotLiftedError("a value of the data decides whether an element is written at all")
        return self._opened(buffer, dtype)

    def refill(self, address: int, to: TensorView, byte: int) -> bool:
        """Makes every byte of a buffer the same one, if `to` is all of it; returns whether it is."""
        buffer = self._buffers[address >> _BITS]
        if buffer.source is not None or to.offset or to.shape != (buffer.size,):
            return False
        buffer.content, buffer.cells, buffer.is_written = bytes([byte]) * buffer.size, None, False
        buffer.guards.clear()
        return True

    def written(self, address: int) -> None:
        """Notes that the host has written to a buffer."""
        self._buffers[address >> _BITS].is_written = True

    def load(self, addresses: Data, mask: Mask, type: Element, *, noted: bool = False) -> Datum:
        """Returns the elements at `addresses` in the lanes of `mask`."""
        if isinstance(type, Vector):
            element = type.element
            return tuple(
                self._loaded(self._domain.moved(addresses, np.array(n), element.bytes, mask), mask, element)
                for n in range(type.count)
            )
        return self._loaded(addresses, mask, type, noted=noted)

    def store(
        self, addresses: Data, value: Datum, mask: Mask, predicate: Data | None, type: Element, *, noted: bool = False
    ) -> None:
        """Puts `value` at `addresses` in the lanes of `mask`; where `predicate` is true, if given."""
        if isinstance(type, Vector):
            for number, part in enumerate(value):
                at = self._domain.moved(addresses, np.array(number), type.element.bytes, mask)
                self._put(at, part, mask, predicate, type.element)
            return
        assert isinstance(value, np.ndarray | np.generic)
        self._put(addresses, value, mask, predicate, type, noted=noted)

    def note_updates(self, addresses: Data, mask: Mask, kind: str, type: Scalar) -> Mask:
        """Notes that the lanes of `mask` update elements by atomics of one kind."""
        if type.is_float:
            self._graph.assumptions.add(Assumption.ANY_ORDER)
        if addresses.dtype == PLACED:
            raise NoTensorProgramError("a value of the data decides which elements are updated atomically")
        contested = np.zeros(mask.shape, np.bool_)
        for buffer, taking, places in self._places(addresses[mask], type):
            self._opened(buffer, DType(dtype_of(type)))
            lanes = np.flatnonzero(mask)[taking]
            contested[lanes] = self.order.update(self._shadow(buffer), places, lanes, kind)
        self.is_contested |= bool(contested.any())
        return contested

    def _loaded(self, addresses: Data, mask: Mask, type_: Scalar, *, noted: bool = False) -> Data:
        found = np.full(mask.shape, self._graph.undefined, np.int64)
        if addresses.dtype == PLACED:
            found[mask] = self._gathered(addresses[mask], type_)
            for number in np.unique(addresses["base"][mask] >> _BITS).tolist():
                buffer = self._buffers[number]
                self._opened(buffer, DType(dtype_of(type_)))
                self.order.read_any(self._shadow(buffer))
        else:
            lanes = np.broadcast_to(addresses, mask.shape)[mask]
            taken = np.zeros(lanes.shape, np.int64)
            for buffer, taking, places in self._places(lanes, type_):
                cells = self._opened(buffer, DType(dtype_of(type_)))
                taken[taking] = self._domain.keys.taken_for(cells[places], type_)
                if not noted:
                    self.order.read(self._shadow(buffer), places, np.flatnonzero(mask)[taking])
            found[mask] = taken
            if np.ndim(addresses) == 0 and taken.size:
                found = np.array(taken[0], np.int64)
        defined = (
            found if np.ndim(found) == 0 or type_.is_float else np.where(mask, found, self._any_known(found, mask))
        )
        return self._domain.values.data(defined, type_)

    def _any_known(self, found: Nodes, mask: Mask) -> int:
        """Returns a node for lanes that load nothing: one that is there anyway."""
        return int(found[mask][0]) if mask.any() else self._graph.undefined

    def _gathered(self, placed: Data, type_: Scalar) -> Nodes:
        made = []
        for base, place, size in placed.tolist():
            buffer = self._buffers.get(base >> _BITS)
            if buffer is None or buffer.source is None or buffer.is_written or size != type_.bytes:
                raise NotLiftedError("a value of the data decides which element it reads of what it computed itself")
            begin = self._graph.number((base & _INSIDE) // size, "int64")
            at = self._graph.make("add", "int64", begin, place)
            made.append(self._graph.gather(buffer.source.name, at, buffer.source.dtype.value))
        return np.array(made, np.int64)

    def _put(
        self, addresses: Data, value: Data, mask: Mask, predicate: Data | None, type_: Scalar, *, noted: bool = False
    ) -> None:
        if addresses.dtype == PLACED:
            raise NoTensorProgramError("a value of the data decides where it writes")
        lanes = np.broadcast_to(addresses, mask.shape)[mask]
        nodes = np.broadcast_to(self._domain.values.nodes(value, type_), mask.shape)[mask]
        conditions = None
        if predicate is not None:
            conditions = np.broadcast_to(self._domain.values.nodes(predicate, Scalar.BOOL), mask.shape)[mask]
        for buffer, taking, places in self._places(lanes, type_):
            cells, new = self._opened(buffer, DType(dtype_of(type_))), nodes[taking]
            held = cells[places]
            if not noted:
                sure = np.ones(len(new), np.bool_) if conditions is None else self._is_sure(conditions[taking])
                self._check_alike(places, new, sure)
                changed = (held != new) | ~sure
                self.order.write(self._shadow(buffer), places, np.flatnonzero(mask)[taking], changed)
            if conditions is not None:
                self._guard(buffer, places, held, conditions[taking])
                new = self._graph.apply("select", dtype_of(type_), conditions[taking], new, held)
            elif buffer.guards:
                for place in places.tolist():
                    buffer.guards.pop(place, None)
            cells[places] = new
            buffer.is_written = True

    def _is_sure(self, conditions: Nodes) -> Mask:
        return np.array([self._graph.value(node) is not None for node in conditions.tolist()], np.bool_)

    def _check_alike(self, places: Nodes, nodes: Nodes, sure: Mask) -> None:
        """Checks that lanes that write one element at once write one value."""
        for lanes in of_several(places):
            if len(set(self._commuted.classes(nodes[lanes].tolist()))) > 1 or not sure[lanes].all():
                raise NotLiftedError("several threads write different values to one element")

    def _guard(self, buffer: _Buffer, places: Nodes, held: Nodes, conditions: Nodes) -> None:
        """Notes which elements that held nothing are written under a condition, until its opposite has come."""
        for place, node, condition in zip(places.tolist(), held.tolist(), conditions.tolist(), strict=True):
            if self._graph.value(condition) is not None:
                continue
            if node == self._graph.undefined:
                buffer.guards[place] = {condition}
            elif place in buffer.guards:
                opposite = self._graph.make("not", "bool", condition)
                if opposite in buffer.guards[place] or any(
                    self._graph.make("not", "bool", other) == condition for other in buffer.guards[place]
                ):
                    del buffer.guards[place]
                else:
                    buffer.guards[place].add(condition)

    def _places(self, addresses: Data, type_: Scalar) -> Iterator[tuple[_Buffer, Mask, Nodes]]:
        """Yields each buffer with the addresses that lie in it, and their elements there."""
        if is_symbolic(addresses):
            raise NotLiftedError("a value of the data decides an address")
        numbers = addresses >> _BITS
        for number in np.unique(numbers).tolist():
            taking = numbers == number
            offsets = addresses[taking] & _INSIDE
            buffer = self._buffers.get(number)
            if buffer is None:
                raise NotLiftedError("it uses an address outside of every tensor")
            row, at = offsets // buffer.stride, offsets % buffer.stride
            if (row >= buffer.rows).any() or (at + type_.bytes > buffer.size).any():
                furthest = int((offsets if buffer.rows == 1 else at).max())
                raise NotLiftedError(f"it uses byte {furthest} of a memory of {buffer.size} bytes")
            yield buffer, taking, offsets // type_.bytes

    @staticmethod
    def _shadow(buffer: _Buffer) -> Shadow:
        """Returns the accesses to the elements of a buffer, which are of one width."""
        assert buffer.cells is not None
        if buffer.shadow is None or buffer.shadow.count != len(buffer.cells):
            buffer.shadow = Shadow(len(buffer.cells))
        return buffer.shadow

    def _opened(self, buffer: _Buffer, dtype: DType) -> Nodes:
        """The nodes of a buffer as elements of the width of `dtype`."""
        width = dtype.bytes
        if buffer.cells is None or (buffer.item != width and not buffer.is_written):
            buffer.item, buffer.cells = width, self._fresh(buffer, dtype)
        if buffer.item != width and self._is_zero(buffer):
            count = buffer.stride * buffer.rows // width
            buffer.item, buffer.cells = width, np.full(count, self._graph.number(0, dtype.value), np.int64)
        if buffer.item != width:
            raise NotLiftedError("memory is used as elements of different sizes")
        return buffer.cells

    def _is_zero(self, buffer: _Buffer) -> bool:
        """Returns whether every byte of a buffer is 0, of whatever type its elements were."""
        assert buffer.cells is not None
        inside = np.unique(buffer.cells[: -(-buffer.size // buffer.item)]).tolist()
        return buffer.rows == 1 and all(self._graph.value(node) == 0 for node in inside)

    def _fresh(self, buffer: _Buffer, dtype: DType) -> Nodes:
        count = -(-buffer.stride * buffer.rows // dtype.bytes)
        if buffer.source is not None:
            source = buffer.source
            if source.dtype.bytes != dtype.bytes:
                raise NotLiftedError(f"'{source.name}' is read as elements of another size")
            made = [self._graph.read(source.name, at, source.dtype.value) for at in range(source.count)]
            return np.array(made, np.int64)
        if buffer.content:
            kind = DType(f"uint{8 * dtype.bytes}")
            numbers = np.frombuffer(buffer.content[: buffer.size // dtype.bytes * dtype.bytes], kind.storage)
            made = [self._graph.number(int(number), kind.value) for number in numbers]
            return np.array([*made, *[self._graph.undefined] * (count - len(made))], np.int64)
        return np.full(count, self._graph.undefined, np.int64)
