"""Launchers that take tensors: compiled with as much of PyTorch's headers as they need, called by addresses."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import torch

from porter.contract.model.contract import Entry, EntryKind
from porter.contract.model.dtype import DType
from porter.execution.job import Callee, Job
from porter.native.entries import Entries, HostError
from porter.native.headers import unpacked
from porter.native.requests import LibraryEntry
from porter.native.torch_headers import narrow_headers, torch_flags, torch_folders
from porter.native.wrappers import wrapped
from porter.source.parse import parse
from porter.source.program import CType
from porter.source_text import Source
from porter.translation_unit import original_unit

# Without a kernel, so that any C++ compiler builds it, and tensors of the CPU will do.
SOURCE = """\
#include <cuda_runtime.h>
#include <torch/extension.h>
at::Tensor scaled(torch::Tensor x, const double factor) {
    TORCH_CHECK(x.dim() == 2, "x must be a matrix");
    auto y = torch::zeros({x.size(1), x.size(0)}, x.options().dtype(torch::kFloat64));
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "scaled", [&] {
        for (int64_t i = 0; i < x.size(0); ++i)
            for (int64_t j = 0; j < x.size(1); ++j)
                y.data_ptr<double>()[j * x.size(0) + i] = factor * x.data_ptr<scalar_t>()[i * x.size(1) + j];
    });
    return y;
}
std::tuple<at::Tensor, at::Tensor> both(const at::Tensor& x, c10::optional<at::Tensor> other) {
    return {at::empty_like(x).fill_(3), other.has_value() ? *other : x};
}
std::vector<at::Tensor> parts(at::Tensor x) { return {x[0], x[1], at::Tensor()}; }
std::pair<at::Tensor, at::Tensor> pair(at::Tensor x) { return {x, x + 1}; }
std::array<at::Tensor, 3> triple(at::Tensor x) { return {x, x + 1, x + 2}; }
void doubled(at::Tensor x, int64_t times) { for (; times > 0; --times) x.mul_(2); }
int64_t rank(at::Tensor x) { return x.dim(); }
int64_t is_there(at::Tensor x) { return x.defined(); }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("scaled", &scaled, "with a text", py::arg("x"), py::arg("factor") = 2);
}
"""
PARAMETERS = {
    "scaled": ("torch::Tensor", "const double"),
    "both": ("const at::Tensor&", "c10::optional<at::Tensor>"),
    "parts": ("at::Tensor",),
    "pair": ("at::Tensor",),
    "triple": ("at::Tensor",),
    "doubled": ("at::Tensor", "int64_t"),
    "rank": ("at::Tensor",),
    "is_there": ("at::Tensor",),
}
RETURNED = {"rank": DType.INT64, "is_there": DType.INT64}
CUDA_ALONE = frozenset(("-lc10_cuda", "-ltorch_cuda"))
# What CUDA's runtime says where there is a driver, too: nothing here takes a device.
NO_ERROR = """\
int cudaGetLastError(void) { return 0; }
const char* cudaGetErrorString(int error) { return ""; }
"""


@pytest.fixture(scope="module")
def library(nvcc, cache):
    """The launchers, without the parts of PyTorch that only devices have."""
    side = original_unit(parse(Source(Path("op.cu"), SOURCE)), (), ())
    folders, types = torch_folders(), {name: tuple(CType(t, t) for t in found) for name, found in PARAMETERS.items()}
    callees = [Callee(Entry(EntryKind.TORCH, name), parameters) for name, parameters in types.items()]
    narrow = unpacked(narrow_headers((SOURCE,), folders), cache)
    text, runtime, made = cache / "launchers.cpp", cache / "runtime.c", cache / "launchers.so"
    text.write_text(wrapped(side, callees, module=False))
    runtime.write_text(NO_ERROR)
    linked = [flag for flag in torch_flags(folders) if flag not in CUDA_ALONE]
    flags = ["-std=c++17", "-w", "-shared", "-Xcompiler", "-fPIC", "-cudart", "none", f"-I{narrow}"]
    subprocess.run([nvcc.command, *flags, *linked, str(text), str(runtime), "-o", str(made)], check=True)
    return made


@pytest.fixture(scope="module")
def call(library):
    entries = Entries()

    def called(name, *arguments):
        symbol = f"porter_entry_{[*PARAMETERS].index(name)}"
        return entries.call(LibraryEntry(str(library), symbol, RETURNED.get(name), tensors=True), Job())(arguments)

    return called


def test_numbers_and_options_reach_a_launcher(call):
    x = torch.arange(6.0).reshape(2, 3)
    (y,) = call("scaled", x, 0.1)
    assert y.dtype is torch.float64
    assert torch.equal(y, 0.1 * x.T.double())


def test_a_failed_check_is_told(call):
    with pytest.raises(HostError, match=r"^x must be a matrix"):
        call("scaled", torch.zeros(3), 1.0)


def test_a_tensor_that_is_returned_as_it_came_is_the_same(call):
    x, other = torch.ones(3), torch.zeros(2)
    threes, same = call("both", x, other)
    assert torch.equal(threes, 3 * x)
    assert same is other


def test_a_tensor_that_is_none_is_no_value_or_undefined(call):
    x = torch.ones(3)
    _, same = call("both", x, None)
    assert same is x
    assert call("is_there", None) == 0
    assert call("is_there", x) == 1


def test_tensors_of_a_list_are_views_and_undefined_ones_are_left_out(call):
    x = torch.arange(4.0).reshape(2, 2)
    first, second = call("parts", x)
    first.fill_(7)
    assert x[0].tolist() == [7, 7]
    assert second.tolist() == [2, 3]


def test_a_pair_and_an_array_are_returned(call):
    x = torch.zeros(1)
    assert [t.item() for t in call("pair", x)] == [0, 1]
    assert [t.item() for t in call("triple", x)] == [0, 1, 2]


def test_arguments_are_changed_in_place(call):
    x = torch.ones(3)
    assert call("doubled", x, 5) == []
    assert x.tolist() == [32, 32, 32]


def test_a_number_is_returned(call):
    assert call("rank", torch.zeros(2, 3, 4)) == 3


def test_nothing_holds_on_to_a_tensor_after_the_call(call):
    x = torch.ones(3)
    held = x._use_count()
    call("both", x, x)
    assert x._use_count() == held
