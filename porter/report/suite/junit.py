"""Writes suite runs as JUnit XML: an operator of a target is a case."""

from __future__ import annotations

from collections.abc import Sequence

from porter.evaluate.model.outcome import outcome_words
from porter.suite.result import Result, SuiteResult
from porter.writing.junit import Case, Ending, junit_text


def suite_junit(results: Sequence[SuiteResult]) -> str:
    """Returns all operators of all runs: failures of the machine are errors, unverified ports are failures."""
    return junit_text("porter suite run", [_case(one, result.target) for result in results for one in result.results])


def _case(one: Result, target: str) -> Case:
    group = f"{target}.{one.suite}.{one.category}"
    if one.is_verified:
        return Case(group, one.name, one.seconds, Ending.PASSED, text=one.because)
    ending = Ending.ERROR if one.is_of_machine else Ending.FAILED
    return Case(group, one.name, one.seconds, ending, outcome_words(one.outcome), one.because)
