"""Drives the device as a worker sees it: `device.cpp` by ctypes. Open it before anything untrusted is loaded."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

_MOST_NODES = 4096
_COPIED_BYTES = 1 << 30
_DRAW = Path(__file__).with_name("draw.ptx")


class DeviceError(RuntimeError):
    """The driver's name for an error; after most errors the process has lost the device."""


class NodeType(IntEnum):
    """The kinds of work that a node of a graph does, by `CUgraphNodeType`."""

    KERNEL = 0
    MEMCPY = 1
    MEMSET = 2
    HOST = 3
    GRAPH = 4
    EMPTY = 5


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a captured graph; all but `type` is of kernels. `function` is the driver's handle."""

    type: int
    name: str
    function: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int


@dataclass(frozen=True, slots=True)
class Described:
    """A device: its name and the facts that a measurement needs."""

    name: str
    uuid: str
    driver_version: int
    multiprocessors: int
    l2_bytes: int
    capability: tuple[int, int]
    memory_bytes: int


class _Described(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char * 128),
        ("uuid", ctypes.c_ubyte * 16),
        *((name, ctypes.c_int) for name in ("driver_version", "multiprocessors", "l2_bytes", "major", "minor")),
        ("memory_bytes", ctypes.c_ulonglong),
    )


class _Node(ctypes.Structure):
    _fields_ = (
        ("type", ctypes.c_int),
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared_bytes", ctypes.c_uint),
        ("function", ctypes.c_ulonglong),
        ("name", ctypes.c_char * 256),
    )


_POINTER, _SIZE, _ADDRESS = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_ulonglong
_SIGNATURES = {
    "porter_open": (ctypes.c_int, ctypes.c_char_p, _POINTER),
    "porter_synchronize": (),
    "porter_allocate": (_SIZE, _POINTER),
    "porter_free": (_ADDRESS,),
    "porter_fill": (_ADDRESS, ctypes.c_int, _SIZE),
    "porter_write": (_ADDRESS, _POINTER, _SIZE),
    "porter_read": (_POINTER, _ADDRESS, _SIZE),
    "porter_copy": (_ADDRESS, _ADDRESS, _SIZE),
    "porter_copy_async": (_ADDRESS, _ADDRESS, _SIZE),
    "porter_draw": (_ADDRESS, ctypes.c_int, _ADDRESS, _ADDRESS, _ADDRESS),
    "porter_nodes": (_POINTER, _POINTER, _SIZE, _POINTER),
    "porter_chain": (_POINTER, _SIZE, _SIZE, _POINTER),
    "porter_drop": (_POINTER,),
    "porter_replay": (_POINTER,),
    "porter_sample": (_POINTER, _POINTER, _SIZE, _ADDRESS, _SIZE, _POINTER),
    "porter_begin": (_ADDRESS, _SIZE),
    "porter_end": (_POINTER,),
}


class Device:
    """Every method raises `DeviceError` where the driver reports an error."""

    def __init__(self, library: Path, ordinal: int = 0) -> None:
        self._library = ctypes.CDLL(str(library))
        self._library.porter_error.restype = ctypes.c_char_p
        for name, signature in _SIGNATURES.items():
            function = getattr(self._library, name)
            function.argtypes, function.restype = signature, ctypes.c_int
        found = _Described()
        self._try(self._library.porter_open(ordinal, _DRAW.read_bytes(), ctypes.byref(found)))
        self.described = _described(found)
        # What is written before each sample: twice the second-level cache, and never so little that it ends before the
        # next launch is queued.
        self._room_bytes = max(2 * self.described.l2_bytes, 256 << 20)
        self._room = self.allocate(self._room_bytes)

    def synchronize(self) -> None:
        """Waits for all streams."""
        self._try(self._library.porter_synchronize())

    def allocate(self, count: int) -> int:
        """Returns the address of `count` fresh bytes."""
        at = ctypes.c_ulonglong()
        self._try(self._library.porter_allocate(max(1, count), ctypes.byref(at)))
        return at.value

    def free(self, address: int) -> None:
        """Gives memory of `allocate` back."""
        self._try(self._library.porter_free(address))

    def fill(self, address: int, byte: int, count: int) -> None:
        """Writes `byte` to `count` bytes."""
        if count:
            self._try(self._library.porter_fill(address, byte, count))

    def write(self, address: int, raw: bytes) -> None:
        """Copies `raw` to the device."""
        if raw:
            self._try(self._library.porter_write(address, raw, len(raw)))

    def read(self, address: int, count: int) -> bytes:
        """Returns the `count` bytes at `address`, once all streams are done."""
        raw = ctypes.create_string_buffer(max(1, count))
        if count:
            self._try(self._library.porter_read(raw, address, count))
        return raw.raw[:count]

    def copy(self, to: int, origin: int, count: int) -> None:
        """Copies `count` bytes within the device."""
        if count:
            self._try(self._library.porter_copy(to, origin, count))

    def draw(self, address: int, width: int, pool: int, count: int, key: int) -> None:
        """Draws the elements behind the first `pool` of the `count` at `address`, of `width` bytes, from those.

        `contract.drawn.drawn` says for `key` which element is drawn where.
        """
        self._try(self._library.porter_draw(address, width, pool, count, key))

    def nodes(self, graph: int) -> tuple[Node, ...]:
        """Returns the nodes of a captured graph."""
        found, count = (_Node * _MOST_NODES)(), ctypes.c_size_t()
        self._try(self._library.porter_nodes(graph, found, _MOST_NODES, ctypes.byref(count)))
        if count.value > _MOST_NODES:
            raise DeviceError(f"a graph of {count.value} nodes")
        return tuple(
            Node(n.type, n.name.decode("utf-8", "replace"), n.function, tuple(n.grid), tuple(n.block), n.shared_bytes)
            for n in found[: count.value]
        )

    def chain(self, graphs: Sequence[int], rounds: int) -> int:
        """Chains `graphs` one after the other, `rounds` times over, into one that can be launched."""
        handles, made = (ctypes.c_void_p * len(graphs))(*graphs), ctypes.c_void_p()
        self._try(self._library.porter_chain(handles, len(graphs), rounds, ctypes.byref(made)))
        return made.value or 0

    def drop(self, chain: int) -> None:
        """Frees a chain."""
        self._try(self._library.porter_drop(chain))

    def replay(self, chain: int) -> None:
        """Launches a chain once and waits for it."""
        self._try(self._library.porter_replay(chain))

    def sample(self, chains: Sequence[int], before: Sequence[int] = (), *, apart: bool = True) -> list[float]:
        """Returns the device time of one launch of each of `chains`, in their order, in microseconds.

        `apart` keeps them from finding each other's data in the cache. The chain launched `before` each is not timed; 0
        is none.
        """
        count = len(chains)
        handles, first = ((ctypes.c_void_p * count)(*given) for given in (chains, before or [0] * count))
        times = (ctypes.c_float * count)()
        room = self._room, self._room_bytes if apart else 0
        self._try(self._library.porter_sample(handles, first, count, *room, times))
        return list(times)

    def copy_bytes_per_s(self) -> float:
        """Returns how many bytes a copy within the device's memory moves, counting read and written ones.

        It copies up to 1 GiB: a copy of the room before samples, 128 MiB, is over so soon that its launch counts. That
        room has to be enough where others hold the memory.
        """
        count = min(_COPIED_BYTES, self.described.memory_bytes // 64)
        try:
            place = self.allocate(2 * count)
        except DeviceError:
            return self._copied_per_s(self._room, self._room_bytes // 2)
        try:
            return self._copied_per_s(place, count)
        finally:
            self.free(place)

    def _copied_per_s(self, place: int, count: int) -> float:
        times = []
        for _ in range(5):
            self._try(self._library.porter_begin(self._room, 0))
            self._try(self._library.porter_copy_async(place, place + count, count))
            times.append(self.end())
        return 2 * count / min(times) * 1e6

    def begin(self) -> None:
        """Begins to time the launches on the stream of this thread."""
        self._try(self._library.porter_begin(self._room, self._room_bytes))

    def end(self) -> float:
        """Returns the device time since `begin`, in microseconds, once it is over."""
        time = ctypes.c_float()
        self._try(self._library.porter_end(ctypes.byref(time)))
        return time.value

    def _try(self, code: int) -> None:
        if code:
            text: bytes = self._library.porter_error(code)
            raise DeviceError(text.decode("utf-8", "replace"))


def _described(found: _Described) -> Described:
    digits = bytes(found.uuid).hex()
    parts = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
    return Described(
        name=found.name.decode("utf-8", "replace"),
        uuid=f"GPU-{'-'.join(parts)}",
        driver_version=found.driver_version,
        multiprocessors=found.multiprocessors,
        l2_bytes=found.l2_bytes,
        capability=(found.major, found.minor),
        memory_bytes=found.memory_bytes,
    )
