"""Findings at their places."""

from dataclasses import replace
from pathlib import Path

import pytest

from porter.diagnostics.findings import Finding, Severity
from porter.report.findings.diagnostic import diagnostic
from porter.report.findings.view import View
from porter.source_text import Source


def test_the_caret_stands_under_the_span_and_tabs_stay_tabs(migration):
    assert diagnostic(migration.findings[0], migration.source).plain == (
        "ops/sum.cu:2:19: warning: room for 32 warps [PORT1007]\n"
        "    2 | \t__shared__ float partial[32];\n"
        "      | \t                 ^^^^^^^^^^^\n"
        "  = made it 64\n"
    )


def test_a_span_of_several_lines_is_marked_to_the_end_of_its_first(sum_source):
    whole = Finding("PORT2001", Severity.ERROR, "not understood", sum_source.span(0, len(sum_source.text)))
    lines = diagnostic(whole, sum_source).plain.splitlines()
    assert lines[1].removeprefix("    1 | ") == sum_source.line(1)
    assert lines[2] == "      | " + "^" * len(sum_source.line(1))


def test_an_empty_span_at_the_end_of_the_file_still_has_a_caret(sum_source):
    end = Finding(
        "PORT2001", Severity.ERROR, "the file ends here", sum_source.span(len(sum_source.text), len(sum_source.text))
    )
    assert diagnostic(end, sum_source).plain.splitlines()[2].endswith("| ^")


def test_without_a_span_there_is_only_the_sentence(migration):
    placeless = replace(migration.findings[0], span=None, hint="")
    assert diagnostic(placeless, migration.source).plain == "ops/sum.cu: warning: room for 32 warps [PORT1007]\n"


def test_a_long_line_is_cut_around_its_span():
    long = Source(Path("long.cu"), f"{'x' * 300}partial{'y' * 300}\n")
    found = Finding("PORT2001", Severity.ERROR, "here", long.span(300, 307))
    _, line, caret = diagnostic(found, long, View(width=80)).plain.splitlines()
    assert len(line) == 80
    assert line.startswith("    1 | …")
    assert line.endswith("…")
    assert line[caret.index("^") : caret.index("^") + 7] == "partial"
    assert caret.count("^") == 7


@pytest.mark.parametrize("width", [10, 40, 79])
def test_a_line_that_fits_is_left_alone_and_a_caret_line_never_passes_the_edge(migration, width):
    lines = diagnostic(migration.findings[0], migration.source, View(width=width)).plain.expandtabs().splitlines()
    assert len(lines[2]) <= max(width, len("    1 | ") + 20)
    assert ("…" in lines[1]) == (width < 40)


def test_lines_count_in_the_file_the_text_was_cut_from(migration):
    embedded = replace(migration.source, first_line=40)
    start = embedded.text.index("partial")
    found = replace(migration.findings[0], span=embedded.span(start, start + 7))
    lines = diagnostic(found, embedded).plain.splitlines()
    assert lines[0].startswith("ops/sum.cu:41:19:")
    assert lines[1] == "   41 | \t__shared__ float partial[32];"


def test_a_finding_in_a_header_is_shown_in_the_header(migration):
    header = Source(Path("ops/warp.cuh"), "#pragma once\nint lane = threadIdx.x & 31;\n")
    start = header.text.index("threadIdx")
    found = replace(migration.findings[0], span=header.span(start, start + 16), source=header)
    lines = diagnostic(found, migration.source).plain.splitlines()
    assert lines[0].startswith("ops/warp.cuh:2:12: warning")
    assert lines[1] == "    2 | int lane = threadIdx.x & 31;"
