"""The steps of a plan as bytes: what a planning executable records, and what the one that carries them out reads.

The executor's sides are `runtime/plan.cpp` and `runtime/replay.cpp`. A recorded step names device memory by addresses
that hold nothing; here they become buffers and offsets, wherever they stand: in arguments, structs and tables.
"""

from __future__ import annotations

import base64
import math
import struct
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from types import MappingProxyType

import numpy as np

from porter.contract.model.dtype import DType
from porter.execution.job import TensorValue
from porter.launch_plan.steps import (
    OUT,
    Allocate,
    Argument,
    Bytes,
    Compute,
    Constant,
    Fill,
    Free,
    Input,
    KernelName,
    Launch,
    LaunchPlan,
    Move,
    Pointer,
    Read,
    Return,
    Scalar,
    Step,
    TensorView,
    Variable,
)
from porter.simt.elf import Elf
from porter.simt.stream_order import Order, Work

_MEMORY_BYTES = 1 << 38  # of addresses: runtime/regions.h
_NO_MEMORY = 0x6000_0000_0000  # what a kernel gets for an address of the host: none of its own
_DTYPES = tuple(DType)
_WORD = struct.Struct("<Q")
_FRAMES = "8I"
_KERNEL = "kernel"


class _Kind(IntEnum):
    """Kinds of step, as runtime/plan.h has them."""

    INPUT = 0
    ALLOCATE = 1
    FREE = 2
    VARIABLE = 3
    CONSTANT = 4
    MOVE = 5
    FILL = 6
    READ = 7
    LAUNCH = 8
    CALL = 9
    RETURN = 10
    MOVE_ELEMENTS = 11
    FILL_ELEMENTS = 12
    ORDER = 13  # of the work before
    END = 14  # of a call: the work that comes before it
    COMPUTE = 15
    LIBRARY = 16  # an operator that is a kernel of a library's


class PlanError(ValueError):
    """The recording is no plan; the message says why."""


@dataclass
class _Reader:
    """Bytes that are read from the begin on."""

    data: bytes
    at: int = 0

    def take(self, layout: str) -> tuple[int, ...]:
        values: tuple[int, ...] = struct.unpack_from(f"<{layout}", self.data, self.at)
        self.at += struct.calcsize(f"<{layout}")
        return values

    def one(self, layout: str) -> int:
        return self.take(layout)[0]

    def raw(self, count: int) -> bytes:
        if count > len(self.data) - self.at:
            raise PlanError("a step is cut short")
        self.at += count
        return self.data[self.at - count : self.at]

    def text(self) -> str:
        return self.raw(self.one("I")).decode("utf-8", "replace")


@dataclass
class _Recorded:
    """Reads the steps of a planning executable, whose symbols `host` has; device memory begins at `base`."""

    host: Elf
    base: int
    starts: list[int] = field(default_factory=list)
    buffers: list[tuple[int, int]] = field(default_factory=list)  # number and size in bytes, in the order of `starts`
    functions: dict[int, str] = field(default_factory=dict)
    returned: list[TensorValue | None] = field(default_factory=list)
    places: dict[tuple[int, ...], int] = field(default_factory=dict)  # numbers of where host code calls operators

    def add(self, number: int, base: int, size: int) -> None:
        at = bisect_right(self.starts, base)
        self.starts.insert(at, base)
        self.buffers.insert(at, (number, size))

    def step(self, data: bytes) -> tuple[Step, ...]:
        """The steps that one record stands for."""
        reader = _Reader(data)
        kind = _Kind(reader.one("B"))
        match kind:
            case _Kind.INPUT:
                number, argument, base, size = reader.take("IIQQ")
                self.add(number, base, size)
                return (Input(number, argument),)
            case _Kind.ALLOCATE:
                number, base, size, shared = reader.take("IQQB")
                self.add(number, base, size)
                return (Allocate(number, size, reader.text(), bool(shared)),)
            case _Kind.FREE:
                return (Free(reader.one("I")),)
            case _Kind.VARIABLE:
                number, base, size, address = reader.take("IQQQ")
                self.add(number, base, size)
                return (Variable(number, self.host.variable_at(address), size),)
            case _Kind.CONSTANT:
                number, size = reader.take("IQ")
                content, pointers = self.bytes_of(reader.raw(size))
                return (Constant(number, content, pointers),)
            case _Kind.READ:
                source, at, size = reader.take("IqQ")
                return (Read(_bytes_at(source, at, size)),)
            case _Kind.LAUNCH:
                return (self.launch(reader),)
            case _Kind.COMPUTE:
                return (_computed(reader, self.place(reader)),)
            case _Kind.LIBRARY:
                return (self.library(reader, self.place(reader)),)
            case _Kind.RETURN:
                return (Return(tuple(self.result(reader) for _ in range(reader.one("I")))),)
            case _:
                return (_written(kind, reader),)

    def launch(self, reader: _Reader) -> Launch:
        place, *grid, bx, by, bz = reader.take("Q6I")
        shared_bytes, line = reader.take("Qi")
        written, file = reader.text(), reader.text()
        arguments = self.arguments(reader)
        options: dict[str, int | str] = {
            "block_x": bx,
            "block_y": by,
            "block_z": bz,
            "shared_bytes": shared_bytes,
            "as": written,
            "file": file,
        }
        gx, gy, gz = grid
        return Launch(
            self.function(place),
            (gx, gy, gz),
            arguments,
            tuple((name, Scalar(value)) for name, value in options.items()),
            line=line,
        )

    def library(self, reader: _Reader, place: int) -> Compute:
        """Returns what a library's function does: its name, its kernel, where that writes, and its arguments."""
        name, kernel = reader.text(), self.function(reader.one("Q"))
        arguments: list[tuple[str, Argument]] = [(_KERNEL, KernelName(kernel))]
        for _ in range(reader.one("I")):
            buffer, at = reader.take("Iq")
            arguments.append((OUT, TensorView(buffer, "uint8", (), (), at)))
        return Compute(name, (*arguments, *self.arguments(reader)), (), line=place)

    def arguments(self, reader: _Reader) -> tuple[tuple[str, Argument], ...]:
        """Returns the arguments of a kernel, by their numbers."""
        found = list[tuple[str, Argument]]()
        for number in range(reader.one("I")):
            size, is_pointer = reader.take("IB")
            found.append((str(number), self.argument(reader.raw(size), number, bool(is_pointer))))
        return tuple(found)

    def function(self, place: int) -> str:
        """The symbol of the function that has the instruction at `place`."""
        if place not in self.functions:
            self.functions[place] = self.host.function_at(place)
        return self.functions[place]

    def place(self, reader: _Reader) -> int:
        """The number of where host code calls an operator."""
        frames = tuple(frame for frame in reader.take(_FRAMES) if frame)
        return self.places.setdefault(frames, len(self.places) + 1)

    def result(self, reader: _Reader) -> TensorView | Scalar:
        """A result: of the device, or a number of the host's, which is kept apart."""
        dtype = _DTYPES[reader.one("B")]
        shape = reader.take(f"{reader.one('I')}q")
        size, of_device = reader.take("QB")
        if of_device:
            buffer, at = reader.take("Iq")
            if min(shape, default=0) < 0:
                raise PlanError("a result has an impossible shape")
            self.returned.append(None)
            return _view(buffer, at, dtype, shape, tuple(_dense(shape)))
        raw = reader.raw(size)
        if min(shape, default=0) < 0 or size != math.prod(shape) * dtype.bytes:
            raise PlanError("a result is not of its shape")
        self.returned.append(TensorValue(dtype, shape, np.frombuffer(raw, dtype.storage).copy().reshape(shape)))
        return Scalar(_base64(raw))

    def argument(self, data: bytes, number: int, is_pointer: bool) -> Bytes:
        """The argument; an address of the host's is none that the device has."""
        content, pointers = self.bytes_of(data)
        if is_pointer and not pointers and any(data):
            return Bytes(_base64(_WORD.pack(_NO_MEMORY + number * 4096)))
        return Bytes(content, pointers)

    def bytes_of(self, data: bytes) -> tuple[str, tuple[Pointer, ...]]:
        """`data` in base 64, and what of it are addresses of the device; there it is zero."""
        found = list[Pointer]()
        whole = len(data) // 8 * 8
        for index, (word,) in enumerate(_WORD.iter_unpack(data[:whole])):
            if 0 <= word - self.base < _MEMORY_BYTES and self.starts:
                found.append(self.pointer(index * 8, word))
        if not found:
            return _base64(data), ()
        rest = bytearray(data)
        for pointer in found:
            rest[pointer.at : pointer.at + 8] = bytes(8)
        return _base64(bytes(rest)), tuple(found)

    def pointer(self, at: int, address: int) -> Pointer:
        """The buffer that is nearest to `address`."""
        after = bisect_right(self.starts, address)
        before = max(after - 1, 0)
        if 0 < after < len(self.starts):
            beyond = address - self.starts[before] - self.buffers[before][1]
            if beyond > self.starts[after] - address:
                before = after
        return Pointer(at, self.buffers[before][0], address - self.starts[before])


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _bytes_at(buffer: int, offset: int, size: int) -> TensorView:
    return TensorView(buffer, "uint8", (size,), (1,), offset)


def _written(kind: _Kind, reader: _Reader) -> Move | Fill:
    """A copy or a fill: of bytes, or of the elements of a tensor."""
    match kind:
        case _Kind.MOVE:
            to, to_at, source, source_at, size = reader.take("IqIqQ")
            return Move(_bytes_at(to, to_at, size), _bytes_at(source, source_at, size))
        case _Kind.FILL:
            to, at, size, byte = reader.take("IqQB")
            return Fill(_bytes_at(to, at, size), byte)
        case _Kind.MOVE_ELEMENTS:
            to, to_at, to_dtype, source, source_at, source_dtype, rank = reader.take("IqBIqBI")
            shape, to_strides, source_strides = (reader.take(f"{rank}q") for _ in range(3))
            target = _view(to, to_at, _DTYPES[to_dtype], shape, to_strides)
            return Move(target, _view(source, source_at, _DTYPES[source_dtype], shape, source_strides))
        case _Kind.FILL_ELEMENTS:
            to, at, size, bits, rank = reader.take("IqBQI")
            shape, strides = reader.take(f"{rank}q"), reader.take(f"{rank}q")
            return Fill(_view(to, at, DType(f"uint{8 * size}"), shape, strides), bits)
    raise PlanError("a step is of no known kind")


def _computed(reader: _Reader, place: int) -> Compute:
    """A step of an operator: what it writes, what it reads, and its numbers."""
    operator = reader.text()
    written, read = ([_tensor(reader) for _ in range(reader.one("I"))] for _ in range(2))
    numbers = reader.take(f"{reader.one('I')}d")
    inputs = [(str(place), view) for place, view in enumerate(read)]
    named = [(f"number {place}", Scalar(number)) for place, number in enumerate(numbers)]
    return Compute(operator, (*((OUT, view) for view in written), *inputs, *named), (), line=place)


def _tensor(reader: _Reader) -> TensorView:
    buffer, at, dtype, rank = reader.take("IqBI")
    shape, strides = reader.take(f"{rank}q"), reader.take(f"{rank}q")
    return _view(buffer, at, _DTYPES[dtype], shape, strides)


def _view(buffer: int, at: int, dtype: DType, shape: tuple[int, ...], strides: tuple[int, ...]) -> TensorView:
    if at % dtype.bytes:
        raise PlanError("a tensor is not aligned")
    return TensorView(buffer, dtype.value, shape, strides, at // dtype.bytes)


def _dense(shape: Sequence[int]) -> list[int]:
    strides, stride = list[int](), 1
    for extent in reversed(shape):
        strides.insert(0, stride)
        stride *= max(extent, 1)
    return strides


@dataclass(frozen=True, slots=True)
class Planned:
    """The plans of the calls of a job, in order. `returned` are results of the last that the host holds itself.

    Where the device holds it, the result is None there. `orders` are those of the calls; `places` are where host
    code calls operators, by their numbers from 1 on: each is the return addresses of the calls that lead there.
    """

    calls: tuple[LaunchPlan, ...]
    returned: tuple[TensorValue | None, ...]
    orders: tuple[Order, ...] = ()
    places: tuple[tuple[int, ...], ...] = ()


def read_plan(records: Sequence[bytes], host: Elf, base: int) -> Planned:
    """The plans that a planning executable with the symbols of `host` recorded, which has device memory at `base`.

    Raises `PlanError`.
    """
    recorded = _Recorded(host, base)
    calls: list[list[Step]] = [[]]
    works, ends = [dict[int, Work]()], list[Mapping[int, int] | None]((None,))
    try:
        for record in records:
            kind = record[0] if record else -1
            if kind == _Kind.CALL:
                calls.append([])
                works.append({})
                ends.append(None)
            elif kind == _Kind.ORDER:
                work = _work(_Reader(record, 1))
                works[-1][len(calls[-1]) - 1] = work
            elif kind == _Kind.END:
                ends[-1] = _clock(_Reader(record, 1))
            else:
                calls[-1].extend(recorded.step(record))
    except (struct.error, ValueError, IndexError, KeyError) as error:
        raise PlanError(f"what the host code asks of the device is not a plan: {error}") from None
    plans = tuple(LaunchPlan(tuple(steps)) for steps in calls)
    return Planned(plans, tuple(recorded.returned), tuple(map(Order, works, ends)), tuple(recorded.places))


def _work(reader: _Reader) -> Work:
    stream, time = reader.take("IQ")
    return Work(stream, time, _clock(reader))


def _clock(reader: _Reader) -> dict[int, int]:
    return {reader.one("I"): reader.one("Q") for _ in range(reader.one("I"))}


Places = Mapping[str, tuple[int, int]]


def write_plan(
    calls: Sequence[LaunchPlan],
    contents: Sequence[bytes],
    kernels: Mapping[str, int],
    variables: Places,
    others: Places = MappingProxyType({}),
) -> bytes:
    """The plans as the executable reads them whose `kernels` have these numbers.

    `contents` are the arguments of all calls but the first, `variables` the addresses and sizes of those that the
    source declares for the device, `others` of what else its code may use. Raises `PlanError` for a kernel that it does
    not have, and for what is no plan.
    """
    try:
        kept = b"".join(_storage(variables, of_source=True)) + b"".join(_storage(others, of_source=False))
        head = struct.pack("<I", len(variables) + len(others)) + kept
        return head + _written_plan(calls, contents, kernels, variables)
    except (struct.error, ValueError, OverflowError) as error:
        raise PlanError(f"what the host code asks of the device is not a plan: {error}") from None


def _written_plan(
    calls: Sequence[LaunchPlan], contents: Sequence[bytes], kernels: Mapping[str, int], variables: Places
) -> bytes:
    records = list[bytes]()
    for number, plan in enumerate(calls):
        if number:
            records.append(bytes((_Kind.CALL,)) + contents[number - 1])
        records.extend(_record(step, kernels, variables) for step in plan.steps)
    return struct.pack("<II", len(calls), len(records)) + b"".join(records)


def _storage(places: Places, *, of_source: bool) -> Iterator[bytes]:
    return (struct.pack("<QQB", *place, of_source) + _text(name) for name, place in places.items())


def _record(step: Step, kernels: Mapping[str, int], variables: Places) -> bytes:
    match step:
        case Input(buffer, argument):
            return struct.pack("<BII", _Kind.INPUT, buffer, argument)
        case Allocate(buffer, size, by, shared):
            return struct.pack("<BIQB", _Kind.ALLOCATE, buffer, size, shared) + _text(by)
        case Free(buffer):
            return struct.pack("<BI", _Kind.FREE, buffer)
        case Variable(buffer, name, size):
            place, extent = variables.get(name, (0, size))
            if extent != size:
                raise PlanError(f"the variable {name} has another size on the device")
            return struct.pack("<BIQQ", _Kind.VARIABLE, buffer, size, place)
        case Constant(buffer, content, pointers):
            return struct.pack("<BI", _Kind.CONSTANT, buffer) + _bytes(content, pointers)
        case Move(to, source):
            return _move(to, source)
        case Fill(to, value):
            return _fill(to, int(value))
        case Compute():
            return _compute(step, kernels)
        case Read(source):
            return struct.pack("<BIqQ", _Kind.READ, source.buffer, source.offset, source.shape[0])
        case Launch():
            return _launch(step, kernels)
        case Return(results):
            return _returned([result for result in results if isinstance(result, TensorView)])
    raise PlanError(f"a plan of C++ has no {type(step).__name__}")


def _fill(to: TensorView, value: int) -> bytes:
    if to.dtype == "uint8" and to.strides == (1,):
        return struct.pack("<BIqQB", _Kind.FILL, to.buffer, to.offset, to.shape[0], value)
    head = struct.pack("<BIq", _Kind.FILL_ELEMENTS, to.buffer, to.offset * DType(to.dtype).bytes)
    element = struct.pack("<BQI", DType(to.dtype).bytes, value, len(to.shape))
    return head + element + _words(to.shape, to.strides)


def _move(to: TensorView, source: TensorView) -> bytes:
    if to.dtype == source.dtype == "uint8" and to.strides == source.strides == (1,):
        both = (to.buffer, to.offset, source.buffer, source.offset)
        return struct.pack("<BIqIqQ", _Kind.MOVE, *both, to.shape[0])
    sides = b""
    for view in (to, source):
        dtype = DType(view.dtype)
        sides += struct.pack("<IqB", view.buffer, view.offset * dtype.bytes, _DTYPES.index(dtype))
    head = bytes((_Kind.MOVE_ELEMENTS,)) + sides + struct.pack("<I", len(to.shape))
    return head + _words(to.shape, to.strides, source.strides)


def _compute(step: Compute, kernels: Mapping[str, int]) -> bytes:
    if kernel := dict(step.arguments).get(_KERNEL):
        assert isinstance(kernel, KernelName)
        head = struct.pack("<BI", _Kind.LIBRARY, _number(kernel.name, step.operator, kernels))
        return head + _text(step.operator) + _passed(step.arguments)
    views = [(name, value) for name, value in step.arguments if isinstance(value, TensorView)]
    written, read = ([view for name, view in views if (name == OUT) is out] for out in (True, False))
    numbers = [float(value.value or 0) for _, value in step.arguments if isinstance(value, Scalar)]
    tensors = b"".join(struct.pack("<I", len(some)) + b"".join(map(_described, some)) for some in (written, read))
    ending = struct.pack(f"<I{len(numbers)}d", len(numbers), *numbers)
    return bytes((_Kind.COMPUTE,)) + _text(step.operator) + tensors + ending


def _described(view: TensorView) -> bytes:
    dtype = DType(view.dtype)
    head = struct.pack("<IqBI", view.buffer, view.offset * dtype.bytes, _DTYPES.index(dtype), len(view.shape))
    return head + _words(view.shape, view.strides)


def _words(*lists: tuple[int, ...]) -> bytes:
    return b"".join(struct.pack(f"<{len(words)}q", *words) for words in lists)


def _launch(step: Launch, kernels: Mapping[str, int]) -> bytes:
    options = {name: scalar.value for name, scalar in step.options}
    head = struct.pack("<BI3I", _Kind.LAUNCH, _number(step.kernel, str(options["as"]), kernels), *step.grid)
    sizes = [int(options[name] or 0) for name in ("block_x", "block_y", "block_z", "shared_bytes")]
    words = _text(str(options["as"])) + _text(str(options["file"]))
    return head + struct.pack("<3IQi", *sizes, step.line) + words + _passed(step.arguments)


def _number(kernel: str, named: str, kernels: Mapping[str, int]) -> int:
    if kernel not in kernels:
        raise PlanError(f"the kernel {named} cannot be built without its host code")
    return kernels[kernel]


def _passed(arguments: Sequence[tuple[str, Argument]]) -> bytes:
    passed = [_bytes(value.content, value.pointers) for _, value in arguments if isinstance(value, Bytes)]
    return struct.pack("<I", len(passed)) + b"".join(passed)


def _returned(results: Sequence[TensorView]) -> bytes:
    found = [struct.pack("<BI", _Kind.RETURN, len(results))]
    for view in results:
        dtype = DType(view.dtype)
        shape = struct.pack(f"<BI{len(view.shape)}q", _DTYPES.index(dtype), len(view.shape), *view.shape)
        size = math.prod(view.shape) * dtype.bytes
        found.append(shape + struct.pack("<QBIq", size, 1, view.buffer, view.offset * dtype.bytes))
    return b"".join(found)


def _bytes(content: str, pointers: Sequence[Pointer]) -> bytes:
    data = base64.b64decode(content)
    places = (struct.pack("<IIq", pointer.at, pointer.buffer, pointer.offset) for pointer in pointers)
    return struct.pack("<Q", len(data)) + data + struct.pack("<I", len(pointers)) + b"".join(places)


def _text(text: str) -> bytes:
    raw = text.encode()
    return struct.pack("<I", len(raw)) + raw
