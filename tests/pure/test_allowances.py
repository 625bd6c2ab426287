"""Findings that a comment of the source allows."""

from pathlib import Path

import pytest

from porter.diagnostics.allowances import Allowance, allow
from porter.diagnostics.findings import Finding, Severity
from porter.errors import InputError
from porter.source_text import Source


def found(text, line, code="PORT1003"):
    source = Source(Path("ops/k.cu"), text)
    start = source.line_starts[line - 1]
    return source, Finding(code, Severity.WARNING, "m", source.span(start, start + 1))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x = f();  // porter: allow PORT1003 one warp\n", 1),
        ("x = f();  // porter: allow PORT1003: one warp\n", 1),
        ("    // porter: allow PORT1003 one warp\n    x = f();\n", 2),
        ("// porter: allow PORT1003 one warp\n// and a word more\nx = f();\n", 3),
    ],
)
def test_a_comment_on_the_line_or_above_it_allows(text, line):
    source, finding = found(text, line)
    assert [one.allowed for one in allow([finding], source, ())] == ["one warp"]


@pytest.mark.parametrize(
    ("text", "line", "code"),
    [
        ("x = f();  // porter: allow PORT1003 one warp\n", 1, "PORT1002"),
        ("x = f();  // porter: allow PORT1003 one warp\ny = g();\n", 2, "PORT1003"),
        ("// porter: allow PORT1003 one warp\n\nx = f();\n", 3, "PORT1003"),
        ("x = f();\n// porter: allow PORT1003 one warp\n", 1, "PORT1003"),
    ],
)
def test_it_allows_nothing_else(text, line, code):
    source, finding = found(text, line, code)
    assert allow([finding], source, ()) == (finding,)


@pytest.mark.parametrize("said", ["", " PORT1003", " PORT1003:", " one warp", " PORT10 one warp"])
def test_a_comment_without_code_and_reason_is_an_error_at_its_line(said):
    source, finding = found(f"\nx = f();  // porter: allow{said}\n", 2)
    with pytest.raises(InputError, match=r"ops/k\.cu:2: an allowance needs a code and a reason"):
        allow([finding], source, ())


@pytest.mark.parametrize(("files", "is_allowed"), [("**", True), ("*.cu", True), ("ops/*", True), ("legacy/*", False)])
def test_an_allowance_of_the_project_is_for_its_files(files, is_allowed):
    source, finding = found("x = f();\n", 1)
    (one,) = allow([finding], source, [Allowance("PORT1003", "one warp", files)])
    assert one.allowed == ("one warp" if is_allowed else "")
