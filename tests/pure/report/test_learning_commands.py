"""`porter train schedules` and `porter study` on a small table."""

import json

import pytest

from porter.cli.main import main
from porter.learn.landscape import synthetic
from porter.learn.records import plain
from porter.learn.schedule_model import load


@pytest.fixture
def table(tmp_path):
    """A table of what a formula says."""
    rows = [
        {
            "name": one.name,
            "category": "any",
            "nests": [plain(one.nest)],
            "schedules": plain(one.choices[:30]),
            "order": [3, 1],
        }
        for one in synthetic(6)
    ]
    file = tmp_path / "table.json"
    file.write_text(json.dumps({"about": {"device": "none"}, "operators": rows}))
    return file


def called(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_a_model_is_trained_and_says_of_what(table, tmp_path, capsys):
    model = tmp_path / "model.json"
    code, said, _ = called(capsys, "train", "schedules", table, "--out", model)
    assert code == 0
    assert "trained on 180 schedules of 6 operators" in said
    assert load(model).about == {"device": "none", "table": "table.json", "seed": "0"}
    first = model.read_bytes()
    assert called(capsys, "train", "schedules", table, "--out", model, "--json")[0] == 0
    assert model.read_bytes() == first


def test_a_study_is_a_table_a_document_and_raw_results(table, tmp_path, capsys):
    words = ("--landscape", "tabular", "--table", table, "--arms", "random, order,learnt", "--seeds", 2)
    code, said, _ = called(capsys, "study", *words, "--evaluations", 4, "--out", tmp_path / "raw.json")
    assert code == 0
    assert [line.split(" | ")[0] for line in said.splitlines() if line.startswith("| ")][2:] == [
        "| random",
        "| order",
        "| learnt",
    ]
    assert "learnt less order: " in said
    raw = json.loads((tmp_path / "raw.json").read_text())
    assert {len(one["worths"]) for one in raw["played"]["learnt"]} == {4}
    assert len(raw["played"]["random"]) == 12
    document = json.loads(called(capsys, "study", *words, "--evaluations", 4, "--json")[1])
    assert document == {name: raw[name] for name in document}
    assert document["about"] == {"landscape": "tabular: table.json", "device": "none"}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--arms", "random,best"], "there is no arm best"),
        (["--arms", ","], "the arms are"),
        (["--landscape", "tabular"], "tabular with --table"),
        (["--held-out", "nothing"], "the choices are family, operator"),
        (["--landscape", "moon"], "a landscape is synthetic"),
        (["--table", "nowhere.json"], "a landscape is synthetic"),
        (["--landscape", "tabular", "--table", "nowhere.json"], "cannot be read"),
    ],
)
def test_wrong_usage_of_a_study_is_named(capsys, words, said):
    code, _, complaint = called(capsys, "study", *words)
    assert (code, said in complaint) == (2, True), complaint
