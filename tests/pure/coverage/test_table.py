"""The page on coverage says what the records say, and a part of a list is a fair sample of it."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "benchmarks" / "coverage"


@pytest.fixture(scope="module")
def modules():
    sys.path.insert(0, str(FOLDER))
    try:
        yield {name: loaded(name) for name in ("run", "table")}
    finally:
        sys.path.remove(str(FOLDER))


def loaded(name):
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def run(modules):
    return modules["run"]


@pytest.fixture
def table(modules):
    return modules["table"]


def record(**changed):
    plain = {
        "repository": "a/b", "path": "k.cu", "family": "norm", "entry": "f", "kind": "torch", "kernels": 2,
        "outcome": "verified", "because": "equal", "findings": [], "seconds": 1.0, "launched": ["k"], "porter": "abc",
        "first_try": True,
    }  # fmt: skip
    return {**plain, **changed}


def items(run, count):
    return [run.Item("a/b", "c0ffee", "norm", f"{n}.cu") for n in range(count)]


def test_a_sample_depends_on_the_seed_alone(run):
    files = items(run, 20)
    first = run.sampled(files, 1, 7)
    assert first == run.sampled(files[::-1], 1, 7)
    assert first == run.sampled(files, 1, None)[:7]
    assert first != run.sampled(files, 2, 7)
    assert set(run.sampled(files, 1, None)) == set(files)


def test_without_a_seed_files_are_run_in_the_order_of_the_list(run):
    assert run.sampled(items(run, 5), None, 3) == items(run, 3)


def test_missing_and_failed_files_are_told_apart(run):
    known = [record(path="0.cu"), record(path="1.cu", outcome="wrong")]
    three = items(run, 3)
    assert run.wanted(three, known, missing=True, failed=False) == three[2:]
    assert run.wanted(three, known, missing=False, failed=True) == three[1:2]
    assert run.wanted(three, known, missing=True, failed=True) == three[1:]
    assert run.wanted(three, known, missing=False, failed=False) == three


def test_a_second_try_of_a_file_is_no_first(run, tmp_path):
    corpus = tmp_path / "list.toml"
    corpus.write_text('[[repository]]\nname = "a/b"\ncommit = "c"\nfiles = [{ family = "norm", path = "0.cu" }]\n')
    output = tmp_path / "records.json"
    fresh = [run.failed(items(run, 1)[0], "timeout", "no answer", 1.0)]
    run.write(output, corpus, fresh)
    assert [r["first_try"] for r in run.recorded(output)] == [True]
    run.write(output, corpus, fresh)
    assert [r["first_try"] for r in run.recorded(output)] == [False]


def test_a_file_that_takes_too_long_is_ended(run, tmp_path):
    runner = run.Runner(tmp_path, "maca", 0.5)
    assert runner._answer(["sh", "-c", "sleep 100 & wait"]) is None
    assert runner._answer(["sh", "-c", "echo out; echo no >&2"]) == ("out\n", "no\n")


def test_shares_count_entries_kernels_and_what_is_sound(table):
    unsound = record(outcome="not_verified", because=f"{table.SOURCE_AT_FAULT[-1]}: race in k")
    open_contract = record(outcome="not_verified", because="the contract is open: x")
    assert table.shares([record(), unsound, open_contract]) == ("1 of 3, 33 %", "50 %", "1 of 6")
    assert table.shares([]) == ("-", "-", "-")


def test_kernels_without_their_host_code_are_counted_apart(table):
    assert table.shares([record(), record(outcome="kernels_verified")])[0] == "1 of 2, 50 % (and 1 kernels alone)"
    assert table.shares([record(), record(outcome="wrong")])[0] == "1 of 2, 50 %"


def test_reasons_are_told_without_their_particulars(table):
    records = [record(outcome="not_verified", because=f"the contract is open: {n}") for n in range(3)]
    assert "| not verified: the contract is open | 3 |" in table.reasons("maca", records)
    assert table.reasons("maca", [record()]) == []


def test_tries_at_other_commits_stand_apart_and_second_tries_in_none(table, run, tmp_path, monkeypatch):
    corpus = tmp_path / "unseen_2000-01-01.toml"
    corpus.write_text('[[repository]]\nname = "a/b"\ncommit = "c"\nfiles = [{ family = "norm", path = "0.cu" }]\n')
    monkeypatch.setattr(run, "HERE", tmp_path)
    monkeypatch.setattr(
        table,
        "results_of",
        lambda _: {"maca": [record(porter="abc"), record(porter="def"), record(porter="def", first_try=False)]},
    )
    found = list(table.tries(corpus))
    assert [m.title.split()[-1] for m in found] == ["abc", "def"]
    assert [len(m.results["maca"]) for m in found] == [1, 1]


def test_equivalent_mutants_are_not_counted_as_missed(table, tmp_path):
    path = tmp_path / "mutation_2000-01-01.json"
    again = {"porter": "def", "outcome": "wrong", "because": "result at [0]"}
    survivors = [{"verdict": "equivalent: 0 is 0"}, {"verdict": "real: float64 tells", "retried": again}]
    path.write_text(
        json.dumps(
            {"mutants": 5, "not_verified": 3, "porter": ["abc"], "operators": {"maca": 2}, "survivors": survivors}
        )
    )
    page = "\n".join(table.mutants(path))
    assert "3 are not verified: 60%, and 75% of those that are not equivalent" in page
    assert "| real | 1 |" in page
    assert "Judged again at porter def: 1 real → wrong." in page
