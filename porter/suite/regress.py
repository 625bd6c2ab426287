"""What a run found right held against what is found now: a driver or compiler that breaks a port is noticed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from porter.suite.result import Result

# Slower is what exceeds this factor with both intervals: repeated measurements agree within 1 %.
_SLOWER = 1.03


class Change(StrEnum):
    """What became of a port; the worst first."""

    WRONG = "no longer right"
    NOT_BUILT = "no longer builds"
    NOT_RUN = "no longer runs"
    SLOWER = "slower"
    KNOWN = "known failure"
    FIXED = "unexpectedly right"
    FASTER = "faster"
    SAME = "as before"


LOST = frozenset((Change.WRONG, Change.NOT_BUILT, Change.NOT_RUN, Change.SLOWER))
_BY_OUTCOME = {"wrong": Change.WRONG, "not_built": Change.NOT_BUILT}


@dataclass(frozen=True, slots=True)
class Compared:
    """An operator's port before and now; `text` says what the change is."""

    before: Result
    now: Result
    change: Change
    text: str

    @property
    def is_lost(self) -> bool:
        """Whether something was lost."""
        return self.change in LOST


def compare_all(before: Sequence[Result], now: Mapping[str, Result], known: Mapping[str, str]) -> tuple[Compared, ...]:
    """Every result of `before` with that of `now` for the same key; `known` are the reasons of known failures."""
    return tuple(compare(one, now[one.key], known.get(one.key, "")) for one in before)


def compare(before: Result, now: Result, known: str = "") -> Compared:
    """What became of one port. A failure that is `known` is no loss; where it passes that is said."""
    if not now.is_verified:
        change, text = _failing(before, now, known)
    elif known or not before.is_verified:
        change, text = Change.FIXED, f"it was {_words(before.outcome)}" if not known else f"known to fail: {known}"
    else:
        change, text = _timed(before, now)
    return Compared(before, now, change, text)


def _failing(before: Result, now: Result, known: str) -> tuple[Change, str]:
    if known:
        return Change.KNOWN, f"{known}; {_words(now.outcome)}: {now.because}"
    if not before.is_verified:
        return Change.SAME, f"still {_words(now.outcome)}: {now.because}"
    return _BY_OUTCOME.get(now.outcome, Change.NOT_RUN), f"{_words(now.outcome)}: {now.because}"


def _timed(before: Result, now: Result) -> tuple[Change, str]:
    """Times are compared where both come from devices of one kind, and only beyond what both intervals leave open."""
    was, is_now = before.time_us, now.time_us
    if was is None:
        return Change.SAME, ""
    if is_now is None or before.fidelity != now.fidelity or before.device != now.device:
        place = f" on {before.device}" if before.device else ""
        return Change.SAME, f"its speed{place} was not compared: {_elsewhere(now)}"
    ratio = f"{is_now.median / was.median:.2f} times the time: {was.median:.4g} us, now {is_now.median:.4g} us"
    if is_now.low > was.high * _SLOWER:
        return Change.SLOWER, ratio
    return (Change.FASTER if is_now.high * _SLOWER < was.low else Change.SAME), ratio


def _elsewhere(now: Result) -> str:
    return f"this is {now.device}" if now.device else "there is no device"


def _words(outcome: str) -> str:
    return outcome.replace("_", " ")
