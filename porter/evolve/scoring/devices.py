"""Evaluates candidates on several devices of this machine: each goes to the device that has least to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from threading import Lock

from porter.errors import InputError
from porter.evaluate.model.migration import Progress
from porter.evaluate.model.outcome import Fidelity
from porter.evolve.scoring.evaluation import Evaluation, EvaluationRequest, Evaluators, Program
from porter.evolve.scoring.evaluator import LocalEvaluator
from porter.evolve.scoring.local import ThisMachine
from porter.evolve.scoring.subject import Subject
from porter.native.place import missing_device

CPU = "cpu"
_VISIBLE = "CUDA_VISIBLE_DEVICES"


def devices_here(environment: Mapping[str, str]) -> tuple[str, ...]:
    """Returns the devices that are visible, by which CUDA names them; the first where nothing says which."""
    if missing_device():
        return (CPU,)
    return tuple(name.strip() for name in environment.get(_VISIBLE, "0").split(",") if name.strip())


def on_device(environment: Mapping[str, str], device: str) -> Mapping[str, str]:
    """Returns the environment of work for one device."""
    return environment if device == CPU else {**environment, _VISIBLE: device}


def evaluators_here(environment: Mapping[str, str]) -> Evaluators:
    """Returns this machine as a place where candidates are evaluated, with all devices that are visible."""
    names = devices_here(environment)
    return TheseDevices(names) if len(names) > 1 else ThisMachine()


@dataclass(eq=False)
class _Device:
    """A device with the problem open, and how much it has to do."""

    evaluator: LocalEvaluator
    out: int = 0


@dataclass(frozen=True)
class DevicesEvaluator:
    """Evaluates candidates of one problem on devices of one kind; several threads may ask it at once."""

    devices: tuple[_Device, ...]
    _lock: Lock = field(default_factory=Lock, compare=False)

    @property
    def problem(self) -> str:
        """Returns the digest of the problem."""
        return self.devices[0].evaluator.problem

    @property
    def fidelity(self) -> Fidelity:
        """Returns where all devices score candidates."""
        return self.devices[0].evaluator.fidelity

    @property
    def device(self) -> str:
        """Returns the name of the devices that time them; empty where a model scores them."""
        return self.devices[0].evaluator.device

    def evaluate(self, program: Program, request: EvaluationRequest) -> Evaluation:
        """Returns the evaluation of the program that `request` names, by the device that has least to do."""
        with self._least_busy() as device:
            return device.evaluator.evaluate(program, request)

    @contextmanager
    def _least_busy(self) -> Iterator[_Device]:
        with self._lock:
            device = min(self.devices, key=lambda one: one.out)
            device.out += 1
        try:
            yield device
        finally:
            with self._lock:
                device.out -= 1


@dataclass(frozen=True, slots=True)
class TheseDevices:
    """Evaluates here, on the devices of these names."""

    names: tuple[str, ...]

    @contextmanager
    def open(self, subject: Subject, jobs: int, progress: Progress, *, own: bool) -> Iterator[DevicesEvaluator]:
        """Yields an evaluator that `jobs` threads may ask, which the devices share. With `own` they are porter's own.

        Raises `InputError` where the original itself is unsound or devices are of several kinds, and `MachineError`
        where one cannot be used.
        """
        share = -(-jobs // len(self.names))
        with ExitStack() as opened:
            devices = list[_Device]()
            for name in self.names:
                options = replace(subject.options, environment=on_device(subject.options.environment, name))
                one = ThisMachine().open(replace(subject, options=options), share, progress, own=own)
                devices.append(_Device(opened.enter_context(one)))
            if len(kinds := {one.evaluator.device for one in devices}) > 1:
                because = f"{' and '.join(sorted(kinds))}: their scores cannot be compared"
                raise InputError(because, f"{_VISIBLE} names devices of one kind")
            yield DevicesEvaluator(tuple(devices))
