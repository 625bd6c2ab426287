"""How long runs of different kinds may take."""

from pathlib import Path

import pytest

from porter.evaluate import bench


@pytest.fixture
def allowed(monkeypatch):
    """`allowed(kind)`: the seconds of processor time that a run of this kind may use, of 20 for the longest."""
    monkeypatch.setattr(bench, "run", lambda *given: given[-1].cpu_s)

    def seconds(kind):
        with bench.bench(Path(), 20.0) as made:
            return getattr(made, kind)(None)(None)

    return seconds


def test_a_program_may_use_less_than_a_call_and_a_look_at_a_contract_least(allowed):
    assert allowed("execute") == 20.0
    assert allowed("briefly") < allowed("program") < allowed("execute")
