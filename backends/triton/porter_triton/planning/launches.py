"""Launches of Triton's kernels, recorded instead of carried out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from numbers import Integral
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np
import torch
import triton.language as tl
from triton.backends.amd.compiler import HIPOptions
from triton.backends.nvidia.compiler import CUDAOptions
from triton.runtime.autotuner import Autotuner, Heuristics
from triton.runtime.jit import JITFunction, TensorWrapper, type_canonicalisation_dict
from triton.tools.tensor_descriptor import TensorDescriptor

from porter.execution.job import FaultKind
from porter.launch_plan.steps import Argument, Descriptor, ElementType, KernelName, Launch, Scalar, Sequence, TensorView
from porter_triton.planning.device_answers import called_as
from porter_triton.planning.device_tensor import DeviceTensor, buffer_of, view_of
from porter_triton.planning.kernel_texts import KernelTexts
from porter_triton.planning.operators import Operators
from porter_triton.planning.recorder import Recorder, dtype_name
from porter_triton.planning.tuning import Tuning

_OPTIONS = frozenset(
    (
        "num_warps",
        "num_stages",
        "num_ctas",
        "maxnreg",
        "allow_tf32",
        "enable_fp_fusion",
        "launch_cooperative_grid",
    )
)
# Options of other devices, and those that only turn assertions on.
_WITHOUT_EFFECT = frozenset(
    ("debug", "sanitize_overflow", "waves_per_eu", "matrix_instr_nonkdim", "kpack", "schedule_hint")
)
_OVERLAPPING = frozenset(("launch_pdl",))
_OF_COMPILERS = frozenset(field.name for kind in (CUDAOptions, HIPOptions) for field in fields(kind))
# What Triton calls types of 8 bits, by which tensors are passed that hold their bytes.
_WRAPPED = {"fp8e4nv": "float8_e4m3fn", "fp8e5": "float8_e5m2"}


class Launches:
    """Takes the place of Triton's launcher, its autotuner's and its heuristics', once for the process."""

    def __init__(self, recorder: Recorder, operators: Operators, texts: KernelTexts) -> None:
        self._recorder = recorder
        self._operators = operators
        self._texts = texts
        self._named: set[tuple[str, str]] = set()

        def run(kernel: JITFunction[Any], *args: object, grid: object, warmup: bool = False, **named: object) -> object:
            return self._launch(kernel, args, grid, named, warmup=warmup)

        tuning = Tuning(recorder)

        def tuned(tuner: Autotuner, *args: object, **named: object) -> object:
            return tuning.run(tuner, args, named)

        JITFunction.run = called_as(run, JITFunction.run)
        Autotuner.run = called_as(tuned, Autotuner.run)

    def _launch(
        self,
        kernel: JITFunction[Any],
        args: tuple[object, ...],
        grid: object,
        named: dict[str, object],
        *,
        warmup: bool,
    ) -> object:
        for hook in list(kernel.pre_run_hooks):
            hook(*args, **named)
        parameters = kernel.signature.parameters
        options = {name: value for name, value in named.items() if name not in parameters}
        bound = kernel.signature.bind(*args, **{n: v for n, v in named.items() if n in parameters})
        bound.apply_defaults()
        if warmup:
            return _NotCompiled(self._recorder)
        extents = _grid(grid, {**bound.arguments, **options})
        passed = tuple((name, self._argument(name, value)) for name, value in bound.arguments.items())
        kept = tuple(self._options(options))
        _, line = self._recorder.place()
        key = self._texts.key_of(kernel)
        self._name(kernel, key, bound.arguments)
        self._recorder.step(Launch(key, extents, passed, kept, self._recorder.stream, line))
        return _NotCompiled(self._recorder)

    def _options(self, options: Mapping[str, object]) -> Iterator[tuple[str, Scalar]]:
        """Yields the compiler's options; raises what Triton raises for unknown ones."""
        for name, value in sorted(options.items()):
            if value is None or name in _WITHOUT_EFFECT:
                continue
            if name in _OVERLAPPING:
                if value:
                    self._recorder.refuse(FaultKind.UNKNOWN, f"it launches with {name}, which lets launches overlap")
                continue
            if name in _OF_COMPILERS - _OPTIONS or (name in _OPTIONS and not isinstance(value, (bool, int))):
                message = f"it launches a kernel with the option {name}, by which its text is not what is executed"
                self._recorder.refuse(FaultKind.REACHED, message)
            if name not in _OPTIONS:
                raise KeyError(f"Keyword argument {name} was specified but unrecognised")
            yield name, Scalar(value)  # type: ignore[arg-type]

    def _name(self, kernel: JITFunction[Any], key: str, given: Mapping[str, object]) -> None:
        """Asks the module's own function for the kernel's name, where it has one, as often as Triton compiles."""
        if kernel._repr is None:
            return
        constants = {kernel.params[n].name: given[kernel.params[n].name] for n in kernel.constexprs}
        if (asked := (key, repr(constants))) not in self._named:
            self._named.add(asked)
            types = {name: "constexpr" if name in constants else _type(value) for name, value in given.items()}
            kernel.repr(SimpleNamespace(constants=constants, signature=types))

    def _argument(self, name: str, value: object) -> Argument:
        match value:
            case DeviceTensor():
                self._operators.wrote(buffer_of(value))
                return view_of(value)
            case tl.constexpr():
                return self._argument(name, value.value)
            case bool() | None:
                return Scalar(value)
            case str():
                return Scalar(str(value))
            case Integral():
                return Scalar(int(value))
            case float():
                return Scalar(float(value))
            case np.generic():
                return self._argument(name, value.item())
            case tl.dtype():
                return ElementType(value.name)
            case JITFunction() | Autotuner() | Heuristics():
                return KernelName(self._texts.key_of(value))
            case tuple() | list():
                return Sequence(tuple(self._argument(name, item) for item in value))
        return self._wrapped(name, value)

    def _wrapped(self, name: str, value: object) -> Argument:
        """Tensors within other objects; raises what a launch on a device raises for anything else."""
        if isinstance(value, TensorWrapper):
            view = self._argument(name, value.base)
            assert isinstance(view, TensorView)
            dtype = _WRAPPED.get(value.dtype.name, view.dtype)
            return TensorView(view.buffer, dtype, view.shape, view.strides, view.offset)
        if isinstance(value, TensorDescriptor):
            base = self._argument(name, value.base)
            assert isinstance(base, TensorView)
            shape, strides, block = (tuple(map(int, e)) for e in (value.shape, value.strides, value.block_shape))
            return Descriptor(base, shape, strides, block, str(getattr(value, "padding", "zero")))
        if isinstance(value, torch.Tensor):
            raise ValueError(f"Pointer argument '{name}' cannot be accessed from Triton (cpu tensor?)")
        if isinstance(value, torch.dtype):
            raise TypeError(f"'{name}' is {dtype_name(value)}, a type of torch's: Triton's are {tl.__name__}'s")
        raise TypeError(f"a kernel cannot be given a {type(value).__name__} ('{name}')")


def _grid(grid: object, arguments: Mapping[str, object]) -> tuple[int, int, int]:
    extents = grid(arguments) if callable(grid) else grid
    extents = (extents,) if isinstance(extents, Integral) else extents
    if not isinstance(extents, (tuple, list, torch.Size)) or not 1 <= len(extents) <= 3:
        raise TypeError(f"a grid is a tuple of one to three numbers, not {extents!r}")
    if not all(isinstance(extent, Integral) for extent in extents):
        raise TypeError(f"a grid has whole numbers, not {extents!r}")
    x, y, z = (*map(int, extents), 1, 1)[:3]
    return x, y, z


def _type(value: object) -> str:
    """Returns what Triton's signatures call the type of an argument."""
    if isinstance(value, DeviceTensor):
        return f"*{type_canonicalisation_dict.get(dtype_name(value.dtype), 'i8')}"
    if isinstance(value, bool):
        return "i1"
    return "fp32" if isinstance(value, float) else "i32"


class _NotCompiled:
    """Stands for the compiled kernel that a launch returns: nothing is compiled while a call is planned."""

    def __init__(self, recorder: Recorder) -> None:
        self.__recorder = recorder

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        self.__recorder.refuse(
            FaultKind.UNKNOWN, f"it asks what a kernel was compiled to (.{name}), which is not known here"
        )
        raise AssertionError


_NotCompiled.__name__ = _NotCompiled.__qualname__ = "CompiledKernel"
_NotCompiled.__module__ = "triton.compiler.compiler"
