"""What is asked of a process while its measurement is alone with the device, before and after."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from porter.contract.infer.draft import draft
from porter.evaluate.model.outcome import Fidelity
from porter.evaluate.model.speed import Measured
from porter.evaluate.timing.answers import NativeAnswers
from porter.evaluate.timing.timing import Stopwatch
from porter.execution.job import Run, TensorValue
from porter.measure.environment import DeviceState
from porter.native.requests import LibraryEntry
from porter.native.session import DeviceFacts, Prepared, Replayed
from porter.native.timed import Timed
from porter.source.parse import parse
from porter.source_text import Source

SOURCE = """
__global__ void copy(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = x[i]; }
void launch(const float* x, float* y, int n) { copy<<<1, 1024>>>(x, y, n); }
"""
SETS = 4


class Session:
    """A process in which all entries copy in 10 us; `told` has what it was asked."""

    facts = DeviceFacts("Simulated", "GPU-0", 132, 1 << 20, 1 << 34, "2", "3", "13", (9, 0))
    is_ready = True

    def __init__(self, told):
        self.told, self._arms = told, 0

    def forget(self):
        self.told.append("forget")

    def run(self, _entry, given, _host):
        tensors = [a for a in given.arguments if isinstance(a, TensorValue)]
        outputs = tuple(TensorValue(t.dtype, t.shape, np.copy(tensors[0].storage)) for t in tensors)
        return Run(True, 0, outputs, (), (), (), (), (), "", "", 0.0)

    def prepare(self, *_):
        self.told.append("prepare")
        self._arms += 1
        return Prepared(self._arms - 1, "", SETS, ("copy",), (), "")

    def copy_bytes_per_s(self):
        self.told.append("copy")
        return 4e12

    def sample(self, order, *, captured):
        assert captured
        self.told.append("sample")
        return [10.0 for _ in order]

    def keep(self, _arm, _launches):
        self.told.append("keep")
        return 10.0, 10.0

    def replay(self, arm, job, _index):
        self.told.append(f"replay {arm}")
        return Replayed(self.run(None, job, frozenset()), 10.0, 10.0)


@pytest.fixture
def told():
    """Returns what happens to a measurement of a candidate beside one baseline, each once where it is repeated."""
    drafted = draft(parse(Source(Path("op.cu"), SOURCE)), whole_program=False)
    contract = next(contract for contract in drafted if contract.entry.name == "launch")
    events: list[str] = []
    session = Session(events)

    @contextmanager
    def seated(_slots=1):
        yield

    @contextmanager
    def turn(_slots):
        events.append("turn")
        yield SimpleNamespace(alone=lambda: events.append("alone"), share=lambda: events.append("share"))

    device = SimpleNamespace(
        name="Simulated", uuid="GPU-0", memory_bytes=1 << 37, driver=lambda: "0", max_sm_clock_mhz=lambda: 1980,
        state=lambda: DeviceState(1980, 3201, 300.0, 40, (), 0),
    )  # fmt: skip
    place = SimpleNamespace(
        lock=SimpleNamespace(shared=seated, turn=turn), device=device, one=None, sessions=[], nvcc_version="13"
    )
    timed = {name: Timed(session, LibraryEntry("", name)) for name in ("candidate", "cuda")}
    watch = Stopwatch(place, contract, NativeAnswers(contract, timed["cuda"]), Fidelity.NATIVE)
    speed = watch.time(timed["candidate"], contract.workloads[0], {"cuda": timed["cuda"]})
    assert isinstance(speed, Measured)
    begun = events[events.index("turn") :]
    return [event for event, last in zip(begun, ["", *begun], strict=False) if event != last]


def test_only_what_is_clocked_is_asked_of_a_process_that_is_alone_with_the_device(told):
    assert told[: told.index("alone")] == ["turn", "prepare"]
    assert told[told.index("alone") : told.index("share")] == ["alone", "sample", "copy", "keep", "replay 0"]


def test_other_sets_and_baselines_are_asked_for_answers_once_others_may_begin(told):
    assert told[told.index("share") :] == ["share", "replay 0", "replay 1", "forget"]
