"""A migration made by hand: one dangerous line, one entry, two workloads at two warp sizes."""

from dataclasses import replace
from pathlib import Path

import pytest

from porter.backend import PortedFile, Target
from porter.contract.model.contract import Contract, Entry, EntryKind, Role, ScalarArg, TensorArg, Tolerance, Workload
from porter.contract.model.dtype import DType
from porter.diagnostics.findings import Finding, Severity
from porter.evaluate.model.migration import EntryOutcome, Migration
from porter.evaluate.model.outcome import Checked, Verified
from porter.report.migration.software import Software, Tool
from porter.source.program import HostForm, Program
from porter.source_text import Source

TEXT = """\
__global__ void sum(const float* x, float* y, int n) {
\t__shared__ float partial[32];
    y[0] = x[0];
}
"""

TARGET = Target("maca", "C500", "MetaX C500", 64, 65536, 1024, 65536, False, False, True, False)


def finding(source, words, severity=Severity.WARNING, **changes):
    start = source.text.index(words)
    made = Finding("PORT1007", severity, "room for 32 warps", source.span(start, start + len(words)), "made it 64")
    return replace(made, **changes)


@pytest.fixture
def sum_source():
    return Source(Path("ops/sum.cu"), TEXT)


@pytest.fixture
def sum_contract():
    arguments = (
        TensorArg("x", Role.IN, DType.FLOAT32, ("n",)),
        TensorArg("y", Role.OUT, DType.FLOAT32, ("1",)),
        ScalarArg("n", "int", "n"),
    )
    workloads = (Workload("odd", {"n": 1003}, 1), Workload("tiny", {"n": 3}, 2))
    entry = Entry(EntryKind.POINTER, "launch_sum")
    tolerance = {DType.FLOAT32: Tolerance(1e-5, 1e-6)}
    return Contract("sum", "reduction", entry, arguments, ("n",), ("n >= 1",), workloads, tolerance)


@pytest.fixture
def migration(sum_source, sum_contract):
    checked = tuple(Checked(name, lanes, 1e-6 * lanes, 2e-6, True) for lanes in (64, 32) for name in ("odd", "tiny"))
    program = Program(sum_source, HostForm.POINTER_LAUNCHER, (), (), (), (), (), (), (), ())
    return Migration(
        source=sum_source,
        program=program,
        target=TARGET,
        outcome=Verified(checked),
        entries=(EntryOutcome(sum_contract, Verified(checked)),),
        files=(PortedFile("sum.maca.cpp", TEXT.replace("[32]", "[64]"), sum_source),),
        findings=(finding(sum_source, "partial[32]"),),
        warp_sizes=(64, 32),
        seconds=1.23456,
    )


@pytest.fixture
def software():
    return Software("0.1.0", "3.11.7", "Linux", (Tool("g++", "12.2.0"),), ())
