"""Calls an entry with arguments on the device, and takes its results."""

from __future__ import annotations

import ctypes
import importlib
import importlib.machinery
import importlib.util
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import torch

from porter.contract.model.dtype import DType, encode
from porter.execution.job import Job, TensorValue
from porter.native.handles import adopted, lent
from porter.native.memory import DTYPES, host_bytes, tensor_of
from porter.native.requests import EXTENSION, Entry, ExtensionEntry, LibraryEntry, PlanEntry, ReferenceEntry
from porter.worker.load import load

Call = Callable[[Sequence[object]], object]
_DEVICE = "cuda"
_RESULTS = 32  # a number, a count, and the tensors
_SIZES = 1 << 16  # at which a process compiles one reference, or some


class HostError(RuntimeError):
    """The host code of an original threw, or left an error of the runtime behind."""


class _Argument(ctypes.Structure):
    _fields_ = (("pointer", ctypes.c_void_p), ("whole", ctypes.c_longlong), ("real", ctypes.c_double))


class Entries:
    """Loads each module and library once."""

    def __init__(self) -> None:
        self._modules: dict[str, ModuleType] = {}
        self._carriers: dict[str, Any] = {}
        self._libraries: dict[str, ctypes.CDLL] = {}
        self._references: dict[ReferenceEntry, ReferenceCall] = {}

    def call(self, entry: Entry, job: Job) -> Call:
        """Returns a function that calls `entry` with arguments; the grid and block of a kernel come from `job`."""
        match entry:
            case PlanEntry():
                return self._of_plan(entry)
            case ExtensionEntry(path, name):
                function = getattr(self._extension(path), name)
                return lambda arguments: function(*arguments)
            case LibraryEntry():
                return self._of_library(entry, job)
            case ReferenceEntry():
                return self.reference(entry)

    def _module(self, path: str) -> ModuleType:
        if path not in self._modules:
            self._modules[path] = load(Path(path))
        return self._modules[path]

    def reference(self, entry: ReferenceEntry) -> ReferenceCall:
        """Returns the call of a reference, which keeps what was compiled."""
        if entry not in self._references:
            self._references[entry] = ReferenceCall(self._module(entry.path), entry)
        return self._references[entry]

    def _of_plan(self, entry: PlanEntry) -> Call:
        if entry.carrier not in self._carriers:
            self._carriers[entry.carrier] = importlib.import_module(entry.carrier).Carrier(Path.cwd())
        call: Call = self._carriers[entry.carrier].call(entry)
        return call

    def _extension(self, path: str) -> ModuleType:
        if path not in self._modules:
            loader = importlib.machinery.ExtensionFileLoader(EXTENSION, path)
            spec = importlib.util.spec_from_file_location(EXTENSION, path, loader=loader)
            assert spec is not None
            self._modules[path] = importlib.util.module_from_spec(spec)
            loader.exec_module(self._modules[path])
        return self._modules[path]

    def _of_library(self, entry: LibraryEntry, job: Job) -> Call:
        if entry.path not in self._libraries:
            self._libraries[entry.path] = ctypes.CDLL(entry.path)
        function = getattr(self._libraries[entry.path], entry.symbol)
        function.restype = ctypes.c_char_p
        launch = (ctypes.c_uint * 7)(*job.grid, *job.block, job.shared_bytes)
        address = lent if entry.tensors else torch.Tensor.data_ptr

        def call(arguments: Sequence[object]) -> object:
            passed = (_Argument * max(1, len(arguments)))(*(_passed(argument, address) for argument in arguments))
            result = (_Argument * _RESULTS)()
            said = function(passed, launch, result)
            returned = adopted([one.pointer for one in result[2 : 2 + result[1].whole]])
            if said:
                raise HostError(said.decode("utf-8", "replace"))
            if entry.returns is None:
                return returned
            return result[0].real if entry.returns.is_float else result[0].whole

        return call


class _CompiledError(Exception):
    """Raised where a call would begin to execute what was compiled for it."""


class ReferenceCall:
    """Calls a reference: its inputs come first, then the parameters of its module, which lie where those do."""

    def __init__(self, module: ModuleType, entry: ReferenceEntry) -> None:
        from porter.oracle.python_module import Reference  # noqa: PLC0415 - takes a while, and few have one

        sys.modules.setdefault(module.__name__, module)  # torch.compile looks it up there
        reference = Reference(module)
        model = reference.model({})
        model = None if model is None else model.to(_DEVICE)
        held = model.state_dict(keep_vars=True).values() if model is not None else ()
        self._entry = entry
        self._state = [tensor for tensor in held if tensor.is_floating_point()]
        self._executes = True

        @torch.no_grad()
        def answer(*inputs: object) -> object:
            with torch.device(_DEVICE):  # tensors that it makes itself lie there, too
                return reference.call(model, inputs, entry.blank)

        # Every size gets code of its own, as it has in every other arm; beyond the limit it would run uncompiled.
        torch._dynamo.config.recompile_limit = torch._dynamo.config.accumulated_recompile_limit = _SIZES
        compiled = torch.compile(answer, dynamic=False, backend=self._inductor) if entry.compiled else answer
        self._function: Callable[..., object] = compiled

    def __call__(self, arguments: Sequence[object]) -> object:
        """Returns its results, of tensors that it changes their new contents."""
        from porter.oracle.python_module import Changes  # noqa: PLC0415 - as above

        changes = Changes([arguments[place] for place in self._entry.written])
        return changes.results(list(tensors(self._function(*self._inputs(arguments)))))

    def compile(self, arguments: Sequence[object]) -> None:
        """Compiles all that a call executes before anything else than PyTorch has to look at a result."""
        self._executes = False
        try:
            self._function(*self._inputs(arguments))
        except _CompiledError:
            pass
        finally:
            self._executes = True

    def _inputs(self, arguments: Sequence[object]) -> Sequence[object]:
        """Returns the arguments that are no parameters of its module, which hold theirs from now on."""
        first = len(arguments) - len(self._state)
        for tensor, given in zip(self._state, arguments[first:], strict=True):
            assert isinstance(given, torch.Tensor)
            tensor.data = given.reshape(tensor.shape)
        return arguments[:first]

    def _inductor(self, graph: torch.fx.GraphModule, inputs: Sequence[torch.Tensor]) -> Callable[..., object]:
        """Returns what `torch.compile` makes of a graph where it is not told otherwise."""
        from torch._dynamo.backends.registry import lookup_backend  # noqa: PLC0415 - takes seconds

        compiled: Callable[..., object] = lookup_backend("inductor")(graph, inputs)

        def run(*arguments: object) -> object:
            if not self._executes:
                raise _CompiledError
            return compiled(*arguments)

        return run


def _passed(argument: object, address: Callable[[torch.Tensor], int]) -> _Argument:
    if isinstance(argument, torch.Tensor):
        return _Argument(pointer=address(argument))
    if argument is None:
        return _Argument()
    assert isinstance(argument, (int, float))
    return _Argument(None, int(argument) if math.isfinite(argument) else 0, float(argument))


def tensors(returned: object) -> Iterator[torch.Tensor]:
    """Yields the tensors in what a function returned."""
    if isinstance(returned, torch.Tensor):
        yield returned
    elif isinstance(returned, (tuple, list)):
        for item in returned:
            yield from tensors(item)


def results(returned: object, number: DType | None, seed: int) -> Iterator[TensorValue]:
    """Yields the results of a function, a number as a tensor of the type `number`; of large tensors a drawn part."""
    if isinstance(returned, torch.Tensor):
        yield tensor_of(DTYPES[returned.dtype], tuple(returned.shape), host_bytes(returned, seed))
    elif isinstance(returned, (bool, int, float)) and number is not None:
        yield TensorValue(number, (), encode(np.array(returned), number))
    elif isinstance(returned, (tuple, list)):
        for item in returned:
            yield from results(item, number, seed)
