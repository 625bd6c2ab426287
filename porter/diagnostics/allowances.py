"""Findings that a project accepts, each with its reason: in a comment of the source, or in the project's configuration.

    value += __shfl_xor_sync(mask, value, 16);  // porter: allow PORT1003 the block is one warp

An allowance hides a finding from a report. It never changes what was executed, compared or concluded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from porter.diagnostics.findings import Finding
from porter.errors import InputError
from porter.source_text import Source

_COMMENT = re.compile(r"//\s*porter:\s*allow\b(?P<said>.*)")
_SAID = re.compile(r"\s+(?P<code>PORT\d{4})\s*:?\s+(?P<reason>\S.*)")
_CODE = re.compile(r"PORT\d{4}")
_FIELDS = {"code", "reason", "files"}


@dataclass(frozen=True, slots=True)
class Allowance:
    """A kind of finding that is accepted, and why: in files whose path matches `files`."""

    code: str
    reason: str
    files: str = "**"

    def covers(self, finding: Finding, path: PurePath) -> bool:
        """Returns whether this is about `finding` in the file at `path`."""
        return finding.code == self.code and (self.files == "**" or path.match(self.files))


def allow(findings: Sequence[Finding], source: Source, allowances: Sequence[Allowance]) -> tuple[Finding, ...]:
    """`findings` with the reason of the allowance that covers each, where one does.

    Raises `InputError` for a comment without a code or a reason.
    """
    return tuple(_allowed(finding, source, allowances) for finding in findings)


def is_allowed_in_source(finding: Finding, source: Source) -> bool:
    """Returns whether a comment allows `finding`, which is found in `source` or in a header that it names."""
    place = finding.source or source
    return finding.span is not None and any(code == finding.code for code, _ in _comments(place, finding.span.line))


def _allowed(finding: Finding, source: Source, allowances: Sequence[Allowance]) -> Finding:
    place = finding.source or source
    reasons = [one.reason for one in allowances if one.covers(finding, place.path)]
    if finding.span is not None:
        reasons += [reason for code, reason in _comments(place, finding.span.line) if code == finding.code]
    return replace(finding, allowed=reasons[0]) if reasons else finding


def _comments(source: Source, line: int) -> Iterator[tuple[str, str]]:
    """Yields code and reason of each allowance at the end of `line`, and in the lines of comments above it."""
    yield from _comment(source, line)
    above = line - 1
    while above >= source.first_line and source.line(above).lstrip().startswith("//"):
        yield from _comment(source, above)
        above -= 1


def _comment(source: Source, line: int) -> Iterator[tuple[str, str]]:
    found = _COMMENT.search(source.line(line))
    if found is None:
        return
    said = _SAID.fullmatch(found["said"])
    if said is None:
        example = "// porter: allow PORT1003 the block is one warp"
        raise InputError(f"{source.path}:{line}: an allowance needs a code and a reason", f"for example {example}")
    yield said["code"], said["reason"].strip()


def read_allowances(file: PurePath, rows: object) -> tuple[Allowance, ...]:
    """The allowances of a configuration. Raises `InputError` for one that is not complete."""
    if not isinstance(rows, Sequence) or isinstance(rows, str):
        raise InputError(f"{file}: 'allow' is a list of tables", "[[allow]] with code and reason")
    return tuple(_row(file, row) for row in rows)


def _row(file: PurePath, row: object) -> Allowance:
    texts = row if isinstance(row, Mapping) else {}
    if not set(texts) <= _FIELDS or not all(isinstance(text, str) for text in texts.values()):
        raise InputError(f"{file}: an entry of 'allow' has a code, a reason and files, all of them strings")
    code, reason = str(texts.get("code", "")), str(texts.get("reason", "")).strip()
    if not _CODE.fullmatch(code) or not reason:
        raise InputError(f"{file}: an entry of 'allow' needs a code such as PORT1003 and a reason")
    return Allowance(code, reason, str(texts.get("files", "**")))
