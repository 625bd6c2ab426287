"""What a run leaves is compared as what it is."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from porter.contract.infer.draft import draft
from porter.contract.model.contract import Contract
from porter.contract.model.dtype import DType
from porter.execution.job import Run, TensorValue
from porter.oracle.outputs import outputs
from porter.oracle.reference import differences
from porter.source.parse import parse
from porter.source_text import Source

KERNEL = """
__global__ void find(Best* best, int n) { if (threadIdx.x < n) best[threadIdx.x].at = threadIdx.x; }
void f(Best* best, int n) { find<<<1, 256>>>(best, n); }
"""


def drafted(struct) -> Contract:
    (contract,) = draft(parse(Source(Path("k.cu"), struct + KERNEL)))
    return contract


@pytest.fixture
def pairs() -> Contract:
    """The contract of an operator that writes structs of which nothing is known."""
    return drafted("struct Best;")


def test_structs_of_known_numbers_are_compared_by_their_fields():
    contract = drafted("struct Best { float value; int at; };")
    raw = [left([*ordinary(value), at]).outputs[0].storage.view(np.uint8) for value, at in ((1, 5), (1.0000001, 6))]
    runs = [replace(left([0]), outputs=(TensorValue(DType.UINT8, bytes_.shape, bytes_),)) for bytes_ in raw]
    got, want = (outputs(contract, run) for run in runs)
    assert [name for name, _ in differences(got, want, exact=False, contract=contract)] == ["best.at"]
    assert [name for name, _ in differences(got, want, exact=True, contract=contract)] == ["best.value", "best.at"]


def left(raw):
    storage = np.array(raw, dtype=np.uint32).view(np.float32)
    tensor = TensorValue(DType.FLOAT32, storage.shape, storage)
    return Run(True, 0, (tensor,), (), (), (), (), (), "", "", 0.0)


def ordinary(*values):
    return np.array(values, dtype=np.float32).view(np.uint32).tolist()


@pytest.mark.parametrize(("at", "other"), [(5, 7), (0xFFFFFFFE, 0xFFFFFFFD), (0xFFFFFFFF, 0x7FFFFFFF), (0, 0x80000000)])
def test_integers_of_structs_count_exactly(pairs, at, other):
    got, want = (outputs(pairs, left([*ordinary(1000.0), index])) for index in (at, other))
    assert [name for name, _ in differences(got, want, exact=False, contract=pairs)] == ["best"]


@pytest.mark.parametrize("other", [0x7FFFFFFF, 0x7FC00000])
def test_what_holds_no_number_counts_exactly(pairs, other):
    got, want = (outputs(pairs, left([0, index])) for index in (0xFFFFFFFF, other))
    assert [name for name, _ in differences(got, want, exact=False, contract=pairs)] == ["best"]


def test_structs_of_nothing_but_floats_may_round(pairs):
    got, want = (outputs(pairs, left(ordinary(1000.0, value))) for value in (1.0, 1.0000001))
    assert list(differences(got, want, exact=False, contract=pairs)) == []
