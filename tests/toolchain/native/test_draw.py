"""The kernel that fills large tensors, executed here: it draws what `contract.drawn` says."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path

import numpy as np
import pytest

import porter.native
from porter.contract.model.contract import Entry, EntryKind
from porter.contract.model.dtype import DType
from porter.contract.workload.drawn import drawn, key_of
from porter.dialect import CUDA
from porter.execution.job import BuildRequest, Callee, Job, ScalarValue, TensorValue
from porter.simt.build import build
from porter.simt.compiler import missing_compiler
from porter.simt.run import run
from porter.source_text import Source

SOURCE = Path(porter.native.__file__).with_name("draw.cu")
COUNT, POOL, THREADS = 20_000, 1_021, 256


@pytest.fixture(scope="module")
def executable(cache):
    if missing_compiler():
        pytest.skip(missing_compiler())
    callee = Callee(Entry(EntryKind.KERNEL, "porter_draw"))
    (built,) = build(BuildRequest(Source(SOURCE, SOURCE.read_text()), (), CUDA, (callee,), 32), cache)
    return built


@pytest.mark.parametrize("dtype", [DType.UINT8, DType.BFLOAT16, DType.FLOAT32, DType.FLOAT64])
def test_it_draws_what_the_contract_says(executable, dtype):
    data = np.random.default_rng(1).integers(0, 256, COUNT * dtype.bytes, dtype=np.uint8)
    pool = data.view(f"u{dtype.bytes}")[:POOL].copy()
    key = key_of(pool.tobytes()) >> 1  # numbers of a job are signed
    scalars = map(ScalarValue, (dtype.bytes, POOL, COUNT, key))
    blocks = -(-(COUNT - POOL) // THREADS)
    job = Job((TensorValue(DType.UINT8, data.shape, data), *scalars), grid=(blocks, 1, 1), block=(THREADS, 1, 1))
    done = run(executable, job)
    assert not done.faults
    found = done.outputs[0].storage.view(f"u{dtype.bytes}")
    assert np.array_equal(found[:POOL], pool)
    assert np.array_equal(found[POOL:], pool[drawn(POOL, POOL, COUNT, key)])


def test_what_devices_load_was_made_of_this_source():
    first = SOURCE.with_suffix(".ptx").read_text().splitlines()[0]
    assert blake2b(SOURCE.read_bytes(), digest_size=8).hexdigest() in first
