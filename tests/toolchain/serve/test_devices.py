"""Several devices of this machine as one: here each is the CPU, where a model scores."""

import os

from benchmarks.serve.faults import JUDGE_SEED, Work, search, search_here, without_clock
from porter.cache_folder import cache_folder
from porter.evaluate.model.migration import MigrateOptions
from porter.evolve.scoring.devices import CPU, TheseDevices
from porter.serve.problems import subject_of
from tests.toolchain.serve.server_process import PROBLEM

WORK = Work(evaluations=12, executed=0.5)


def test_a_search_on_two_devices_uses_both_and_has_the_journal_of_one(tmp_path):
    options = MigrateOptions("", cache_folder(), seed=JUDGE_SEED, environment=dict(os.environ))
    subject = subject_of(PROBLEM, tmp_path / "subject", options)
    with TheseDevices((CPU, CPU)).open(subject, 2, lambda _: None, own=False) as evaluator:
        with evaluator._least_busy() as first, evaluator._least_busy() as second:
            assert {first, second} == set(evaluator.devices)
        search(tmp_path / "both" / "0", evaluator, 0, WORK)
    assert not any(device.out for device in evaluator.devices)
    search_here(tmp_path / "one", 1, WORK)
    assert without_clock(tmp_path / "both" / "0") == without_clock(tmp_path / "one" / "0")
