"""Writes JUnit XML, which CI systems read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from xml.etree import ElementTree

# What XML 1.0 can hold: a compiler's message may have anything in it.
_LOWEST, _ALLOWED_CONTROLS = 0x20, "\t\n\r"


class Ending(StrEnum):
    """The ways in which a case ends, by the names of their elements; a case that passed has none."""

    PASSED = ""
    FAILED = "failure"
    ERROR = "error"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Case:
    """One case: `group` is what CI systems list it under, `message` the reason in a few words, `text` all of it."""

    group: str
    name: str
    seconds: float
    ending: Ending
    message: str = ""
    text: str = ""


def junit_text(name: str, cases: Sequence[Case]) -> str:
    """Returns the document of one test suite."""
    counts = {ending: str(sum(case.ending is ending for case in cases)) for ending in Ending}
    suite = ElementTree.Element(
        "testsuite",
        name=name,
        tests=str(len(cases)),
        failures=counts[Ending.FAILED],
        errors=counts[Ending.ERROR],
        skipped=counts[Ending.SKIPPED],
    )
    for case in cases:
        _add(suite, case)
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _add(suite: ElementTree.Element, case: Case) -> None:
    element = ElementTree.SubElement(
        suite, "testcase", classname=_printable(case.group), name=_printable(case.name), time=f"{case.seconds:g}"
    )
    if case.ending is not Ending.PASSED:
        ended = ElementTree.SubElement(element, case.ending.value, message=_printable(case.message))
        ended.text = _printable(case.text) or None
    elif case.text:
        ElementTree.SubElement(element, "system-out").text = _printable(case.text)


def _printable(text: str) -> str:
    return "".join(c if ord(c) >= _LOWEST or c in _ALLOWED_CONTROLS else "?" for c in text)
