"""A measurement can be cut anywhere and taken up again, and keeps what a person said of a survivor."""

import json
from dataclasses import replace

from benchmarks.mutation import journal
from benchmarks.mutation.journal import Entry
from benchmarks.mutation.summary import write_summary

KILLED = Entry("s/c/op", "triton", "sign", "aa", "-a\n+b", "wrong", "differs", "", 1.0, "abc")
SURVIVOR = Entry("s/c/op", "triton", "mask", "bb", "-c\n+d", "verified", "", "", 1.0, "abc")


def test_entries_come_back(tmp_path):
    path = tmp_path / "journal.jsonl"
    journal.append(path, [KILLED])
    journal.append(path, [SURVIVOR])
    assert journal.read(path) == [KILLED, SURVIVOR]


def test_a_line_that_was_cut_is_forgotten_and_does_not_spoil_the_next(tmp_path):
    path = tmp_path / "journal.jsonl"
    journal.append(path, [KILLED])
    with path.open("a") as file:
        file.write('{"operator": "s/c')
    assert journal.read(path) == [KILLED]
    journal.append(path, [SURVIVOR])
    assert journal.read(path) == [KILLED, SURVIVOR]


def test_of_two_judgements_of_a_mutant_the_last_counts(tmp_path):
    path = tmp_path / "journal.jsonl"
    later = replace(SURVIVOR, outcome="wrong", porter="def")
    journal.append(path, [SURVIVOR, later])
    assert journal.read(path) == [later]


def test_a_summary_counts_and_lists_the_survivors(tmp_path):
    path = tmp_path / "summary.json"
    write_summary([KILLED, SURVIVOR, replace(KILLED, digest="cc", outcome="not_built")], path)
    document = json.loads(path.read_text())
    assert (document["mutants"], document["not_verified"], document["not_built"]) == (3, 2, 1)
    assert document["operators"] == {"triton": 1}
    assert document["kinds"]["mask"] == {"verified": 1}
    assert [(one["digest"], one["verdict"]) for one in document["survivors"]] == [("bb", "")]


def test_what_a_person_said_of_a_survivor_stays(tmp_path):
    path = tmp_path / "summary.json"
    write_summary([SURVIVOR], path)
    document = json.loads(path.read_text())
    document["survivors"][0]["verdict"] = "equivalent: the mask is true throughout"
    document["survivors"][0]["retried"] = {"porter": "def", "outcome": "wrong", "because": ""}
    path.write_text(json.dumps(document))
    write_summary([KILLED, SURVIVOR], path)
    (kept,) = json.loads(path.read_text())["survivors"]
    assert kept["verdict"].startswith("equivalent")
    assert kept["retried"]["porter"] == "def"
