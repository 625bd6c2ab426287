"""Which operators a folder holds."""

from pathlib import Path

import pytest

from porter.errors import InputError, UsageError
from porter.suite.result import Result, SuiteResult, Time, read_result, read_run, write_result, write_run
from porter.suite.selection import digest_of, find_operators

VIEWS = '[[view]]\nname = "most"\nleaves_out = ["b"]\nbecause = "it is another kind"\n'


@pytest.fixture
def suites(tmp_path):
    for name in ("one/norm/a", "one/norm/b", "two/loss/c"):
        folder = tmp_path / name
        folder.mkdir(parents=True)
        (folder / "kernel.cu").write_text("__global__ void k() {}\n")
        (folder / "contract.toml").write_text("")
    (tmp_path / "one/views.toml").write_text(VIEWS)
    return tmp_path


def keys(*arguments):
    return [operator.key for operator in find_operators(*arguments)]


@pytest.mark.parametrize(
    ("part", "found"),
    [
        ("", ["one/norm/a", "one/norm/b", "two/loss/c"]),
        ("one", ["one/norm/a", "one/norm/b"]),
        ("two/loss", ["two/loss/c"]),
        ("one/norm/b", ["one/norm/b"]),
    ],
)
def test_any_part_of_a_suite_is_one(suites, part, found):
    assert keys(suites / part) == found


def test_a_folder_is_known_wherever_it_is_named_from(suites, monkeypatch):
    monkeypatch.chdir(suites / "one/norm")
    assert keys(Path()) == ["one/norm/a", "one/norm/b"]


@pytest.mark.parametrize("part", ["", "one", "one/norm"])
def test_a_view_is_a_part_of_the_suite_that_defines_it(suites, part):
    assert keys(suites / part, "most") == ["one/norm/a"]


def test_a_view_nobody_defines_is_an_error_that_names_the_others(suites):
    with pytest.raises(UsageError, match="most"):
        find_operators(suites, "all")


def test_an_operator_without_a_contract_is_an_error(suites):
    (suites / "two/loss/c/contract.toml").unlink()
    with pytest.raises(InputError, match=r"contract\.toml.*\n.*suite new"):
        find_operators(suites)


@pytest.mark.parametrize("name", ["gone", "empty"])
def test_a_folder_without_operators_is_an_error(tmp_path, name):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=name):
        find_operators(tmp_path / name)


def test_the_digest_changes_with_any_file(suites):
    (operator, *_) = find_operators(suites)
    before = digest_of(operator)
    (operator.folder / "reference.py").write_text("x = 1\n")
    with_reference = digest_of(operator)
    (operator.folder / "reference.py").write_text("x = 2\n")
    assert len({before, with_reference, digest_of(operator)}) == 3


RESULT = Result(
    "one",
    "norm",
    "a",
    "d1",
    "verified",
    "equal",
    "emulated",
    ("PORT1001",),
    "one/norm/a/kernel.py",
    2.5,
    {"cuda": 1.5},
    Time(2.0, 1.5, 2.5),
)


def test_a_run_is_read_back_as_it_was_written(tmp_path):
    run = SuiteResult("maca", "c500", "1.0", (RESULT,), ("one/norm/a", "one/norm/b"))
    write_run(tmp_path, run)
    write_result(tmp_path / "a", RESULT)
    assert read_run(tmp_path) == read_run(tmp_path / "suite.json") == run
    assert read_result(tmp_path / "a") == RESULT


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"results": 1}', '{"target":"t","arch":"","porter":"","results":[{}]}']
)
def test_what_is_no_run_is_an_error_that_names_it(tmp_path, text):
    (tmp_path / "suite.json").write_text(text)
    with pytest.raises(InputError, match=r"suite\.json"):
        read_run(tmp_path)


@pytest.mark.parametrize("text", ["", "[]", '{"suite": "one"}'])
def test_a_result_that_is_not_whole_is_none(tmp_path, text):
    (tmp_path / "result.json").write_text(text)
    assert read_result(tmp_path) is None
