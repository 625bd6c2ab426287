"""Many findings of one file: a line for each kind, and errors at their places."""

from dataclasses import replace
from pathlib import Path

from porter.diagnostics.findings import Effort, Finding, Severity
from porter.report.findings.listing import findings_text
from porter.report.findings.view import EVERYTHING, View
from porter.source_text import Source


def at(source, line, **changes):
    start = sum(len(text) + 1 for text in source.text.splitlines()[: line - 1])
    made = Finding("PORT1003", Severity.WARNING, f"message {line}", source.span(start, start + 3))
    return replace(made, **changes)


def test_few_findings_stand_at_their_places(sum_source):
    text = findings_text([at(sum_source, line) for line in (1, 2, 3)], sum_source, View()).plain
    assert text.count("^^^") == 3


def test_many_findings_become_a_line_for_each_kind(sum_source):
    findings = [at(sum_source, line) for line in (1, 2, 3)] + [
        at(sum_source, 4, code="PORT1013", severity=Severity.NOTE)
    ]
    assert findings_text(findings, sum_source, View()).plain == (
        "ops/sum.cu: 3 warnings and 1 note, nothing left to do by hand (-v shows each at its line)\n"
        "  PORT1003  lines 1, 2 and 3  A shuffle whose group is the warp\n"
        "  PORT1013  line 4            Blocks that do not fill a wave\n\n"
    )
    assert findings_text(findings, sum_source, EVERYTHING).plain.count("message") == 4


def test_what_is_left_to_do_by_hand_is_said(sum_source):
    findings = [at(sum_source, line) for line in (1, 2, 3)] + [at(sum_source, 4, effort=Effort.HOURS)]
    text = findings_text(findings, sum_source, View()).plain
    assert "nothing left" not in text
    assert "A shuffle whose group is the warp (hours of work)" in text


def test_the_first_error_of_a_kind_stands_at_its_place_and_the_others_are_counted(sum_source):
    findings = [at(sum_source, line, code="PORT1191", severity=Severity.ERROR) for line in (1, 2, 3, 4)]
    text = findings_text(findings, sum_source, View()).plain
    assert text.count("error: message") == 1
    assert "3 more errors of the kind PORT1191: lines 2, 3 and 4\n" in text


def test_what_the_project_allows_is_counted_and_named_where_all_is_shown(sum_source):
    findings = [at(sum_source, 1), at(sum_source, 2, allowed="one warp alone")]
    text = findings_text(findings, sum_source, View()).plain
    assert "message 2" not in text
    assert "ops/sum.cu: 1 finding allowed (-v shows the reasons)\n" in text
    shown = findings_text(findings, sum_source, EVERYTHING).plain
    assert "PORT1003 is allowed at line 2: one warp alone\n" in shown


def test_places_in_headers_name_them_and_lines_are_cut_to_the_terminal(sum_source):
    header = Source(Path("include/warp.cuh"), sum_source.text)
    findings = [replace(at(header, line), source=header) for line in (1, 2, 3, 4)]
    lines = findings_text(findings, sum_source, View(width=40)).plain.splitlines()
    assert lines[1].startswith("  PORT1003  lines warp.cuh:1, warp.cuh:")
    assert all(len(line) <= 40 for line in lines[1:])
