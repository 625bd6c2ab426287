"""Times on the terminal and as JSON."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from porter.contract.model.contract import Workload
from porter.evaluate.model.outcome import Fidelity
from porter.evaluate.model.speed import Baseline, Measured, NotMeasured, speedup
from porter.measure.environment import DeviceState, Environment
from porter.measure.interleave import Ratio, Stopped
from porter.measure.timing import Timing
from porter.report.migration.document import migration_document
from porter.report.migration.markdown import migration_markdown
from porter.report.migration.speed import speeds_text
from porter.writing.document import encode_json

STATE = DeviceState(1980, 3201, 120.0, 40, (), 0)
ENVIRONMENT = Environment(
    *("H200", "GPU-1", "580.1", "13.0", 132, 60 << 20, 1980, "2.11", "3.6", "13.0.88", "0.2", "abc"), STATE, STATE
)


def times(median: float) -> Timing:
    return Timing(tuple(median + step / 100 for step in range(-5, 6)))


@pytest.fixture
def measured() -> Measured:
    baseline = Baseline("cuda", times(20.0), Ratio(0.5, (0.49, 0.51)))
    workload = Workload("bench", {"n": 1 << 20}, 1)
    found = (baseline,), ("pytorch: it raised",), "", Stopped.NARROW, 0, 8 << 20, 4e12
    return Measured(workload, Fidelity.PROXY, times(10.0), *found, ENVIRONMENT)


@pytest.fixture
def entry(migration, measured):
    return replace(migration.entries[0], speeds=(measured,))


def test_a_time_stands_beside_its_baseline_with_its_fidelity(entry):
    text = speeds_text(entry).plain
    assert "bench (n = 1048576)" in text
    assert "proxy" in text
    assert "10.00 us" in text
    assert "20.00 us" in text
    assert "2.000" in text
    assert "H200" in text


def test_what_is_out_of_the_ordinary_is_said(entry, measured):
    hot = replace(STATE, slowed_by=("thermal slowdown",), others=1)
    odd = replace(
        measured,
        by_calls="it synchronises",
        left_out=3,
        stopped=Stopped.BUDGET,
        environment=replace(ENVIRONMENT, after=hot),
    )
    text = speeds_text(replace(entry, speeds=(odd,))).plain
    for said in ("it synchronises", "3 disturbed", "used up", "thermal slowdown", "another process"):
        assert said in text


def test_without_a_time_the_reason_stands_there(entry, measured):
    none = NotMeasured(measured.workload, Fidelity.NATIVE, "its answer on the device differs: y at [3]")
    text = speeds_text(replace(entry, speeds=(none,))).plain
    assert "not timed at 'bench' (native): its answer on the device differs: y at [3]" in text


def test_the_markdown_has_a_table_of_times_and_claims_no_other(migration, entry, software):
    none = NotMeasured(None, Fidelity.NATIVE, "the device is gone")
    timed = replace(entry, speeds=(*entry.speeds, none))
    page = migration_markdown(replace(migration, entries=(timed,)), software)
    assert "| bench (n = 1048576) | proxy | 10.00 us | 9.96 us to 10.04 us | cuda | 20.00 us | 2.000 |" in page
    assert "- not timed (native): the device is gone" in page
    assert "Fidelity: emulated. Times: proxy, by device events." in page
    untimed = migration_markdown(migration, software)
    assert "## Times" not in untimed
    assert "No speed was measured" in untimed


def test_json_has_the_first_time_its_baseline_and_every_one(migration, entry):
    document = json.loads(encode_json(migration_document(replace(migration, entries=(entry,)), ())))
    assert document["timing"]["median_us"] == 10.0
    assert len(document["timing"]["samples"]) == 11
    assert document["baseline"]["name"] == "cuda"
    assert (document["baseline"]["speedup"], document["speedup"]) == (2.0, 2.0)
    (time,) = document["times"]
    assert (time["workload"], time["sizes"], time["fidelity"]) == ("bench", {"n": 1 << 20}, "proxy")
    assert document["device"]["device"] == "H200"


def test_json_without_a_device_has_no_times(migration):
    document = migration_document(migration, ())
    assert (document["timing"], document["baseline"], document["speedup"]) == (None, None, None)
    assert (document["times"], document["device"]) == ([], None)


def test_the_speedup_is_the_geometric_mean_over_what_was_measured(measured):
    twice = replace(measured, baselines=(replace(measured.baselines[0], ratio=Ratio(2.0, (1.9, 2.1))),))
    none = NotMeasured(None, Fidelity.NATIVE, "no")
    assert speedup((measured, none, twice)) == pytest.approx(1.0)
    assert speedup((none,)) is None
