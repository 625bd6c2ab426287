"""The child process that executes one class. Nobody has read its code: it writes nowhere and reaches nobody."""

from __future__ import annotations

import inspect
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from porter.learn.curation.checking import misfit
from porter.learn.curation.question import Answer, Ask, Question, answer_of, encoded, question_of
from porter.learn.curation.records import (
    Call,
    Contents,
    Given,
    Layer,
    Parameter,
    Reached,
    Report,
    Signature,
)
from porter.learn.curation.tracing import Tracing
from porter.oracle.python_module import moved, parameters_of
from porter.sandbox.confine import confine, python_and_system
from porter.worker.environment import AMONG_OTHERS
from porter.worker.frames import SEAL_BYTES, read_frame, write_frame
from porter.worker.load import load

_SEED = 5_003
_LONGEST = 400  # of an error, in characters
# What of a layer says how its input has to be.
_SIZES = ("in_channels", "in_features", "num_features", "num_embeddings", "embed_dim", "input_size", "num_channels")


def prepare() -> None:
    """The settings that every worker needs."""
    torch.set_num_threads(1)
    with FakeTensorMode():
        torch.rand(2).softmax(0)  # imports what following shapes takes
    with torch.no_grad(), Tracing():
        torch.nn.Linear(2, 2)(torch.rand(2, 2))
    answer_of(encoded(Answer()))


def serve(arguments: list[str]) -> None:
    """Serves until standard input ends."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the class prints must not end up between frames
    path = Path(arguments[0])
    confine(Path.cwd(), readable=(path.parent, *python_and_system()) if AMONG_OTHERS in os.environ else ())
    write_frame(replies, b"")
    server = _Server(path)
    while (frame := read_frame(sys.stdin.buffer)) is not None:
        answer = server.answer(question_of(frame[SEAL_BYTES:]))
        write_frame(replies, frame[:SEAL_BYTES] + encoded(answer))


class _Server:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._module: ModuleType | None = None

    def answer(self, question: Question) -> Answer:
        """Whatever the class raises is its answer."""
        try:
            if self._module is None:
                self._module = load(self._path)
            kind = getattr(self._module, question.name)
        except Exception as error:  # noqa: BLE001 - it is not trusted
            return Answer(error=self._said(error))
        if question.ask is Ask.SIGNATURE:
            return _signature(kind)
        return Answer(report=self._tried(kind, question))

    def _tried(self, kind: Callable[..., object], question: Question) -> Report:
        trial = _Trial(self._module, kind, question.call)
        try:
            if question.ask is Ask.SHAPES:
                with FakeTensorMode(allow_non_fake_inputs=True), torch.no_grad():
                    trial.run(with_contents=False)
            else:
                with torch.no_grad():
                    trial.run(with_contents=True)
        except Exception as error:  # noqa: BLE001 - it is not trusted
            return trial.report(self._said(error), self._line(error))
        return trial.report("", "")

    def _said(self, error: Exception) -> str:
        words = " ".join(str(error).split())
        return f"{type(error).__name__}: {words}"[:_LONGEST]

    def _line(self, error: Exception) -> str:
        own = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(self._path)]
        return (own[-1].line or "") if own else ""


class _UnfitError(Exception):
    """Why what ran makes no task."""


class _Trial:
    """A class that is built and called, as far as that goes."""

    def __init__(self, module: ModuleType | None, kind: Callable[..., object], call: Call | None) -> None:
        self._module = module
        self._kind = kind
        self._call = call
        self._reached = Reached.IMPORTED
        self._model: torch.nn.Module | None = None
        self._trace = Tracing()

    def run(self, *, with_contents: bool) -> None:
        """Raises whatever the class raises, and `_UnfitError`."""
        torch.manual_seed(_SEED)
        model = self._built()
        self._model = model
        self._reached = Reached.BUILT
        inputs = self._inputs(_SEED)
        with self._trace:
            answer = model(*inputs)
        self._reached = Reached.RAN
        if with_contents:
            others = [self._inputs(_SEED), self._inputs(_SEED + 1)]
            if because := misfit(model, inputs, others, answer, self._trace):
                raise _UnfitError(because)
            self._reached = Reached.FIT

    def _built(self) -> torch.nn.Module:
        call = self._call
        if call is None:
            model = self._kind(*getattr(self._module, "get_init_inputs", list)())
        else:
            model = self._kind(**{one.name: eval(one.text, {"torch": torch}) for one in call.settings})
        if not isinstance(model, torch.nn.Module):
            raise TypeError("it is no module")
        model.eval()
        for place, (_, tensor) in enumerate(parameters_of(model)):
            tensor.copy_(moved(tensor, _SEED, place) if not _is_fake(tensor) else tensor)
        return model

    def _inputs(self, seed: int) -> list[object]:
        torch.manual_seed(seed)
        if self._call is None:
            return list(getattr(self._module, "get_inputs", list)())
        return [_drawn(one) for one in self._call.inputs]

    def report(self, error: str, line: str) -> Report:
        """Returns how far it came."""
        return Report(
            self._reached,
            error.removeprefix("_UnfitError: "),
            line,
            tuple(_layers(self._model)) if self._model is not None else (),
            tuple(self._trace.operations) if self._reached in (Reached.RAN, Reached.FIT) else (),
            self._trace.bytes_moved,
        )


def _is_fake(tensor: torch.Tensor) -> bool:
    return type(tensor) is not torch.Tensor and type(tensor) is not torch.nn.Parameter


def _drawn(given: Given) -> object:
    match given.contents:
        case Contents.NORMAL:
            return torch.randn(given.shape)
        case Contents.INDICES:
            return torch.randint(0, given.below, given.shape)
        case Contents.SEVERAL:
            return [torch.randn(given.shape) for _ in range(3)]
        case Contents.LITERAL:
            return eval(given.text, {"torch": torch})


def _layers(model: torch.nn.Module) -> Iterator[Layer]:
    """Yields the layers of torch in `model`, in the order in which they were made."""
    for module in model.modules():
        kind = type(module).__name__
        size = next((getattr(module, name) for name in _SIZES if isinstance(getattr(module, name, None), int)), None)
        if size is not None and type(module).__module__.startswith("torch.nn"):
            yield Layer(kind, size)
        elif kind == "LayerNorm" and isinstance(shape := getattr(module, "normalized_shape", None), tuple) and shape:
            yield Layer(kind, int(shape[-1]))


def _signature(kind: Callable[..., object]) -> Answer:
    if not (isinstance(kind, type) and issubclass(kind, torch.nn.Module)):
        return Answer(error="it is no module")
    try:
        built = inspect.signature(kind.__init__)
        called = inspect.signature(kind.forward)
    except (TypeError, ValueError) as error:
        return Answer(error=f"{type(error).__name__}: {error}")
    return Answer(Signature(tuple(_parameters(built)), tuple(_parameters(called))))


def _parameters(signature: inspect.Signature) -> Iterator[Parameter]:
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    for one in list(signature.parameters.values())[1:]:
        if one.kind not in several:
            annotation = "" if one.annotation is inspect.Parameter.empty else str(one.annotation)
            default = None if one.default is inspect.Parameter.empty else repr(one.default)[:80]
            yield Parameter(one.name, annotation, default)
