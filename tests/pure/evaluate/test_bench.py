"""How long runs of different kinds may take."""

from dataclasses import replace
from pathlib import Path

import pytest

from porter.contract.model.contract import Entry, EntryKind
from porter.dialect import CUDA
from porter.evaluate.problem import bench
from porter.execution.job import BuildRequest, Callee, Executable, Job
from porter.simt.run import not_started
from porter.source_text import Source


@pytest.fixture
def allowed(monkeypatch):
    """`allowed(kind)`: the seconds of processor time that a run of this kind may use, of 20 for the longest."""
    monkeypatch.setattr(bench, "run", lambda *given: replace(not_started(), seconds=given[-1].cpu_s))
    request = BuildRequest(Source(Path("k.cu"), ""), (), CUDA, (Callee(Entry(EntryKind.KERNEL, "k")),), 32)

    def seconds(kind):
        with bench.bench(Path(), 20.0) as made:
            return getattr(made, kind)(Executable("program", "digest", request, 0))(Job()).seconds

    return seconds


def test_a_program_may_use_less_than_a_call_and_a_look_at_a_contract_least(allowed):
    assert allowed("execute") == allowed("original") == 20.0
    assert allowed("briefly") < allowed("program") < allowed("execute")
