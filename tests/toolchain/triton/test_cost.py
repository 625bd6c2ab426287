"""Costs of whole modules: planned on tensors without elements, compiled, walked; nothing runs on them."""

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


class Subject:
    def __init__(self, cache):
        self.backend = find_backend("triton")
        self.side = original_unit(parse(Source(Path("k.cu"), TEXT)), (), ())
        (self.contract,) = draft(self.side.program, whole_program=False)
        self.port = self.backend.port(self.side.program, (), self.backend.targets()[0])
        self.cache = cache

    def cost(self, text=None, target=0, **point):
        files = self.port.files
        if text is not None:
            files = (PortedFile(files[0].name, text, files[0].source),)
        named = {name.replace("__", "."): value for name, value in point.items()}
        files = self.backend.tuned(files, named, self.backend.targets()[0])
        sizes = dict.fromkeys(self.contract.symbols, 1) | {self.contract.symbols[0]: COUNT}
        with bench(self.cache, 20.0) as place:
            workload, device = Workload("bench", sizes, 1, device_only=True), self.backend.targets()[target]
            return self.backend.cost(Port(files, ()), self.side, self.contract, workload, device, place)


@pytest.fixture(scope="module")
def subject(cache):
    return Subject(cache)


def test_a_large_elementwise_kernel_costs_what_its_bytes_take_and_is_the_same_again(subject):
    cost = subject.cost()
    assert isinstance(cost, Cost)
    assert cost.units == pytest.approx(2 * COUNT * 4 / 4.2e6, rel=0.1)
    assert any("memory" in launch for launch in cost.launches)
    assert subject.cost() == cost


def test_schedules_differ_in_cost_and_in_what_is_built(subject):
    narrow, wide = subject.cost(scale__width=64, scale__num_warps=2), subject.cost(scale__width=1024)
    assert narrow.units > wide.units
    assert narrow.built != wide.built
    assert wide.built != subject.cost().built


def test_what_only_comments_tell_apart_is_the_same_binary(subject):
    text = subject.port.files[0].text
    assert subject.cost(text.replace("def forward", "# another\n\n\ndef forward")).built == subject.cost().built


@pytest.mark.parametrize(
    ("before", "after", "because"),
    [
        ("    return y", "    return y if y.sum().item() > 0 else x", "reads numbers of the device"),
        ("    return y", "    raise ValueError('not today')", "not today"),
        ("    scale[", "    return x\n    scale[", "launches nothing"),
        ("tl.load(x + i", "tl.load(x + nowhere", "nowhere"),
    ],
)
def test_what_cannot_be_planned_says_why(subject, before, after, because):
    text = subject.port.files[0].text
    assert before in text
    assert because in subject.cost(text.replace(before, after))


def test_another_vendors_device_has_no_model(subject):
    names = [target.arch for target in subject.backend.targets()]
    assert "gfx942" in subject.cost(target=names.index("gfx942"))
