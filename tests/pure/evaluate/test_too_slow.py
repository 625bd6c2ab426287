"""What is too slow to be timed beside, once, is not tried again: everybody else waits for it."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from porter.contract.infer.draft import draft
from porter.evaluate.model.outcome import Fidelity
from porter.evaluate.timing.answers import NativeAnswers
from porter.evaluate.timing.timing import Stopwatch
from porter.execution.job import Fault, FaultKind, Run, TensorValue
from porter.native.requests import LibraryEntry, ReferenceEntry
from porter.native.session import CandidateError
from porter.native.timed import Timed
from porter.source.parse import parse
from porter.source_text import Source

SOURCE = """
__global__ void copy(const float* x, float* y, int n) { int i = threadIdx.x; if (i < n) y[i] = x[i]; }
void launch(const float* x, float* y, int n) { copy<<<1, 1024>>>(x, y, n); }
"""
LATE = Fault(FaultKind.TIMEOUT, "", 0, "", "the time limit is reached", fatal=True)


class Session:
    """A process in which `slow` ends by the time limit, and all else copies; nothing can be prepared to be timed."""

    is_ready = False

    def __init__(self):
        self.called = []

    def wait(self):
        pass

    def forget(self):
        pass

    def run(self, entry, given, _host):
        self.called.append(entry.symbol)
        late = entry.symbol == "slow"
        tensors = [a for a in given.arguments if isinstance(a, TensorValue)]
        outputs = () if late else tuple(TensorValue(t.dtype, t.shape, tensors[0].storage) for t in tensors)
        return Run(not late, 0, outputs, (), (), (), (), (LATE,) if late else (), "", "", 0.0)

    def begin(self):
        pass

    def compile(self, _entry, _given):
        self.called.append("compiling")
        raise CandidateError(Run(False, 1, (), (), (), (), (), (LATE,), "", "", 0.0))

    def prepare(self, *_):
        raise CandidateError(Run(False, 1, (), (), (), (), (), (LATE,), "", "", 0.0))


@contextmanager
def unheld(*_):
    yield


@pytest.fixture
def contract():
    return next(c for c in draft(parse(Source(Path("op.cu"), SOURCE)), whole_program=False) if c.entry.name == "launch")


def time_two_workloads(contract, session, slow):
    """Returns the baselines that were given up, of which one has the entry `slow`."""
    too_slow = {}
    timed = {name: Timed(session, LibraryEntry("", name)) for name in ("candidate", "cuda")}
    device, lock = SimpleNamespace(memory_bytes=1 << 37), SimpleNamespace(shared=unheld, turn=unheld)
    place = SimpleNamespace(lock=lock, device=device, one=None)
    baselines = {"cuda": timed["cuda"], "slow": Timed(session, slow)}
    for workload in contract.workloads[:2]:
        answers = NativeAnswers(contract, timed["cuda"])
        watch = Stopwatch(place, contract, answers, Fidelity.NATIVE, too_slow=too_slow)
        watch.time(timed["candidate"], workload, baselines)
    return too_slow


def test_a_baseline_that_takes_too_long_to_compile_is_not_called(contract):
    session = Session()
    too_slow = time_two_workloads(contract, session, ReferenceEntry("", compiled=True))
    assert session.called.count("compiling") == 1
    assert set(session.called) == {"compiling", "cuda", "candidate"}
    assert too_slow == {"slow": f"the time limit is reached at '{contract.workloads[0].name}'"}


def test_a_baseline_that_is_too_slow_is_tried_once(contract):
    session = Session()
    too_slow = time_two_workloads(contract, session, LibraryEntry("", "slow"))
    assert session.called.count("slow") == 1
    assert session.called.count("candidate") == 2
    assert too_slow == {"slow": f"the time limit is reached at '{contract.workloads[0].name}'"}
