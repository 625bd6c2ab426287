"""`porter steps` on searches that really ran."""

import json

import pytest

from porter.cli.main import main
from porter.learn.step_files import read_steps
from tests.pure.report.search_world import searched


@pytest.fixture
def run(tmp_path):
    return searched(tmp_path / "run")


def called(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_steps_of_several_searches_are_one_file(run, tmp_path, capsys):
    other, file = searched(tmp_path / "other", rounds=3), tmp_path / "steps.jsonl"
    code, said, _ = called(capsys, "steps", run, other, "--out", file, "--without-prompts")
    found = read_steps(file)
    assert (code, said.splitlines()[-1]) == (0, f"wrote {file}")
    assert {step.work.run.split()[0] for step in found} == {"run", "other"}
    assert not any(step.is_first for step in found)


def test_a_document_says_how_many_are_left(run, tmp_path, capsys):
    code, said, _ = called(
        capsys, "steps", run, "--out", tmp_path / "s.jsonl", "--without-prompts", "--better", "--most", 2, "--json"
    )
    counts = json.loads(said)["counts"]
    assert code == 0
    assert list(counts.values()) == sorted(counts.values(), reverse=True)
    assert len(read_steps(tmp_path / "s.jsonl")) == counts["after balancing"] == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--which", "some"], "the choices are all, initial, best"),
        (["--held-out", "nowhere"], "no operators are there"),
        (["--most", "0"], "--most"),
    ],
)
def test_wrong_usage_is_named(run, tmp_path, capsys, words, said):
    code, _, complaint = called(capsys, "steps", run, "--out", tmp_path / "s.jsonl", "--without-prompts", *words)
    assert (code, said in complaint) == (2, True)
    assert not (tmp_path / "s.jsonl").exists()


def test_a_prompt_needs_what_the_search_was_about(run, tmp_path, capsys):
    code, _, complaint = called(capsys, "steps", run, "--out", tmp_path / "s.jsonl")
    assert (code, "its journal does not say what" in complaint) == (2, True)
