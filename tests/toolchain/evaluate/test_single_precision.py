"""Kernels of doubles that compute in floats: their ports are held to what a float holds, all others to a double."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from porter.contract.infer.draft import draft
from porter.evaluate.judge.judge import Candidate
from porter.evaluate.judge.prove import Prover
from porter.evaluate.model.outcome import Fidelity, Verified, Wrong
from porter.evaluate.problem.bench import bench
from porter.execution.job import Job, LaunchRecord, Run, TensorValue
from porter.simt.compiler import missing_compiler
from porter.source.parse import parse
from porter.source_text import Source
from porter.translation_unit import original_unit

TEXT = """
__global__ void kernel(const double* x, const double* w, double* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    BODY
}
void entry(const double* x, const double* w, double* y, int n) { kernel<<<(n + 63) / 64, 64>>>(x, w, y, n); }
"""
STORED = "float v = (float)x[i]; y[i] = v * v / (1.0f + v * v) + (float)w[i];"
SCALED = "float v = (float)x[i]; y[i] = (double)(v * v / (1.0f + v * v)) * w[i];"
LITERAL = "y[i] = 0.1f * x[i] / (1.0 + x[i] * x[i]) + w[i];"
EXACT = "y[i] = x[i] * x[i] / (1.0 + x[i] * x[i]) + w[i];"
NARROWED = "float v = (float)(x[i] * x[i] / (1.0 + x[i] * x[i])); y[i] = i % 4 ? x[i] * w[i] : v * w[i];"
SAID = "compared as float32, in which the original computes it: float64 'y'"


@pytest.fixture(autouse=True)
def _needs_a_compiler():
    if missing_compiler():
        pytest.skip(missing_compiler())


def ported(formula, error):
    """A port that answers by `formula`, apart from the original by `error` of each number."""

    def execute(job: Job) -> Run:
        x, w, y, _ = job.arguments
        assert isinstance(y, TensorValue)
        answer = formula(x.storage, w.storage) * (1 + error)
        outputs = (x, w, replace(y, storage=answer.astype(np.float64)))
        return Run(
            True, 0, outputs, (), (), (), (LaunchRecord("kernel", (1, 1, 1), (64, 1, 1), 0, 0),), (), "", "", 0.0
        )

    return execute


@dataclass(frozen=True)
class InPython:
    run: object
    fidelity = Fidelity.EMULATED

    def candidates(self, contracts):
        return tuple((Candidate(1, self.run),) for _ in contracts)


@pytest.fixture
def outcome(build_cache):
    def prove(body, formula, error):
        program = parse(Source(Path("op.cu"), TEXT.replace("BODY", body)))
        with bench(build_cache, time_limit_s=20.0) as place:
            prover = Prover(original_unit(program, (), ()), InPython(ported(formula, error)), {}, place)
            (proof,) = prover.prove(draft(program), lambda _: None)
        return proof.entry.outcome

    return prove


def square(x):
    return x * x / (1 + x * x)


FORMULAS = {
    STORED: lambda x, w: square(x.astype(np.float32)) + w.astype(np.float32),
    SCALED: lambda x, w: square(x.astype(np.float32)) * w,
    LITERAL: lambda x, w: np.float64(np.float32(0.1)) * x / (1 + x * x) + w,
    EXACT: lambda x, w: square(x) + w,
    NARROWED: lambda x, w: np.where(np.arange(len(x)) % 4, x, square(x).astype(np.float32)) * w,
}


@pytest.mark.parametrize("body", [STORED, SCALED])
def test_what_passes_through_a_float_is_held_to_a_float(outcome, body):
    found = outcome(body, FORMULAS[body], 2e-6)
    assert isinstance(found, Verified)
    assert SAID in found.caveat


@pytest.mark.parametrize("body", [STORED, SCALED])
def test_what_is_further_off_than_a_float_is_wrong(outcome, body):
    assert isinstance(outcome(body, FORMULAS[body], 1e-4), Wrong)


@pytest.mark.parametrize("body", [LITERAL, EXACT, NARROWED])
def test_what_is_computed_in_doubles_is_held_to_doubles(outcome, body):
    right = outcome(body, FORMULAS[body], 0.0)
    assert isinstance(right, Verified)
    assert not right.caveat
    assert isinstance(outcome(body, FORMULAS[body], 2e-6), Wrong)
