"""Holds what a run found right against what is found now: a driver or compiler that breaks a port is noticed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from porter.errors import UsageError
from porter.evaluate.model.outcome import outcome_words
from porter.suite.result import MISSING, Result, SuiteResult, Time, missing_result

# Slower is what exceeds this factor with both intervals: repeated measurements agree within 1 %.
_SLOWER = 1.03


class Change(StrEnum):
    """The change in a port between two runs; the worst come first."""

    WRONG = "no longer right"
    NOT_BUILT = "no longer builds"
    NOT_RUN = "no longer runs"
    NOT_VERIFIED = "no longer verified"
    MISSING = "missing"
    SLOWER = "slower"
    NOT_TIMED = "no longer timed"
    KNOWN = "known failure"
    FIXED = "now right"
    FASTER = "faster"
    SAME = "as before"


_HARMLESS = frozenset((Change.KNOWN, Change.FIXED, Change.FASTER, Change.SAME))
LOST = frozenset(Change) - _HARMLESS
_BY_OUTCOME = {
    "wrong": Change.WRONG,
    "not_built": Change.NOT_BUILT,
    "not_verified": Change.NOT_VERIFIED,
    "kernels_verified": Change.NOT_VERIFIED,
}


@dataclass(frozen=True, slots=True)
class Compared:
    """An operator's port before and now; `text` says what the change is."""

    before: Result
    now: Result
    change: Change
    text: str

    @property
    def is_lost(self) -> bool:
        """Returns whether something was lost."""
        return self.change in LOST


def compare_all(before: Sequence[Result], now: Mapping[str, Result], known: Mapping[str, str]) -> tuple[Compared, ...]:
    """Every result of `before` with that of `now` for the same key; `known` are the reasons of known failures."""
    return tuple(compare(one, now[one.key], known.get(one.key, "")) for one in before)


def compare_runs(before: SuiteResult, now: SuiteResult) -> tuple[Compared, ...]:
    """Every operator of the two runs; one of which a run has no result is missing there.

    Raises `UsageError` for runs of different targets.
    """
    if (before.target, before.arch) != (now.target, now.arch):
        said = (f"{run.target} {run.arch}".strip() for run in (before, now))
        raise UsageError(f"the runs are of different targets: {' and '.join(said)}", "compare two of one target")
    was, is_now = ({one.key: one for one in (*run.results, *run.missing)} for run in (before, now))
    keys = dict.fromkeys((*is_now, *was))
    return tuple(compare(was.get(key) or missing_result(key), is_now.get(key) or missing_result(key)) for key in keys)


def compare(before: Result, now: Result, known: str = "") -> Compared:
    """Returns what became of one port. A failure that is `known` is no loss; where it passes that is said."""
    if now.is_equal and now.outcome == before.outcome and not known:
        change, text = _timed(before, now)
    elif not now.is_verified:
        change, text = _failing(before, now, known)
    else:
        change = Change.FIXED
        text = f"known to fail: {known}" if known else f"it was {outcome_words(before.outcome)}"
    return Compared(before, now, change, text)


def _failing(before: Result, now: Result, known: str) -> tuple[Change, str]:
    if known:
        return Change.KNOWN, f"{known}; {outcome_words(now.outcome)}: {now.because}"
    if MISSING in (before.outcome, now.outcome):
        return Change.MISSING, (before if before.outcome == MISSING else now).because
    if not before.is_equal:
        return Change.SAME, f"still {outcome_words(now.outcome)}: {now.because}"
    return _BY_OUTCOME.get(now.outcome, Change.NOT_RUN), f"{outcome_words(now.outcome)}: {now.because}"


def _timed(before: Result, now: Result) -> tuple[Change, str]:
    """Times are compared where both come from devices of one kind, and only beyond what both intervals leave open."""
    if before.time_us is None:
        return Change.SAME, ""
    if now.time_us is None and now.untimed:
        return Change.NOT_TIMED, now.untimed[0]
    if now.time_us is None or _where(before) != _where(now):
        place = f" on {before.device}" if before.device else ""
        return Change.SAME, f"its speed{place} was not compared: {_elsewhere(now)}"
    if not before.times_us:
        return _change("", before.time_us, now.time_us)
    if lost := [name for name in before.times_us if name not in now.times_us]:
        return Change.NOT_TIMED, next((one for one in now.untimed if one.startswith(f"{lost[0]}: ")), lost[0])
    changes = [_change(name, time, now.times_us[name]) for name, time in before.times_us.items()]
    return min(changes, key=lambda change: [*Change].index(change[0]))


def _where(result: Result) -> tuple[str, str, str]:
    return result.fidelity, result.timed, result.device


def _change(name: str, was: Time, is_now: Time) -> tuple[Change, str]:
    ratio = f"{was.median:.4g} us before, {is_now.median:.4g} us now: {is_now.median / was.median:.2f} times as long"
    text = f"{name}: {ratio}" if name else ratio
    if is_now.low > was.high * _SLOWER:
        return Change.SLOWER, text
    return (Change.FASTER if is_now.high * _SLOWER < was.low else Change.SAME), text


def _elsewhere(now: Result) -> str:
    return f"this is {now.device}" if now.device else "there is no device"
