"""Costs of ports to MACA, by what one block of each launch asks of memory: no device, and no compiler of MetaX's."""

from __future__ import annotations

from pathlib import Path

import pytest

from porter.backend import Port, PortedFile
from porter.contract.infer.draft import draft
from porter.contract.model.contract import Workload
from porter.evaluate.problem.bench import bench
from porter.evolve.scoring.cost import Cost
from porter.registry import find_backend
from porter.source.parse import parse
from porter.source_text import Source
from porter.translation_unit import original_unit

TEXT = """\
#include <torch/extension.h>
__global__ void scale(const float* x, float* y, int64_t n) {
    int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
torch::Tensor forward(torch::Tensor x) {
    auto y = torch::empty_like(x);
    scale<<<(x.numel() + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    return y;
}
"""
COUNT = 1 << 28  # a gigabyte


@pytest.fixture(scope="module")
def cost(cache):
    backend = find_backend("maca")
    side = original_unit(parse(Source(Path("k.cu"), TEXT)), (), ())
    (contract,) = draft(side.program, whole_program=False)
    port = backend.port(side.program, (), backend.targets()[0])

    def cost_of(*edit, target=0):
        files = tuple(PortedFile(f.name, f.text.replace(*edit) if edit else f.text, f.source) for f in port.files)
        sizes = dict.fromkeys(contract.symbols, 1) | {contract.symbols[0]: COUNT}
        with bench(cache, 20.0) as place:
            workload, device = Workload("bench", sizes, 1, device_only=True), backend.targets()[target]
            return backend.cost(Port(files, ()), side, contract, workload, device, place)

    return cost_of


def test_what_bandwidth_bounds_costs_what_its_bytes_take_and_the_same_again(cost):
    found = cost()
    assert isinstance(found, Cost)
    assert found.moved_bytes == found.returned_bytes * 2 == 8 * COUNT
    assert found.units == pytest.approx(8 * COUNT / 1.64e6, rel=0.1)
    assert "bound by the bandwidth of memory" in found.launches[0]
    assert "4 warps" in found.launches[0]
    assert cost() == found


def test_lines_that_are_used_in_parts_cost_more(cost):
    assert cost("x[i]", "x[(i * 64) % n]").units > 2 * cost().units


def test_launches_that_are_too_small_are_bound_by_what_their_blocks_wait_for(cost):
    found = cost("scale<<<(x.numel() + 255) / 256, 256>>>", "scale<<<1, 64>>>")
    assert "bound by what its programs do" in found.launches[0]


def test_a_target_without_public_numbers_has_no_model(cost):
    assert cost(target=1) == "no public source gives the numbers of xcore1500"


def test_what_does_not_build_has_no_cost(cost):
    assert "expected" in cost("y[i] = 2", "y[i] = = 2")


def test_what_the_library_computes_is_not_free(cost):
    """Its operators are no launches of the port, and would cost nothing."""
    assert cost("return y;", "return y.exp();") == "the library's `exp` makes a part of the result, and has no sample"
