import json
import sys

import pytest

from porter.errors import InputError, MachineError
from porter.evolve.replay import replayed
from porter.learn.step_files import read_steps, write_steps
from porter.learn.steps import Work, steps
from tests.pure.evolve.world import run
from tests.pure.learn.steps_by_hand import search


@pytest.fixture
def found(tmp_path):
    run(tmp_path / "run")
    return list(steps(replayed(tmp_path / "run").lines, Work("run", "op.cu", "norm", "triton", "sm_90", "")))


def test_lines_are_read_back_as_the_steps_they_are(found, tmp_path):
    file = write_steps(found, tmp_path / "steps.jsonl")
    assert read_steps(file) == found
    assert len(file.read_text("ascii").splitlines()) == len(found)


def test_a_table_is_read_back_as_the_steps_it_holds(found, tmp_path):
    pytest.importorskip("pyarrow.parquet", reason="the extra `parquet` is not installed")
    half = "\ud800"  # of a letter: Parquet has none
    whole = [step for step in found if half not in repr(step) and "\\ud800" not in repr(step)]
    assert len(whole) > 5
    assert read_steps(write_steps(whole, tmp_path / "steps.parquet")) == whole
    assert len(read_steps(write_steps(found, tmp_path / "all.parquet"))) == len(found)


def test_a_table_without_the_library_for_it_names_that(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MachineError, match=r"pyarrow") as caught:
        write_steps(search(2.0), tmp_path / "steps.parquet")
    assert "porter[parquet]" in caught.value.hint
    assert not list(tmp_path.iterdir())


def test_nothing_is_written_over(tmp_path):
    file = write_steps(search(2.0), tmp_path / "steps.jsonl")
    with pytest.raises(InputError, match="exists"):
        write_steps(search(2.0), file)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda row: row | {"version": 99}, "porter step 1, not porter step 99"),
        (lambda row: row | {"number": "three"}, "'three' is not int"),
        (lambda row: row | {"extra": 1}, "a Step has"),
        (lambda row: row | {"outcome": None}, "None is not dict"),
        (lambda row: [row], "no step"),
    ],
)
def test_a_line_that_is_no_step_is_named(tmp_path, change, said):
    good, bad = write_steps(search(2.0), tmp_path / "good.jsonl"), tmp_path / "bad.jsonl"
    first, second = good.read_text().splitlines()
    bad.write_text(f"{first}\n{json.dumps(change(json.loads(second)))}\n")
    with pytest.raises(InputError, match=said) as caught:
        read_steps(bad)
    assert "bad.jsonl:2" in caught.value.message


def test_what_is_no_file_of_lines_is_said_to_be_none(tmp_path):
    (tmp_path / "bad.jsonl").write_text("{\n")
    with pytest.raises(InputError, match="lines of JSON"):
        read_steps(tmp_path / "bad.jsonl")
