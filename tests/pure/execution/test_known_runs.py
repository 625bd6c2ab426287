"""A run of an original is made once, if the same job would come to the same again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from porter.contract.model.contract import Entry, EntryKind
from porter.contract.model.dtype import DType
from porter.dialect import CUDA
from porter.evaluate.problem.bench import bench, limits
from porter.execution.job import (
    BuildRequest,
    Callee,
    Executable,
    Fault,
    FaultKind,
    Job,
    Limits,
    Run,
    ScalarValue,
    Schedule,
    TensorValue,
)
from porter.execution.known_runs import KnownRuns
from porter.simt.run import not_started
from porter.source_text import Source

REQUEST = BuildRequest(Source(Path("k.cu"), ""), (), CUDA, (Callee(Entry(EntryKind.KERNEL, "k")),) * 2, 32)
KERNEL = Executable("program", "digest", REQUEST, 0)
ENDED = replace(not_started(), finished=True, exit_code=0, seconds=0.2)


def job(last: float = 2.0, count: int = 2) -> Job:
    storage = np.array([1.0, *[last] * (count - 1)], np.float32)
    return Job((TensorValue(DType.FLOAT32, (count,), storage), ScalarValue(count)))


class Asked:
    """Known runs, and how many had to be made."""

    def __init__(self, run: Run) -> None:
        self.known, self.run, self.made = KnownRuns(), run, 0

    def __call__(self, given: Job, executable: Executable = KERNEL, within: Limits | None = None) -> Run:
        return self.known.get(executable, given, within or limits(1.0), self._make)

    def _make(self) -> Run:
        self.made += 1
        return self.run


def test_the_same_job_is_run_once():
    asked = Asked(ENDED)
    assert asked(job()) is asked(job())
    assert asked.made == 1


@pytest.mark.parametrize(
    "other",
    [
        job(last=-2.0),
        replace(job(), poison=0),
        replace(job(), schedule=Schedule.REVERSE),
        replace(job(), grid=(2, 1, 1)),
        replace(job(), before=job().arguments),
        replace(job(), arguments=(job().arguments[0], ScalarValue(2.0))),
        replace(job(), arguments=(replace(job().arguments[0], shape=(1, 2)), ScalarValue(2))),
    ],
)
def test_another_job_is_another_run(other):
    asked = Asked(ENDED)
    asked(job())
    asked(other)
    assert asked.made == len((job(), other))


def test_another_entry_is_another_run():
    asked = Asked(ENDED)
    asked(job())
    asked(job(), replace(KERNEL, index=1))
    assert asked.made == len(REQUEST.callees)


def test_a_run_that_took_longer_than_allowed_is_made_again():
    asked = Asked(ENDED)
    asked(job())
    asked(job(), within=limits(0.25))
    assert asked.made == 1
    asked(job(), within=limits(0.1))
    assert asked.made > 1


@pytest.mark.parametrize("kind", [FaultKind.TIMEOUT, FaultKind.RESOURCE])
def test_what_hangs_on_the_machine_is_asked_again(kind):
    asked = Asked(replace(ENDED, faults=(Fault(kind, "", 0, "", "", fatal=True),)))
    asked(job())
    asked(job())
    assert asked.made > 1


def test_what_computed_for_too_long_is_only_asked_again_with_more_time():
    asked = Asked(replace(ENDED, faults=(Fault(FaultKind.TIMEOUT, "", 0, "", "", fatal=True),)))
    asked(job(), within=limits(0.2))
    asked(job(), within=limits(0.1))
    asked(job(), within=limits(0.2))
    assert asked.made == 1
    asked(job(), within=limits(0.4))
    assert asked.made > 1


def test_the_oldest_runs_are_forgotten():
    large = TensorValue(DType.FLOAT32, (1 << 21,), np.zeros(1 << 21, np.float32))
    asked = Asked(replace(ENDED, outputs=(large,)))
    many = [job(last=float(n)) for n in range(40)]
    for given in many:
        asked(given)
    asked(many[-1])
    assert asked.made == len(many)
    asked(many[0])
    assert asked.made > len(many)


def test_a_bench_knows_the_runs_that_it_is_given(tmp_path):
    known, asked = KnownRuns(), job()
    known.get(KERNEL, asked, limits(1.0), lambda: ENDED)
    with bench(tmp_path, 1.0, known=known) as place:
        assert place.original(KERNEL)(asked) is ENDED
