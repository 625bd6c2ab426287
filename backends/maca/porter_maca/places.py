"""Joins findings at several places of one file: one finding at the first, with the lines of the others."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from porter.diagnostics.findings import Finding, Severity
from porter.source.lexer import tokens
from porter.source.preprocess import preprocess
from porter.source_text import Source, Span
from porter_maca.catalogue import finding


@lru_cache(maxsize=16)
def _skipped(source: Source, defines: tuple[str, ...]) -> tuple[tuple[int, int], ...]:
    """Returns the parts that are not compiled; kept for the latest files, which several passes look at."""
    return tuple(sorted(preprocess(source, tokens(source.text), defines=defines).skipped))


@dataclass(frozen=True, slots=True)
class Places:
    """The stretches of a source that are not compiled, in order: findings there are notes at most."""

    skipped: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, source: Source, defines: tuple[str, ...] = ()) -> Places:
        """Returns those of `source` on a device of capability 8.0, with the macros `defines` of the build."""
        return cls(_skipped(source, defines))

    def is_compiled(self, span: Span) -> bool:
        """Returns whether the compiler sees what stands at `span`."""
        index = bisect_right(self.skipped, (span.start, span.start)) - 1
        following = self.skipped[index + 1 : index + 2]
        at_start = any(start <= span.start < end for start, end in following)
        return not at_start and (index < 0 or span.start >= self.skipped[index][1])

    def finding(self, code: str, spans: Sequence[Span], message: str, hint: str) -> Finding:
        """Returns the finding `code` at the first of `spans` that is compiled, or a note where none is compiled."""
        compiled = [span for span in spans if self.is_compiled(span)]
        ordered = sorted(compiled or spans)
        lines = sorted({span.line for span in ordered})
        where = f" (lines {', '.join(map(str, lines[:8]))}{', …' if len(lines) > 8 else ''})" if len(lines) > 1 else ""
        made = finding(code, ordered[0], message, hint + where)
        if compiled:
            return made
        return replace(made, severity=Severity.NOTE, message=f"{message}, in a branch that is not compiled")
