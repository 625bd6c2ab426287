"""A size that a user names has to be one, of the program or of what stands behind it."""

from pathlib import Path

import pytest

from porter.contract.infer.draft import draft
from porter.contract.model.asked import check_sizes
from porter.errors import UsageError
from porter.source.parse import parse
from porter.source_text import Source

PROGRAM = """
__global__ void scale(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }
void launch(float* x, int count) { scale<<<(count + 127) / 128, 128>>>(x, count); }
int main() { float* x; cudaMalloc(&x, 4096); launch(x, 1024); return 0; }
"""


@pytest.mark.parametrize("name", ["count", "n"])
def test_a_program_has_the_sizes_of_its_launchers_and_of_their_kernels(name):
    (contract,) = draft(parse(Source(Path("op.cu"), PROGRAM)), sizes={name: 77})
    assert contract.entry.name == "main"


def test_another_name_is_refused_with_those_there_are():
    with pytest.raises(UsageError) as refused:
        draft(parse(Source(Path("op.cu"), PROGRAM)), sizes={"count": 77, "rows": 3})
    assert (refused.value.message, refused.value.hint) == ("op.cu has no size 'rows'", "its sizes are: count, n")


def test_a_stated_contract_has_the_sizes_it_states(scale_contract):
    check_sizes(["n"], [scale_contract], Path("op.toml"))
    with pytest.raises(UsageError, match=r"op\.toml has no size 'm'"):
        check_sizes(["m"], [scale_contract], Path("op.toml"))
