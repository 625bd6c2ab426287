"""Writes findings as SARIF 2.1.0, which editors and code hosts read."""

from __future__ import annotations

from collections.abc import Sequence

from porter import __version__
from porter.diagnostics.allowances import is_allowed_in_source
from porter.diagnostics.catalogue import Catalogue
from porter.diagnostics.findings import Finding
from porter.source_text import Source, Span
from porter.writing.document import Json

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def sarif_document(found: Sequence[tuple[Source, Sequence[Finding]]], catalogue: Catalogue) -> Json:
    """Returns one run over the sources and their findings; `catalogue` describes the codes that occur."""
    codes = sorted({finding.code for _, findings in found for finding in findings})
    driver: Json = {"name": "porter", "version": __version__, "rules": [_rule(code, catalogue) for code in codes]}
    results: Json = [
        _result(finding, codes.index(finding.code), source) for source, findings in found for finding in findings
    ]
    run: Json = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(code: str, catalogue: Catalogue) -> Json:
    entry = catalogue[code]
    return {
        "id": code,
        "shortDescription": {"text": entry.title},
        "fullDescription": {"text": entry.explanation},
        "defaultConfiguration": {"level": entry.severity.value},
    }


def _result(finding: Finding, rule: int, source: Source) -> Json:
    source = finding.source or source
    text = f"{finding.message}\n{finding.hint}" if finding.hint else finding.message
    location: dict[str, Json] = {"artifactLocation": {"uri": source.path.as_posix()}}
    if finding.span is not None:
        location["region"] = _region(finding.span, source)
    result: dict[str, Json] = {
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": finding.severity.value,
        "message": {"text": text},
        "locations": [{"physicalLocation": location}],
    }
    if finding.allowed:
        kind = "inSource" if is_allowed_in_source(finding, source) else "external"
        result["suppressions"] = [{"kind": kind, "justification": finding.allowed}]
    return result


def _region(span: Span, source: Source) -> Json:
    """Returns the region: lines and columns count from 1; the end column is the one behind the last character."""
    end = source.span(span.end, span.end)
    return {"startLine": span.line, "startColumn": span.column, "endLine": end.line, "endColumn": end.column}
