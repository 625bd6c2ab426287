"""A Ray cluster as one place where candidates are evaluated: an actor for each device, shared by all searches.

Where a node has GPUs each of them is a device; where no node of the cluster has one, each node is. What was asked of
an actor that is lost, alone or with its node, is asked of another one. Lost ones are started again, and nodes that join
are used, within seconds.

Ray is an extra, and imported where a cluster is named.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from porter.errors import InputError, MachineError, PorterError
from porter.evaluate.model.migration import Progress
from porter.evaluate.model.outcome import Fidelity
from porter.evolve.scoring.evaluation import Evaluation, EvaluationRequest, Program, content_of, problem_of
from porter.evolve.scoring.subject import Subject
from porter.launch_plan.wire import WireError, decode
from porter.serve.protocol import OpenedProblem
from porter.serve.queue import too_late
from porter.serve.ray_device import RayDevice

LOCAL, AUTO = "ray://local", "ray://auto"
IDLE_S = 60.0  # after which a device that nobody asks is given back to the cluster
_NAMESPACE = "porter"
_OPENING_S = 900.0  # an original may be studied for minutes, and devices be busy with work of others
_PATIENCE_S = 60.0  # with a cluster that has no device left
_LOOK_S = 2.0  # between two looks at the nodes of a cluster that has lost a device, or may have gained one
_PAUSE_S = 0.1  # while no device is free
_MOST_LOST = 5  # devices that one request may be lost with
_SAME_VERSION = "porter of the same version has to be installed on all nodes"
_ONE_KIND = "use nodes with one kind of device"
_Record = TypeVar("_Record")


def ray_module() -> Any:  # noqa: ANN401 - an extra, whose types are not there where it is not
    """Ray. Raises `MachineError` where it is not installed."""
    try:
        return importlib.import_module("ray")
    except ImportError as error:
        raise MachineError(f"a Ray cluster needs the extra porter[ray]: {error}", "pip install 'porter[ray]'") from None


@dataclass(frozen=True, slots=True)
class Slot:
    """A place for an actor in a cluster: a device of a node, whose share of the cores evaluates as many candidates."""

    node: str
    number: int
    gpus: int
    cores: int


def slots_of(nodes: Sequence[dict[str, Any]]) -> tuple[Slot, ...]:
    """Returns the devices of a cluster, of whose nodes Ray says this."""
    alive = [(node["NodeID"], node["Resources"]) for node in nodes if node["Alive"]]
    with_gpus = [(name, has) for name, has in alive if has.get("GPU", 0) >= 1]
    found = list[Slot]()
    for name, has in with_gpus or alive:
        gpus = int(has.get("GPU", 0)) if with_gpus else 0
        cores = int(has.get("CPU", 0)) // max(1, gpus)
        found += [Slot(name, number, min(1, gpus), cores) for number in range(max(1, gpus)) if cores]
    return tuple(found)


@dataclass(eq=False)
class _Device:
    """An actor that was asked to open the problem, what it said, and how much of this search it has to do."""

    slot: Slot
    actor: Any
    opening: Any
    opened: OpenedProblem | None = None
    out: int = 0


class RayEvaluator:
    """Evaluates candidates of one problem on all devices of a cluster; several threads may ask it at once.

    `lost` counts the requests that had to be asked again. Raises `MachineError` where no device can be had, and
    `InputError` where the original is unsound.
    """

    def __init__(self, cache: Callable[[], Path], content: bytes, seed: int, idle_s: float = IDLE_S) -> None:
        self._ray = ray_module()
        self._cache, self._content, self._seed, self._idle_s = cache, content, seed, idle_s
        self._devices: dict[Slot, _Device] = {}
        self._lock = Lock()
        self._looked_at = 0.0
        self.lost = 0
        # An answer may lie on the node that is lost.
        self._losses = (self._ray.exceptions.RayActorError, self._ray.exceptions.ObjectLostError)
        with self._least_busy() as first:
            assert first.opened is not None
            self._opened = first.opened

    @property
    def problem(self) -> str:
        """Returns the digest of the problem."""
        return self._opened.problem

    @property
    def fidelity(self) -> Fidelity:
        """Returns where all devices score candidates."""
        return self._opened.fidelity

    @property
    def device(self) -> str:
        """Returns the name of the devices that time them; empty where a model scores them."""
        return self._opened.device

    @property
    def devices(self) -> int:
        """Returns how many devices have opened the problem by now."""
        with self._lock:
            self._look()
            return len(self._ready())

    def evaluate(self, program: Program, request: EvaluationRequest) -> Evaluation:
        """Returns what came of the program that `request` names, on whichever device.

        Raises `MachineError` where the cluster failed, has no device left, or lost five with this very request.
        """
        asked, ends = (content_of(program), content_of(request)), time.monotonic() + request.deadline_s
        for _ in range(_MOST_LOST):
            with self._least_busy() as device:
                answer = device.actor.evaluate.remote(*asked)
                try:
                    return self._got(Evaluation, answer, max(0.0, ends - time.monotonic()))
                except self._ray.exceptions.GetTimeoutError:
                    return decode(Evaluation, too_late(request.deadline_s))
                except self._losses:
                    self._lose(device)
        raise MachineError(f"a candidate was lost with {_MOST_LOST} devices of the cluster, one after the other")

    @contextmanager
    def _least_busy(self) -> Iterator[_Device]:
        """The device that has least to do for its cores, of those that have opened the problem."""
        device = self._chosen()
        try:
            yield device
        finally:
            with self._lock:
                device.out -= 1

    def _chosen(self) -> _Device:
        """Waits for a device. Raises `MachineError` where the cluster has none for a minute, or all are in use."""
        began = time.monotonic()
        while True:
            with self._lock:
                self._look()
                if found := min(self._ready(), key=lambda one: one.out / one.slot.cores, default=None):
                    found.out += 1
                    return found
                patience_s = _OPENING_S if self._devices else _PATIENCE_S
            if time.monotonic() - began >= patience_s:
                raise MachineError("no device of the cluster is free", "`ray status` says what is there, and in use")
            time.sleep(_PAUSE_S)

    def _ready(self) -> list[_Device]:
        """Returns the devices that have opened the problem. Raises `InputError` where they score in different ways."""
        ready = list[_Device]()
        for device in tuple(self._devices.values()):
            if device.opened is None and self._ray.wait([device.opening], timeout=0)[0]:
                try:
                    device.opened = self._got(OpenedProblem, device.opening, _PATIENCE_S)
                except self._losses:
                    del self._devices[device.slot]
            if device.opened is not None:
                ready.append(device)
        if len({(one.opened.fidelity, one.opened.device) for one in ready if one.opened}) > 1:
            names = sorted({one.opened.device or "no device" for one in ready if one.opened})
            raise InputError(f"the cluster has {' and '.join(names)}: their scores cannot be compared", _ONE_KIND)
        return ready

    def _got(self, kind: type[_Record], answer: object, timeout_s: float) -> _Record:
        """The record that an actor answers. Raises the `PorterError` that it did, a `MachineError` for all else."""
        try:
            return decode(kind, self._ray.get(answer, timeout=timeout_s))
        except self._ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, PorterError):
                raise error.cause from None
            raise MachineError(f"a device of the cluster failed: {error}", _SAME_VERSION) from error
        except WireError as error:
            raise MachineError(f"the answer of a device is no {kind.__name__}: {error}", _SAME_VERSION) from error

    def _look(self) -> None:
        """Begin on devices that are there and not used: new ones, and those whose actor was lost."""
        if time.monotonic() - self._looked_at < _LOOK_S:
            return
        for slot in slots_of(self._ray.nodes()):
            if slot not in self._devices:
                actor = self._actor(slot)
                self._devices[slot] = _Device(slot, actor, actor.open.remote(self._content, self._seed))
        self._looked_at = time.monotonic()

    def _actor(self, slot: Slot) -> Any:  # noqa: ANN401 - a handle of Ray's
        strategies = importlib.import_module("ray.util.scheduling_strategies")
        return (
            self._ray.remote(RayDevice)
            .options(
                name=f"{slot.node} {slot.number}",
                namespace=_NAMESPACE,
                get_if_exists=True,
                lifetime="detached",  # by itself an actor ends with who began it, and others use it
                num_gpus=slot.gpus,
                num_cpus=slot.cores,
                max_concurrency=slot.cores,
                scheduling_strategy=strategies.NodeAffinitySchedulingStrategy(slot.node, soft=False),
            )
            .remote(self._cache, slot.cores, self._idle_s)
        )

    def _lose(self, device: _Device) -> None:
        """Use an actor no longer; its slot is looked at again as soon as others are."""
        with self._lock:
            self.lost += 1
            if self._devices.get(device.slot) is device:
                del self._devices[device.slot]


@dataclass(frozen=True)
class RayCluster:
    """Evaluates on the cluster at `address`; its nodes keep builds where `cache` says on each."""

    address: str
    cache: Callable[[], Path]

    def connect(self) -> None:
        """Join the cluster, or start one of this machine alone. Raises `MachineError` where there is none."""
        ray = ray_module()
        if ray.is_initialized():
            return
        address = {LOCAL: "local", AUTO: "auto"}.get(self.address, self.address)
        alone = {"include_dashboard": False} if self.address == LOCAL else {}
        try:
            ray.init(address, namespace=_NAMESPACE, log_to_driver=False, logging_level="ERROR", **alone)
        except Exception as error:
            raise MachineError(f"{self.address}: no Ray cluster: {error}", "`ray status` on a node of it") from error

    @contextmanager
    def open(self, subject: Subject, jobs: int, progress: Progress, *, own: bool) -> Iterator[RayEvaluator]:  # noqa: ARG002
        """An evaluator of `subject`; how many candidates it evaluates at once is the cluster's to say.

        Raises `InputError` where the original itself is unsound, and `MachineError` where the cluster has no device.
        """
        self.connect()
        progress(f"opening the problem at {self.address}")
        yield RayEvaluator(self.cache, content_of(problem_of(subject)), subject.options.seed or 0)
