"""Kernels on symbols: Triton's interpreter with other primitive operations, and launches of its functions."""

from __future__ import annotations

import inspect
import math
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import triton.language as tl
import triton.runtime.interpreter as triton_interpreter
from triton.language.semantic import TritonSemantic
from triton.runtime.interpreter import InterpretedFunction, TensorHandle, interpreter_builder, interpreter_semantic

from porter.lift.nodes import NotLiftedError
from porter_triton.device.combining import combine_tiles
from porter_triton.device.libdevice import offer_libdevice
from porter_triton.device.shortcuts import remember
from porter_triton.kernel_functions import KernelFunctions
from porter_triton.symbolic.builder import SymbolicBuilder, complete
from porter_triton.symbolic.library import is_kept, kept
from porter_triton.symbolic.memory import Memory
from porter_triton.symbolic.reductions import combine_symbols
from porter_triton.symbolic.values import SYMBOL, Values, is_symbolic

_MOST_PROGRAMS = 1 << 16
_Pair = tuple[tl.tensor, tl.tensor]


class Interpreter:
    """Puts nodes under Triton's interpreter, once for the life of a process that has TRITON_INTERPRET=1."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[object, ...], tl.tensor] = {}
        self._existence = False
        self.builder: SymbolicBuilder = interpreter_builder
        interpreter_builder.__class__ = SymbolicBuilder
        complete()
        self._patch_shortcuts()
        combine_tiles()
        combine_symbols(self.builder)
        offer_libdevice()
        self._patch_language()
        self._patch_handles()
        self._patch_truth()
        self._patch_atomics()

    def begin(self, values: Values, memory: Memory) -> None:
        """From here on kernels compute with `values` in `memory`."""
        self._numbers.clear()
        self.builder.begin(values, memory)

    def _patch_shortcuts(self) -> None:
        """Remembers types, which are the same in every execution; tiles of numbers are not."""
        operands = TritonSemantic.binary_op_type_checking_impl
        remember()

        def checked(semantic: TritonSemantic, left: object, right: object, *given: bool, **named: bool) -> _Pair:
            if not isinstance(left, tl.tensor) or isinstance(right, tl.tensor) or named:
                return operands(semantic, left, right, *given, **named)  # type: ignore[no-any-return]
            key = left.type.name, type(right), repr(right), given
            if key not in self._numbers:
                converted, number = operands(semantic, left, right, *given)
                if converted is not left:
                    return converted, number
                self._numbers[key] = number
            return left, self._numbers[key]

        TritonSemantic.binary_op_type_checking_impl = checked

    def _patch_language(self) -> None:
        """Triton patches its language at each call of each function, which takes milliseconds: once is enough."""
        triton_interpreter._patch_lang(SimpleNamespace(__globals__={"tl": tl, "core": tl.core}))
        triton_interpreter._patch_lang = lambda _function: triton_interpreter._LangPatchScope()
        object.__setattr__(self.builder.options, "sanitize_overflow", False)

        def call(function: InterpretedFunction, *given: object, **named: object) -> object:
            return function.rewrite()(*given, **named)

        InterpretedFunction.__call__ = call
        TensorHandle.set_attr = lambda _self, _name, _values: None

    def _patch_handles(self) -> None:
        """Nodes are wider than most elements."""
        fits = triton_interpreter._validate_np_data_size

        def validate(data: Any, type_: tl.dtype) -> bool:  # noqa: ANN401 - numpy's
            return bool(data.dtype == SYMBOL or fits(data, type_))

        triton_interpreter._validate_np_data_size = validate

    def _patch_truth(self) -> None:
        """Demands numbers of what steers a kernel; loads and stores ask of operands only whether they are given."""

        def truth(tensor: tl.tensor) -> bool:
            if self._existence:
                return True
            value = self._number(tensor)
            return bool(value) if tensor.handle.data.size == 1 else True

        tl.tensor.__bool__ = truth
        tl.tensor.__index__ = lambda tensor: int(self._number(tensor))
        for name in ("_load_legacy", "_store_legacy"):
            setattr(TritonSemantic, name, self._asking(getattr(TritonSemantic, name)))

    def _asking(self, original: Callable[..., object]) -> Callable[..., object]:
        def asked(*given: object, **named: object) -> object:
            self._existence = True
            try:
                return original(*given, **named)
            finally:
                self._existence = False

        return asked

    def _number(self, tensor: tl.tensor) -> Any:  # noqa: ANN401 - a number of numpy's, or True
        if not is_symbolic(tensor.handle):
            return tensor.handle.data.item() if tensor.handle.data.size == 1 else True
        nodes = self.builder.values.nodes(tensor.handle)
        value = self.builder.graph.value(int(nodes.flat[0])) if nodes.size == 1 else None
        if value is None:
            raise NotLiftedError("a value of the data decides what is executed")
        return value

    def _patch_atomics(self) -> None:
        """An atomic extreme of floats, which Triton makes one of their bits."""
        for name, operation in (("atomic_max", "MAX"), ("atomic_min", "MIN")):
            setattr(TritonSemantic, name, self._extreme(getattr(TritonSemantic, name), name[-3:], operation))

    def _extreme(self, original: Callable[..., tl.tensor], short: str, operation: str) -> Callable[..., tl.tensor]:
        code = getattr(triton_interpreter._ir.ATOMIC_OP, operation)

        def update(semantic: TritonSemantic, pointer: tl.tensor, *given: Any) -> tl.tensor:  # noqa: ANN401
            if not pointer.type.scalar.element_ty.is_floating():
                return original(semantic, pointer, *given)
            value, mask, order, reach = given
            pointer, value, mask = semantic.atom_red_typechecking_impl(pointer, value, mask, short)
            how = semantic._str_to_sem(order), semantic._str_to_scope(reach)
            made = self.builder.create_atomic_rmw(code, pointer.handle, value.handle, mask.handle, *how)
            return tl.tensor(made, value.type)

        return update

    def launch(
        self, function: InterpretedFunction, grid: Sequence[int], arguments: Mapping[str, object], folder: Path
    ) -> None:
        """Runs `function`, whose text lies in `folder`, on its grid. Raises `NotLiftedError`."""
        if math.prod(grid) > _MOST_PROGRAMS:
            raise NotLiftedError(f"{math.prod(grid)} programs are too many to follow")
        body = function.rewrite()
        with self._placed(folder):
            typed = {name: self._typed(function, name, value) for name, value in arguments.items()}
            bound = inspect.getcallargs(body, **typed)
            passed = {name: self._passed(function, name, value) for name, value in bound.items()}
            self.builder.set_grid_dim(*grid)
            self.builder.memory.begin_launch()
            for place in product(*map(range, grid)):
                self.builder.set_grid_idx(*place)
                self.builder.memory.begin_program()
                body(**passed)

    def _typed(self, function: InterpretedFunction, name: str, value: object) -> object:
        """Returns a number in the type that its parameter is annotated with."""
        annotation = function.fn.__annotations__.get(name)
        is_number = isinstance(value, (bool, int, float))
        if is_number and annotation is None and isinstance(value, bool):
            return interpreter_semantic.to_tensor(value)
        if not is_number or not isinstance(annotation, str) or "constexpr" in annotation:
            return value
        declared = tl.str_to_ty(annotation, None)
        return self._scalar(value, declared) if isinstance(declared, tl.dtype) else value

    def _scalar(self, value: Any, type_: tl.dtype) -> tl.tensor:  # noqa: ANN401
        if type_.is_floating():
            return tl.tensor(self.builder.values.scalar(float(value), type_), type_)
        stored = np.array([value]).astype(triton_interpreter._get_np_dtype(type_))
        return tl.tensor(TensorHandle(stored, type_), type_)

    @staticmethod
    def _passed(function: InterpretedFunction, name: str, value: object) -> object:
        annotation = function.fn.__annotations__.get(name)
        is_constant = annotation is tl.constexpr or (isinstance(annotation, str) and "constexpr" in annotation)
        if is_constant or not isinstance(value, (int, tuple)):
            return value
        return triton_interpreter._implicit_cvt(value)

    @contextmanager
    def _placed(self, folder: Path) -> Iterator[None]:
        """Raises what goes wrong as a `NotLiftedError` with the line of the kernel's text."""
        try:
            yield
        except NotLiftedError as error:
            raise NotLiftedError(f"{error}{_line(error, folder)}") from error
        except Exception as error:  # whatever the text of a kernel raises is why it is not lifted
            what = f"{_operation(error)}{type(error).__name__}: {error}"
            raise NotLiftedError(f"{what}{_line(error, folder)}") from error


def _line(error: BaseException, folder: Path) -> str:
    """The place in the module of a kernel's text, which lies in `folder`."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.lineno and Path(frame.filename).is_relative_to(folder):
            return f" (line {frame.lineno})"
    return ""


def _operation(error: BaseException) -> str:
    """The operation of the builder that has no meaning for nodes."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if frame.name.startswith("create_"):
            return f"`{frame.name.removeprefix('create_')}` of data: "
    return ""


class SymbolicFunctions(KernelFunctions):
    """Kernels by their keys, of which functions that are kept by name are not executed."""

    def __init__(self, folder: Path, builder: SymbolicBuilder) -> None:
        super().__init__(folder)
        self._builder = builder

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401 - Triton has no types
        """The function itself, or what a call of it means."""
        text = self.text(key)
        return kept(self._builder, text.name) if is_kept(text) else super().__getitem__(key)
