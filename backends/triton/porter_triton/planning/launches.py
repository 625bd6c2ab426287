"""Launches of Triton's kernels, recorded instead of carried out."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from numbers import Integral
from typing import Any, NoReturn

import numpy as np
import torch
import triton.language as tl
from triton.runtime.autotuner import Autotuner, Heuristics
from triton.runtime.jit import JITFunction, TensorWrapper
from triton.tools.tensor_descriptor import TensorDescriptor

from porter.launch_plan.steps import Argument, Descriptor, ElementType, KernelName, Launch, Scalar, Sequence, TensorView
from porter.simt.job import FaultKind
from porter_triton.planning.device_tensor import DeviceTensor
from porter_triton.planning.kernel_texts import KernelTexts
from porter_triton.planning.operators import Operators
from porter_triton.planning.recorder import Recorder, dtype_name

_OPTIONS = frozenset(
    (
        "num_warps",
        "num_stages",
        "num_ctas",
        "maxnreg",
        "allow_tf32",
        "enable_fp_fusion",
        "launch_cooperative_grid",
        "launch_pdl",
    )
)
# What Triton calls types of 8 bits, by which tensors are passed that hold their bytes.
_WRAPPED = {"fp8e4nv": "float8_e4m3fn", "fp8e5": "float8_e5m2"}


class Launches:
    """Takes the place of Triton's launcher, its autotuner's and its heuristics', once for the process."""

    def __init__(self, recorder: Recorder, operators: Operators, texts: KernelTexts) -> None:
        self._recorder = recorder
        self._operators = operators
        self._texts = texts

        def run(kernel: JITFunction[Any], *args: object, grid: object, warmup: bool = False, **named: object) -> object:
            return self._launch(kernel, args, grid, named, warmup=warmup)

        def tuned(tuner: Autotuner, *args: object, **named: object) -> object:
            return self._tuned(tuner, args, named)

        JITFunction.run = run
        Autotuner.run = tuned

    def _tuned(self, tuner: Autotuner, args: tuple[object, ...], named: dict[str, object]) -> object:
        """One configuration, since there is nothing to measure: the call is planned with each."""
        tuner.nargs = dict(zip(tuner.arg_names, args, strict=False))
        configs = tuner.prune_configs(named) if len(tuner.configs) > 1 else tuner.configs
        self._recorder.configurations = max(self._recorder.configurations, len(configs))
        tuner.best_config = chosen = configs[self._recorder.configuration % len(configs)]
        if chosen.pre_hook is not None:
            chosen.pre_hook({**tuner.nargs, **named, **chosen.all_kwargs()})
        returned = tuner.fn.run(*args, **{**named, **chosen.all_kwargs()})
        tuner.nargs = None
        return returned

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
        parameters = inspect.signature(kernel.fn).parameters
        options = {name: value for name, value in named.items() if name not in parameters}
        bound = inspect.signature(kernel.fn).bind(*args, **{n: v for n, v in named.items() if n in parameters})
        bound.apply_defaults()
        if warmup:
            return _NotCompiled(self._recorder)
        extents = _grid(grid, {**bound.arguments, **options})
        passed = tuple((name, self._argument(name, value)) for name, value in bound.arguments.items())
        kept = tuple((n, Scalar(v)) for n, v in sorted(options.items()) if n in _OPTIONS and isinstance(v, (bool, int)))
        _, line = self._recorder.place()
        key = self._texts.key_of(kernel)
        self._recorder.step(Launch(key, extents, passed, kept, self._recorder.stream, line))
        return _NotCompiled(self._recorder)

    def _argument(self, name: str, value: object) -> Argument:
        match value:
            case DeviceTensor():
                self._operators.wrote(value.buffer)
                return value.view_of_buffer
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


class _NotCompiled:
    """What a launch returns: nobody has compiled it while a call is planned."""

    def __init__(self, recorder: Recorder) -> None:
        self.__recorder = recorder

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        self.__recorder.refuse(
            FaultKind.UNKNOWN, f"it asks what a kernel was compiled to (.{name}), which is not known here"
        )
        raise AssertionError
