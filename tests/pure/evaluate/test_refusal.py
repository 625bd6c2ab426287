"""An error of the port stops the entries that lead to it, and no others."""

from pathlib import Path

import pytest

from porter.backend import Port, PortedFile
from porter.contract.model.contract import Contract, Entry, EntryKind
from porter.diagnostics.findings import Finding, Severity
from porter.evaluate.judge.refusal import refusal
from porter.evaluate.model.outcome import Refused
from porter.source.parse import parse
from porter.source_text import Source

SOURCE = Source(
    Path("op.cu"),
    """#include "tools.cuh"
__device__ float fine(float x) { return x; }
__device__ float broken(float x) { return x; }
__global__ void a(float* y) { y[0] = fine(1); }
__global__ void b(float* y) { y[0] = broken(helper(1)); }
void launch_a(float* y) { a<<<1, 1>>>(y); }
void launch_b(float* y) { b<<<1, 1>>>(y); }
""",
)
HEADER = Source(
    Path("tools.cuh"),
    "__device__ float deep() { return 2; }\n__device__ float helper(float x) { return x + deep(); }\n"
    "__device__ float unused() { return 0; }\n",
)
PROGRAM = parse(SOURCE)


def contract(name):
    return Contract(name, "other", Entry(EntryKind.POINTER, name), (), (), (), (), {})


def refused(entry, *, at, within=SOURCE, severity=Severity.ERROR):
    start = within.text.index(at)
    error = Finding(
        "PORT1999", severity, "no", within.span(start, start + 1), source=None if within is SOURCE else within
    )
    files = (PortedFile("op.maca.cpp", "", SOURCE), PortedFile("tools.cuh", "", HEADER))
    return refusal(contract(entry), PROGRAM, Port(files, (error,)))


@pytest.mark.parametrize(("entry", "stopped"), [("launch_a", False), ("launch_b", True)])
def test_an_error_stops_the_entries_that_lead_to_its_function(entry, stopped):
    assert isinstance(refused(entry, at="return x; }\n__global__"), Refused) == stopped


def test_an_error_outside_every_function_stops_all_entries():
    assert isinstance(refused("launch_a", at="#include"), Refused)


def test_a_warning_stops_nothing():
    assert refused("launch_b", at="return x; }\n__global__", severity=Severity.WARNING) is None


@pytest.mark.parametrize(
    ("entry", "at", "stopped"),
    [
        ("launch_b", "return x", True),
        ("launch_b", "return 2", True),
        ("launch_a", "return x", False),
        ("launch_b", "return 0", False),
    ],
)
def test_an_error_in_a_header_stops_the_entries_that_name_its_function(entry, at, stopped):
    found = refused(entry, at=at, within=HEADER)
    assert isinstance(found, Refused) == stopped
    assert found is None or "tools.cuh line" in found.because
