"""Sizes by any name are processed; a question that nobody answered never ends in "verified", on any road."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from porter.contract.model.toml import dumps
from porter.errors import InputError
from porter.evaluate.migrate import migrate
from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.model.outcome import KernelsVerified, NotVerified, Verified, Wrong
from porter.evaluate.record import record
from porter.evaluate.verify import verify
from porter.simt.compiler import missing_compiler

TOTAL = """\
typedef unsigned int u32;
__global__ void row_total(const float* x, float* sum, u32 n) {
    float v = 0;
    for (u32 i = threadIdx.x; i < n; i += blockDim.x) v += x[blockIdx.x * n + i];
    atomicAdd(&sum[blockIdx.x], v);
}
"""
STRIDED = """\
typedef long step_t;
__global__ void doubled(const float* x, float* y, int n, step_t stride) {
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256 * gridDim.x) y[i * stride] = 2 * x[i * stride];
}
void run(const float* x, float* y, int n, step_t stride) {
    doubled<<<(n * stride + 255) / 256, 256>>>(x, y, n, stride);
}
"""
# The compiler knows what `Count` is; porter does not.
UNKNOWN = """\
#include <tuple>
using Count = std::tuple_element_t<1, std::tuple<float, int>>;
__global__ void scale(const float* x, float* y, Count n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
    if (i == 0) y[n] = 1;
}
"""

# No value can be passed for the context, and no compiler knows what it is.
WITH_CONTEXT = """\
struct Context;
__global__ void doubled(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
void run(Context& context, const float* x, float* y, int n) {
    doubled<<<(n + 255) / 256, 256, 0, context.stream()>>>(x, y, n);
}
"""


@pytest.fixture(autouse=True)
def _needs_a_compiler():
    if missing_compiler():
        pytest.skip(missing_compiler())


@pytest.fixture
def options(build_cache):
    return MigrateOptions(target="maca", cache=build_cache)


@pytest.fixture
def source(tmp_path):
    def make(name: str, text: str) -> Path:
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return make


def silent(_: str) -> None:
    """Nobody watches."""


@pytest.mark.parametrize(("factor", "expected"), [("", Verified), ("3 * ", Wrong)])
def test_a_size_of_a_named_type_is_processed(source, options, factor, expected):
    candidate = source("candidate.maca.cpp", "#include <mc_runtime.h>\n" + TOTAL.replace(", v)", f", {factor}v)"))
    verdict = verify(candidate, source("total.cu", TOTAL), options, silent)
    assert isinstance(verdict.outcome, expected)


def test_a_stride_of_a_named_type_spreads_the_elements(source, options):
    (migration,) = migrate(source("strided.cu", STRIDED), options, silent)
    assert isinstance(migration.outcome, Verified)
    (contract,) = migration.contracts
    assert [a.value for a in contract.arguments if a.name == "stride"] == ["stride"]
    assert any(workload.sizes["stride"] > 1 for workload in contract.workloads)


def test_a_number_of_a_type_that_nobody_knows_is_never_verified(source, options):
    path = source("unknown.cu", UNKNOWN)
    (migration,) = migrate(path, options, silent)
    assert isinstance(migration.outcome, NotVerified)
    assert "'n' has the type Count, for which porter knows no value" in migration.outcome.because
    contract = source("unknown.contract.toml", dumps(migration.contracts))
    candidate = source("candidate.maca.cpp", "#include <mc_runtime.h>\n" + UNKNOWN)
    stated = replace(options, contract=contract)
    assert "'n' has the type Count" in verify(candidate, path, stated, silent).outcome.because
    with pytest.raises(InputError, match="'n' has the type Count"):
        record(path, stated, silent)


def test_what_has_no_value_for_an_argument_is_not_built_and_its_kernels_are(source, options):
    steps = list[str]()
    (migration,) = migrate(source("context.cu", WITH_CONTEXT), options, steps.append)
    assert isinstance(migration.outcome, KernelsVerified)
    assert [step for step in steps if step.startswith("building")] == ["building doubled"]
    (finding,) = [finding for finding in migration.findings if finding.code == "PORT5001"]
    assert finding.message.endswith(
        "run: the contract is open: 'context' has the type Context&, for which porter knows no value (--contract)"
    )


def test_an_answered_question_is_none(source, options):
    path = source("unknown.cu", UNKNOWN)
    answered = """\
[[contract]]
name = "scale"
symbols = ["n"]
[contract.entry]
kind = "kernel"
name = "scale"
grid = ["cdiv(n, 256)", "1", "1"]
block = ["256", "1", "1"]
[[contract.argument]]
tensor = "x"
role = "in"
dtype = "float32"
shape = ["n"]
[[contract.argument]]
tensor = "y"
role = "out"
dtype = "float32"
shape = ["n + 1"]
[[contract.argument]]
scalar = "n"
type = "Count"
value = "n"
[[contract.workload]]
name = "odd"
sizes = { n = 1003 }
seed = 1
"""
    stated = replace(options, contract=source("scale.toml", answered))
    (migration,) = migrate(path, stated, silent)
    assert isinstance(migration.outcome, Verified)
