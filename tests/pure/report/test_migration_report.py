"""A migration as text, JSON and Markdown."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from porter.evaluate.model.outcome import (
    Checked,
    Crashed,
    KernelsVerified,
    NotBuilt,
    NotVerified,
    Refused,
    Verified,
    Wrong,
)
from porter.report.findings.view import Detail, View
from porter.report.migration.document import migration_document
from porter.report.migration.markdown import migration_markdown
from porter.report.migration.text import migration_text
from porter.report.migration.verdict import verdict
from porter.writing.document import encode_json

KEYS = [
    "source",
    "target",
    "outcome",
    "fidelity",
    "because",
    "written_by",
    "follows",
    "warp_sizes",
    "entries",
    "workloads",
    "findings",
    "outputs",
    "timing",
    "baseline",
    "speedup",
    "times",
    "device",
    "seconds",
    "stages",
]


def test_the_json_has_the_names_scripts_rely_on(migration):
    document = json.loads(encode_json(migration_document(migration, [Path("out/sum.maca.cpp")])))
    assert list(document) == KEYS
    assert document["workloads"] == [
        {"name": "odd", "max_abs_error": 6.4e-05, "max_rel_error": 2e-06, "passed": True},
        {"name": "tiny", "max_abs_error": 6.4e-05, "max_rel_error": 2e-06, "passed": True},
    ]
    (entry,) = document["entries"]
    assert (entry["name"], entry["kind"], entry["outcome"]) == ("launch_sum", "pointer", "verified")
    assert document["findings"] == [
        {"code": "PORT1007", "severity": "warning", "line": 2, "message": "room for 32 warps", "allowed": None}
    ]
    assert (document["outcome"], document["fidelity"], document["warp_sizes"]) == ("verified", "emulated", [64, 32])
    assert (document["outputs"], document["speedup"], document["seconds"]) == (["out/sum.maca.cpp"], None, 1.235)


def test_a_workload_fails_when_it_fails_at_one_warp_size_and_nan_is_null(migration):
    checked = (Checked("odd", 32, 0.0, 0.0, True), Checked("odd", 64, math.nan, math.inf, False, "y[0]"))
    wrong = Wrong("y[0] differs", checked)
    wrong_migration = replace(migration, outcome=wrong, entries=(replace(migration.entries[0], outcome=wrong),))
    document = json.loads(encode_json(migration_document(wrong_migration, [])))
    row = {"name": "odd", "max_abs_error": None, "max_rel_error": None, "passed": False}
    assert document["workloads"] == [row]
    assert document["outcome"] == "wrong"


def test_workloads_of_several_entries_are_told_apart(migration):
    twice = replace(migration, entries=migration.entries * 2)
    assert {row["name"] for row in migration_document(twice, [])["workloads"]} == {"launch_sum/odd", "launch_sum/tiny"}


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (NotVerified("the reference races"), "not verified: sum.cu for maca C500: the reference races"),
        (Refused("textures"), "refused: sum.cu for maca C500: textures"),
        (NotBuilt("line 3: no such name", "log"), "not built: sum.cu for maca C500: line 3: no such name"),
        (Crashed("deadlock", ()), "crashed: sum.cu for maca C500: deadlock"),
    ],
)
def test_a_verdict_without_a_comparison_says_that_nothing_was_executed(migration, outcome, words):
    failed = replace(migration, outcome=outcome, entries=(replace(migration.entries[0], outcome=outcome),))
    assert verdict(failed) == f"{words} (nothing was compared)"


def test_kernels_without_their_launcher_are_told_from_a_launcher(migration):
    checked = migration.entries[0].outcome.checked
    outcome = KernelsVerified(checked, "launch itself was not compared")
    alone = replace(migration, outcome=outcome, entries=(replace(migration.entries[0], outcome=outcome),))
    assert verdict(alone).startswith("kernels verified: sum.cu for maca C500: only the kernels ran, and they gave")
    assert "launch itself was not compared" in verdict(alone)
    several = replace(alone, outcome=replace(outcome))
    assert "launch_sum: kernels verified: only the kernels ran" in migration_text(several, []).plain
    document = migration_document(alone, [])
    assert document["outcome"] == document["entries"][0]["outcome"] == "kernels_verified"


def test_the_verdict_names_the_fidelity_and_claims_no_speed(migration):
    assert "emulated, 64 and 32 lanes on the CPU; no speed was measured" in verdict(migration)


def test_the_text_shows_findings_comparisons_outputs_and_verdict(migration):
    text = migration_text(migration, [Path("out/sum.maca.cpp")]).plain
    assert "ops/sum.cu:2:19: warning" in text
    assert "launch_sum: verified\n" in text
    assert [line.split()[:2] for line in text.splitlines() if line.endswith("equal")] == [
        ["odd", "64"],
        ["tiny", "64"],
        ["odd", "32"],
        ["tiny", "32"],
    ]
    assert "wrote to out: sum.maca.cpp\n" in text
    assert text.endswith(verdict(migration))


def test_comparisons_that_are_equal_become_one_line_with_the_worst_figure(migration):
    text = migration_text(migration, [Path("out/sum.maca.cpp"), Path("out/sum.md")], View()).plain
    assert (
        "  equal on 2 workloads at 64 and 32 lanes; largest error 6.4e-05 (2e-06 relative) on `odd`, 64 lanes\n" in text
    )
    assert "wrote to out: sum.maca.cpp, sum.md\n" in text
    assert "max abs error" not in text


def test_what_differs_keeps_its_line_beside_what_is_equal(migration):
    checked = (Checked("odd", 32, 0.0, 0.0, True), Checked("odd", 64, math.nan, math.inf, False, "y[0] differs"))
    wrong = Wrong("y[0] differs", checked)
    text = migration_text(
        replace(migration, outcome=wrong, entries=(replace(migration.entries[0], outcome=wrong),)), [], View()
    )
    assert "  odd       64     nan            inf            y[0] differs\n" in text.plain
    assert "  equal on 1 workload at 32 lanes; no result differs\n" in text.plain


def test_a_quiet_view_is_the_verdict(migration):
    assert migration_text(migration, [Path("out/a")], View(Detail.QUIET)).plain == verdict(migration)


def test_a_port_that_does_not_build_shows_the_first_lines_of_the_log(migration):
    log = "\n".join(f"line {i}" for i in range(100))
    not_built = replace(migration, outcome=NotBuilt("line 0", log), entries=())
    text = migration_text(not_built, []).plain
    assert "line 19\n" in text
    assert "line 20\n" not in text


def test_the_markdown_tells_the_whole_story(migration, software):
    page = migration_markdown(migration, software)
    titles = [line for line in page.splitlines() if line.startswith("#")]
    assert titles == [
        "# sum.cu on maca C500: verified",
        "## What was dangerous, and what porter did",
        "## Contract",
        "### `launch_sum` (pointer)",
        "## Workloads and errors",
        "### `launch_sum`: verified",
        "## How the numbers were obtained",
        "## Environment",
    ]
    assert "**PORT1007** (warning, line 2): room for 32 warps" in page
    assert "| `x` | in | float32 | `[n]` |" in page
    assert "| odd | n = 1003 | 64 | 6.4e-05 | 2e-06 | equal |" in page
    assert "must hold: `n >= 1`" in page
    assert "- g++: 12.2.0" in page


def test_a_clean_source_says_that_nothing_was_dangerous(migration, software):
    clean = replace(migration, findings=(), outcome=Verified(()))
    assert "What porter did\n\nNothing.\n".casefold() in migration_markdown(clean, software).casefold()


def test_what_a_verdict_leaves_out_is_said_where_it_is_one_of_several(migration):
    (entry,) = migration.entries
    partial = replace(entry, outcome=replace(entry.outcome, caveat="k() was left out"))
    together = str(migration_text(replace(migration, entries=(partial, entry)), []))
    assert "launch_sum: verified: k() was left out\n" in together
    assert "launch_sum: verified\n" in together
    assert "launch_sum: verified\n" in str(
        migration_text(replace(migration, outcome=partial.outcome, entries=(partial,)), [])
    )
