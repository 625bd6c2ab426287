"""A Python reference in the process that runs it: its function or module, its inputs, and both at other sizes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import cast

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from porter.contract.model.contract import Role, TensorArg, Values
from porter.contract.model.dtype import DType
from porter.contract.workload.distributions import distributed
from porter.contract.workload.materialise import normals
from porter.oracle.python_question import Question

# What makes a tensor of a size; and where a number may be a size, a bound or an axis, which only a large one tells.
_MAKING = frozenset(("rand", "randn", "zeros", "ones", "empty", "full"))
_SIZED = frozenset(
    ("randint", "randperm", "arange", "linspace", "eye", "normal", "new_zeros", "new_ones", "new_empty", "new_full",
     "view", "reshape", "expand", "repeat", "broadcast_to", "tile")
)  # fmt: skip
_DRAWING = frozenset(("rand", "randn", "rand_like", "randn_like"))
_UNIFORM = frozenset(("rand", "rand_like"))
_MOVED = 0.25  # by how much a parameter that is one number throughout is moved, so that one that is ignored shows


class Resized(TorchFunctionMode):
    """While it is entered, tensors are made with other sizes, and floats are drawn as the question says.

    Without `drawing` nothing is drawn: shapes are all that counts.
    """

    def __init__(self, question: Question, *, drawing: bool) -> None:
        super().__init__()
        self._question = question
        self._drawing = drawing
        self._drawn = 0

    def __torch_function__(
        self,
        function: Callable[..., object],
        _types: object,
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        """One call of torch."""
        name, named = getattr(function, "__name__", ""), dict(kwargs or {})
        if name in _MAKING or name in _SIZED:
            extents = self._question.extents if name in _MAKING else large_only(self._question.extents)
            args = tuple(resized(a, extents) for a in args)
            named = {key: resized(value, extents) for key, value in named.items()}
        made = function(*args, **named)
        if self._drawing and name in _DRAWING and isinstance(made, torch.Tensor) and made.is_floating_point():
            made.copy_(self._draw(made, uniform=name in _UNIFORM))
        return made

    def _draw(self, like: torch.Tensor, *, uniform: bool) -> torch.Tensor:
        """Numbers from the one stream there is: a copy of no other library's."""
        question = self._question
        words = np.random.Philox(key=np.array([question.seed, self._drawn], dtype=np.uint64))
        self._drawn += 1
        count = like.numel()
        bounded = uniform and not question.signed
        values = fractions(words, count) if bounded else normals(words, count) * question.scale
        kind = Values.PROBABILITY if bounded else Values.NORMAL
        tensor = TensorArg("", Role.IN, DType(str(like.dtype).removeprefix("torch.")), (), kind)
        row = like.shape[-1] if like.dim() else 1
        if count:
            values = distributed(values, words.random_raw(count), tensor, row, question.distribution)
        return torch.from_numpy(values).reshape(like.shape)


def fractions(words: np.random.Philox, count: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Numbers in [0, 1)."""
    raw = words.random_raw(count) if count else np.zeros(0, np.uint64)
    return np.asarray((raw >> np.uint64(40)) / float(1 << 24))


def resized(value: object, extents: Mapping[int, int]) -> object:
    """`value` with other sizes, however deep in lists they lie."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return extents.get(value, value)
    if isinstance(value, (tuple, list)):
        return type(value)(resized(item, extents) for item in value) if type(value) in (tuple, list) else value
    return value


class Reference:
    """The `Model` or `reference` of `module`; raises `LookupError` where it has neither."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._function = getattr(module, "reference", None)
        if not callable(self._function) and not callable(getattr(module, "Model", None)):
            raise LookupError("it defines neither 'reference' nor 'Model'")
        if callable(self._function) and isinstance(self._function, torch.nn.Module):
            self._function = self._function.forward

    @property
    def has_inputs(self) -> bool:
        """Returns whether it says what it takes."""
        return callable(getattr(self._module, "get_inputs", None))

    def initial(self) -> list[object]:
        """Returns what its module is built with."""
        made: object = getattr(self._module, "get_init_inputs", list)()
        return list(made) if isinstance(made, (tuple, list)) else [made]

    def inputs(self) -> list[object]:
        """Returns what it is called with, as it says itself; the caller decides at which sizes."""
        made: object = self._module.get_inputs()
        return list(made) if isinstance(made, (tuple, list)) else [made]

    def model(self, extents: Mapping[int, int]) -> torch.nn.Module | None:
        """Its module at other sizes; None where it is a function."""
        if callable(self._function):
            return None
        return cast(torch.nn.Module, self._module.Model(*self.built_with(extents)))

    def built_with(self, extents: Mapping[int, int]) -> list[object]:
        """Returns what its module is built with at other sizes."""
        return [resized(value, large_only(extents)) for value in self.initial()]

    def parameter_names(self, model: torch.nn.Module | None) -> list[str]:
        """Returns what its function calls its inputs."""
        function = model.forward if model is not None else self._function
        return list(inspect.signature(cast(Callable[..., object], function)).parameters)

    def call(self, model: torch.nn.Module | None, arguments: Sequence[object], blank: Sequence[int] = ()) -> object:
        """Returns what it answers; outputs that are `blank` and numbers that it has no parameters for are left out."""
        if model is not None:
            return model(*arguments)
        function = cast(Callable[..., object], self._function)
        kinds = [p.kind for p in inspect.signature(function).parameters.values()]
        inputs = [a for place, a in enumerate(arguments) if place not in blank]
        if inspect.Parameter.VAR_POSITIONAL in kinds:
            return function(*inputs)
        forms = (arguments, inputs, [a for a in inputs if isinstance(a, torch.Tensor)])
        return function(*next((form for form in forms if len(form) <= len(kinds)), forms[-1]))


def with_axes(inputs: Sequence[object], axes: int) -> list[object]:
    """`inputs` with an axis more, their first in two parts, or one less, of which the first row is left.

    That are those whose first axis is as long as that of the first tensor. Raises `ValueError` where one of these has
    no other axis, or is of an odd length.
    """
    shapes = [value.shape for value in inputs if isinstance(value, torch.Tensor)]
    if not axes or not shapes:
        return list(inputs)
    if not shapes[0] or (axes < 0 and len(shapes[0]) == 1):
        raise ValueError("the first input has no axis to spare")
    return [
        _with_axes(value, axes) if isinstance(value, torch.Tensor) and value.shape[:1] == shapes[0][:1] else value
        for value in inputs
    ]


def _with_axes(tensor: torch.Tensor, axes: int) -> torch.Tensor:
    if axes < 0:
        return tensor[0]
    if tensor.shape[0] % 2:
        raise ValueError("an axis of odd length cannot be split into two parts")
    return tensor.reshape(2, tensor.shape[0] // 2, *tensor.shape[1:])


LARGE = 16  # sizes from here on mean the same wherever they stand; below, a number may be a kernel's width, or an axis


def large_only(extents: Mapping[int, int]) -> dict[int, int]:
    """Returns what may be put for a number that nothing shows to be a size."""
    return {written: size for written, size in extents.items() if written > LARGE}


def parameters_of(model: torch.nn.Module | None) -> Iterator[tuple[str, torch.Tensor]]:
    """The floats of its state, in order: what a candidate is given behind the inputs."""
    for name, tensor in model.state_dict().items() if model is not None else ():
        if tensor.is_floating_point():
            yield name, tensor


def moved(tensor: torch.Tensor, seed: int, position: int) -> torch.Tensor:
    """A parameter, and where it is one number throughout, as many about that."""
    if tensor.numel() == 0 or not bool((tensor == tensor.reshape(-1)[0]).all()):
        return tensor
    words = np.random.Philox(key=np.array([seed, (1 << 32) + position], dtype=np.uint64))
    shift = torch.from_numpy((2 * fractions(words, tensor.numel()) - 1) * _MOVED).reshape(tensor.shape)
    return (tensor + shift).to(tensor.dtype)


class Changes:
    """Tells which of `arguments`, tensors that a reference may change, change from now on, as far as torch can tell."""

    def __init__(self, arguments: Sequence[object]) -> None:
        self._before = [(a, a._version) for a in arguments if isinstance(a, torch.Tensor)]

    def any(self) -> bool:
        """Returns whether one was written to, be it with what it held."""
        return any(tensor._version != version for tensor, version in self._before)

    def results(self, returned: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Returns what of `returned` is a result of its own: an argument that was changed is none."""
        changed = [tensor for tensor, version in self._before if tensor._version != version]
        return [result for result in returned if not any(result is tensor for tensor in changed)]
