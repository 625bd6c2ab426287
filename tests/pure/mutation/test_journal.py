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


def test_what_was_said_of_the_same_change_elsewhere_in_the_port_is_taken_over(tmp_path):
    earlier, path = tmp_path / "earlier.json", tmp_path / "summary.json"
    write_summary([replace(SURVIVOR, shown="@@ line 3\n-c\n+d")], earlier)
    document = json.loads(earlier.read_text())
    document["survivors"][0]["verdict"] = "equivalent: both are one"
    earlier.write_text(json.dumps(document))
    moved = replace(SURVIVOR, digest="dd", shown="@@ line 7\n-c\n+d")
    other = replace(SURVIVOR, digest="ee", shown="@@ line 7\n-c\n+e")
    write_summary([moved, other], path, [earlier])
    assert [one["verdict"] for one in json.loads(path.read_text())["survivors"]] == ["equivalent: both are one", ""]


def test_a_survivor_is_named_where_the_verdict_on_it_has_the_line_of_the_port_that_was_changed(tmp_path):
    path = tmp_path / "summary.json"
    caveat = "not executed by any workload: kernel.cu:28: `a` is never true, kernel_triton.py:30: `b` is never true"
    named = replace(SURVIVOR, shown="@@ line 30\n-b\n+c", caveat=caveat)
    of_the_original = replace(SURVIVOR, digest="dd", shown="@@ line 28\n-b\n+c", caveat=caveat)
    write_summary([named, of_the_original], path)
    document = json.loads(path.read_text())
    assert [one["verdict"][:5] for one in document["survivors"]] == ["named", ""]
    assert document["verdicts"] == {"named": 1, "not looked at": 1}
