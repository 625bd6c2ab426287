"""Classes of modules, called as functions: KernelBench's candidates are `class ModelNew(nn.Module)`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import torch
from torch.func import functional_call

from porter.execution.job import Construction

_NEITHER = (
    "'{}' is a class: it can be checked against a reference with 'Model' and 'get_init_inputs', or takes no arguments"
)


class Models:
    """Instances, each built once for the same arguments, as whoever uses them does."""

    def __init__(self) -> None:
        self._built: dict[tuple[type, str], torch.nn.Module] = {}

    def calling(self, made: type[torch.nn.Module], construction: Construction | None) -> Callable[..., object]:
        """Returns what takes inputs, then the parameters that `construction` names, and calls an instance of `made`.

        Raises `TypeError` where its parameters are others.
        """
        model = self._model(made, construction)
        state = construction.state if construction else ()

        @torch.no_grad()
        def call(*arguments: object) -> object:
            first = len(arguments) - len(state)
            given = dict(zip(state, arguments[first:], strict=True))
            _check(model, given, made.__name__)
            return functional_call(model, given, arguments[:first])

        return call

    def _model(self, made: type[torch.nn.Module], construction: Construction | None) -> torch.nn.Module:
        initial = construction.initial if construction else "[]"
        if (made, initial) not in self._built:
            try:
                self._built[made, initial] = _on_device(made(*json.loads(initial)))
            except TypeError as error:
                raise error if construction else TypeError(_NEITHER.format(made.__name__)) from error
        return self._built[made, initial]


def _on_device(model: torch.nn.Module) -> torch.nn.Module:
    """`model` with its buffers on the device; its parameters are given with every call."""
    for module in model.modules():
        module._buffers = {name: b if b is None else b.cuda() for name, b in module._buffers.items()}
    return model


def _check(model: torch.nn.Module, given: Mapping[str, object], name: str) -> None:
    own = {key: tuple(t.shape) for key, t in model.state_dict().items() if t.is_floating_point()}
    wanted = {key: tuple(t.shape) for key, t in given.items() if isinstance(t, torch.Tensor)}
    if own != wanted:
        raise TypeError(f"the parameters of {name} are {_listed(own)}; those of the reference are {_listed(wanted)}")


def _listed(shapes: Mapping[str, tuple[int, ...]]) -> str:
    return ", ".join(f"{name} {list(shape)}" for name, shape in shapes.items()) or "none"
