"""Triton's interpreter under observation: every launch is recorded, every access to memory goes through `Watch`.

Only the worker imports this, in a process that was started with TRITON_INTERPRET=1.
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import torch
import triton.language as tl
import triton.runtime.interpreter as triton_interpreter
from numpy.typing import NDArray
from triton.runtime.interpreter import (
    FunctionRewriter,
    GridExecutor,
    InterpretedFunction,
    InterpreterBuilder,
    ReduceScanOpInterface,
    TensorHandle,
)
from triton.runtime.jit import type_canonicalisation_dict

from porter.contract.model.dtype import DType, encode
from porter.execution.job import FaultKind, LaunchRecord, Schedule
from porter.python_tree import module_tree
from porter.worker.torch_types import TORCH_TYPES
from porter_triton.branch_marks import BranchMarks
from porter_triton.device.corrections import correct
from porter_triton.device.libdevice import offer_libdevice
from porter_triton.kernel_functions import KernelFunctions
from porter_triton.replay.addresses import watch_addresses
from porter_triton.replay.atomic_order import follow_atomics, is_acquire, is_release
from porter_triton.replay.lockstep import Lockstep, NotInLockstepError, needs_barrier
from porter_triton.replay.lockstep_builder import complete, for_all_programs, in_lockstep
from porter_triton.replay.loops import compiled_range
from porter_triton.replay.observation import Observation
from porter_triton.replay.turns import Turns
from porter_triton.replay.watch import Region, Watch
from porter_triton.signatures import signature_of

_WARP_SIZE = 32
_ELEMENTS = {
    dtype: str(tl.str_to_ty(type_canonicalisation_dict[str(dtype).removeprefix("torch.")], None))
    for dtype in TORCH_TYPES.values()
    if str(dtype).removeprefix("torch.") in type_canonicalisation_dict
}
_DEFAULT_WARPS = 4
_POISON = 0xFF  # what a lane outside the mask of a load has, where the kernel does not say


@dataclass(frozen=True, slots=True)
class Launched:
    """A launch of a plan: the kernel's name and key, its grid, the compiler's options, the line of the host code."""

    name: str
    key: str
    grid: tuple[int, int, int]
    options: Mapping[str, object]
    line: int


class Interpreter:
    """Puts itself between kernels and Triton's interpreter, once for the life of the process."""

    def __init__(self) -> None:
        self.observation = Observation()
        self.marks = BranchMarks()
        self.watch = Watch(self._note)
        self._order: NDArray[np.int64] | None = None
        self._grid: tuple[int, int, int] | None = None  # that of a launch whose programs run in lockstep
        self._turns: Turns | None = None  # where programs of the launch may wait for each other
        self.lockstep = Lockstep(self.watch)
        self._apart: set[str] = set()  # keys of kernels whose programs do not run in lockstep
        correct()
        offer_libdevice()
        self._patch_language()
        self._patch_functions()
        self._patch_rewriting()
        self._patch_grid()
        self._patch_exchanges()
        self._patch_loads_and_stores()
        self._patch_atomics()
        follow_atomics(self.watch)
        watch_addresses()
        complete(self.lockstep)

    def _note(self, kind: FaultKind, message: str) -> None:
        if self.lockstep.batch is not None:
            raise NotInLockstepError(message)  # one program after the other, it is noted at its line
        self.observation.note(kind, message)

    def _patch_language(self) -> None:
        """Patches Triton's language once: Triton does so at each call of each function, which takes milliseconds."""
        triton_interpreter._patch_lang(SimpleNamespace(__globals__={"tl": tl, "core": tl.core}))
        triton_interpreter._patch_lang = lambda _function: triton_interpreter._LangPatchScope()
        tl.range = tl.core.range = compiled_range
        options = triton_interpreter.interpreter_builder.options
        # CUDA's assert is on unless it is compiled away, and its integers wrap around.
        object.__setattr__(options, "debug", True)
        object.__setattr__(options, "sanitize_overflow", False)

    def _patch_functions(self) -> None:
        def call(function: InterpretedFunction, *given: object, **named: object) -> object:
            return function.rewrite()(*given, **named)

        InterpretedFunction.__call__ = call

    def _patch_rewriting(self) -> None:
        """Marks branches when Triton reads the texts of kernels again to interpret them."""
        transform = FunctionRewriter._transform_ast

        def marked(rewriter: FunctionRewriter, source: str) -> ast.AST:
            if rewriter.fn.__module__.partition(".")[0] == "triton":
                return cast("ast.AST", transform(rewriter, source))
            tree = module_tree(source)
            self.marks.insert(tree, Path(rewriter.filename).name, rewriter.def_file_lineno)
            rewriter.fn.__globals__.update(self.marks.names, range=compiled_range)
            told: ast.AST = ast.fix_missing_locations(rewriter.ast_transformer.visit(tree))
            return ast.increment_lineno(told, rewriter.def_file_lineno - 1)

        FunctionRewriter._transform_ast = marked

    def launch(
        self,
        function: InterpretedFunction,
        launched: Launched,
        arguments: Mapping[str, object],
        regions: Sequence[Region],
        kernels: KernelFunctions,
    ) -> None:
        """Runs `function` on its grid; it may touch `regions` and nothing else. Raises whatever the kernel raises."""
        seen = self.observation
        seen.kernel = launched.name
        threads = _WARP_SIZE * int(str(launched.options.get("num_warps", _DEFAULT_WARPS)))
        seen.launches.append(LaunchRecord(launched.name, launched.grid, (threads, 1, 1), 0, launched.line))
        seen.signatures.setdefault(signature_of(function, launched.key, arguments, launched.options, kernels.key_of))
        if 0 in launched.grid:  # which Triton launches on no device
            seen.kernel = ""
            return
        self._order = _order(int(np.prod(launched.grid)), seen)
        typed = {name: _typed(function, name, value) for name, value in arguments.items()}
        with torch._C.DisableTorchFunction():
            if not self._run_in_lockstep(function, launched, typed, regions):
                self.watch.begin_launch(regions)
                with self._taking_turns(kernels.may_wait()):
                    function.run(grid=launched.grid, warmup=False, **typed)
        seen.kernel = ""

    def _run_in_lockstep(
        self, function: InterpretedFunction, launched: Launched, typed: Mapping[str, object], regions: Sequence[Region]
    ) -> bool:
        """Runs the programs of a launch together; returns False, and leaves all as it was, where they must not."""
        if np.prod(launched.grid) == 1 or launched.key in self._apart:
            return False
        before, taken = [region.content() for region in regions], self.marks.taken()
        self.watch.begin_launch(regions)
        self._grid = launched.grid
        try:
            with in_lockstep():
                function.run(grid=(1, 1, 1), warmup=False, **typed)
        except Exception:  # noqa: BLE001 - one program after the other, whatever it is happens again and is told
            self._apart.add(launched.key)
            self.marks.put_back(taken)
            for region, content in zip(regions, before, strict=True):
                region.put_back(content)
            return False
        finally:
            self._grid = None
        return True

    @contextmanager
    def _taking_turns(self, may_wait: bool) -> Iterator[None]:
        """Begins programs in turn: those that wait are finished behind the last of them."""
        self._turns = turns = Turns(self._leave) if may_wait else None
        try:
            yield
            if turns is not None:
                turns.finish()
        finally:
            if turns is not None:
                turns.abandon()
            self._turns = None

    def _leave(self) -> Callable[[], None]:
        """Returns what has to be done before the program that runs now goes on, after others ran."""
        builder = triton_interpreter.interpreter_builder
        place, resume = builder.grid_idx, self.watch.leave()

        def resumed() -> None:
            builder.grid_idx = place
            resume()

        return resumed

    def _patch_grid(self) -> None:
        place = InterpreterBuilder.set_grid_idx

        def set_grid_idx(builder: InterpreterBuilder, *at: int) -> None:
            if self._grid is not None:
                return
            self.watch.begin_program()
            if self._order is not None:
                shape = builder.grid_dim
                at = tuple(map(int, np.unravel_index(self._order[np.ravel_multi_index(at, shape)], shape)))
            place(builder, *at)

        InterpreterBuilder.set_grid_idx = set_grid_idx
        self._patch_programs()
        InterpreterBuilder.create_barrier = lambda _builder: self._barrier()

    def _patch_programs(self) -> None:
        """Programs that may wait for each other take turns."""
        make = GridExecutor.__init__

        def init(executor: GridExecutor, run: Callable[..., object], *given: object, **named: object) -> None:
            make(executor, run, *given, **named)

            def in_turn(**arguments: object) -> None:
                if self._grid is not None:
                    self._run_all(self._grid, run, arguments)
                elif self._turns is None:
                    run(**arguments)
                else:
                    self._turns.begin(lambda: run(**arguments))

            executor.fn = functools.wraps(run)(in_turn)
            executor.fn.__signature__ = inspect.signature(run)  # by which the interpreter binds arguments

        GridExecutor.__init__ = init

    def _run_all(self, grid: tuple[int, int, int], run: Callable[..., object], arguments: Mapping[str, object]) -> None:
        """Runs the programs of a grid in lockstep."""
        given = {name: for_all_programs(value) for name, value in arguments.items()}
        order = np.arange(np.prod(grid), dtype=np.int64) if self._order is None else self._order
        self.lockstep.run(grid, order, lambda: run(**given))

    def _barrier(self) -> None:
        if self.lockstep.batch is None:
            self.watch.barrier()
        else:
            self.lockstep.did(self.watch.barrier)

    def _patch_exchanges(self) -> None:
        """Patches what a whole tile exchanges: it goes through shared memory, with a barrier before it is read."""
        gather, exchange = InterpreterBuilder.create_gather, ReduceScanOpInterface.apply

        def create_gather(
            builder: InterpreterBuilder, source: TensorHandle, index: TensorHandle, axis: int
        ) -> TensorHandle:
            self._exchanged(source.data.shape)
            inside = np.clip(index.data, 0, source.data.shape[axis] - 1)
            if (inside != index.data).any():  # numpy counts those below 0 from the end
                outside = index.data[inside != index.data].flat[0]
                self._note(FaultKind.OUT_OF_BOUNDS, f"gather of element {outside} of {source.data.shape[axis]}")
            return gather(builder, source, TensorHandle(inside, index.dtype), axis)

        def apply(operation: ReduceScanOpInterface, given: tl.tensor | tuple[tl.tensor, ...]) -> object:
            self._exchanged(tuple((given if isinstance(given, tuple) else (given,))[0].shape))
            return exchange(operation, given)

        InterpreterBuilder.create_gather = create_gather
        ReduceScanOpInterface.apply = apply

    def _exchanged(self, shape: tuple[int, ...]) -> None:
        if needs_barrier(shape):
            self._barrier()

    def _patch_loads_and_stores(self) -> None:
        load, store = InterpreterBuilder.create_masked_load, InterpreterBuilder.create_masked_store

        def create_masked_load(
            builder: InterpreterBuilder,
            pointers: TensorHandle,
            mask: TensorHandle,
            other: TensorHandle | None,
            *hints: object,
            **named: object,
        ) -> TensorHandle:
            def loaded() -> TensorHandle:
                allowed = TensorHandle(self.watch.load(pointers.data, mask.data, _size(pointers)), tl.int1)
                default = _poison(pointers) if other is None else other
                return load(builder, pointers, allowed, default, *hints, **named)

            if self.lockstep.batch is None:
                return loaded()
            pointers, mask = self._rows(pointers), self._rows(mask)
            other = None if other is None else self._rows(other)
            return TensorHandle(self.lockstep.loaded(lambda: loaded().data), pointers.get_element_ty())

        def create_masked_store(
            builder: InterpreterBuilder,
            pointers: TensorHandle,
            value: TensorHandle,
            mask: TensorHandle,
            *hints: object,
        ) -> None:
            def held(lanes: NDArray[np.bool_]) -> NDArray[np.generic]:
                return np.asarray(load(builder, pointers, TensorHandle(lanes, tl.int1), value, *hints, False).data)

            def stored() -> None:
                allowed = self.watch.store(pointers.data, value.data, mask.data, _size(pointers), held)
                store(builder, pointers, value, TensorHandle(allowed, tl.int1), *hints)

            self._did()
            if self.lockstep.batch is None:
                stored()
            else:
                pointers, mask, value = self._rows(pointers), self._rows(mask), self._rows(value)
                self.lockstep.did(stored)

        InterpreterBuilder.create_masked_load = create_masked_load
        InterpreterBuilder.create_masked_store = create_masked_store

    def _rows(self, operand: TensorHandle) -> TensorHandle:
        """Returns an operand with a row for each program that runs."""
        return TensorHandle(self.lockstep.rows(operand.data), operand.dtype)

    def _asked(self, pointers: TensorHandle, told: TensorHandle) -> TensorHandle:
        """Returns what an atomic operation returned, once the program goes on."""
        if self._turns is not None:
            self._turns.asked((pointers.data.tobytes(), np.asarray(told.data).tobytes()))
        return told

    def _did(self) -> None:
        if self._turns is not None:
            self._turns.did()

    def _patch_atomics(self) -> None:
        exchange, update = InterpreterBuilder.create_atomic_cas, InterpreterBuilder.create_atomic_rmw

        def create_atomic_cas(builder: InterpreterBuilder, pointers: TensorHandle, *operands: object) -> TensorHandle:
            everywhere = np.ones(pointers.data.shape, np.bool_)
            if not self.watch.atomic(pointers.data, everywhere, _size(pointers), **_ordering(operands)).all():
                raise IndexError("an atomic exchange outside of every tensor")
            return self._asked(pointers, exchange(builder, pointers, *operands))

        def create_atomic_rmw(
            builder: InterpreterBuilder,
            operation: object,
            pointers: TensorHandle,
            value: TensorHandle,
            mask: TensorHandle,
            *hints: object,
        ) -> TensorHandle:
            allowed = self.watch.atomic(pointers.data, mask.data, _size(pointers), **_ordering(hints))
            told = update(builder, operation, pointers, value, TensorHandle(allowed, tl.int1), *hints)
            return self._asked(pointers, told)

        InterpreterBuilder.create_atomic_cas = create_atomic_cas
        InterpreterBuilder.create_atomic_rmw = create_atomic_rmw


def _typed(function: InterpretedFunction, name: str, value: object) -> object:
    """Returns a number in the annotated type of its parameter, which decides its size in the interpreter.

    A truth value without an annotation is an `int1`, as for the compiler; the interpreter would fail on it.
    """
    annotation = function.fn.__annotations__.get(name)
    declared = tl.int1 if annotation is None and isinstance(value, bool) else _declared(annotation)
    if isinstance(declared, tl.pointer_type) and isinstance(value, torch.Tensor):
        if declared.element_ty.name != _ELEMENTS.get(value.dtype):
            raise NotImplementedError(f"the parameter '{name}' is declared as a {declared}, and is given another")
        return value
    if not isinstance(declared, tl.dtype) or not isinstance(value, (bool, int, float)):
        return value
    raw = encode(np.array([value]), DType.BFLOAT16) if declared == tl.bfloat16 else np.array([value])
    stored = raw.astype(triton_interpreter._get_np_dtype(declared))
    return tl.tensor(TensorHandle(stored, declared), declared)


def _declared(annotation: object) -> tl.dtype | None:
    """Returns the type that an annotation of a kernel's text is."""
    return tl.str_to_ty(annotation, None) if isinstance(annotation, str) else None


def _order(programs: int, seen: Observation) -> NDArray[np.int64] | None:
    """Returns the position in the grid of each program in turn; None for their usual order."""
    match seen.schedule:
        case Schedule.FORWARD:
            return None
        case Schedule.REVERSE:
            return np.arange(programs)[::-1]
        case Schedule.SHUFFLED:
            return np.random.default_rng((seen.seed, len(seen.launches))).permutation(programs)


def _ordering(operands: Sequence[object]) -> Mapping[str, bool]:
    """Returns what an atomic operation with these operands puts in order."""
    return {"releases": any(map(is_release, operands)), "acquires": any(map(is_acquire, operands))}


def _size(pointers: TensorHandle) -> int:
    return max(1, int(pointers.get_element_ty().primitive_bitwidth) // 8)


def _poison(pointers: TensorHandle) -> TensorHandle:
    element = pointers.get_element_ty()
    dtype = np.dtype(triton_interpreter._get_np_dtype(element))
    raw = np.full(pointers.data.size * dtype.itemsize, _POISON if dtype != np.bool_ else 1, np.uint8)
    return TensorHandle(raw.view(dtype).reshape(pointers.data.shape), element)
