"""Indexing and methods of PyTorch's C++ interface in launchers."""

from __future__ import annotations

import pytest
import torch

from porter_triton.host.table import table
from porter_triton.refusal import Refusal
from tests.pure.triton.host_sources import translated
from tests.pure.triton.test_host_functions import launcher

NAMESPACES = "using namespace torch::indexing;\n"


@pytest.mark.parametrize(
    ("cpp", "python"),
    [
        ("return x.index({0, Slice(1, n), None});", "return x[0, 1:n, None]"),
        ('return x.index({torch::indexing::Slice(torch::indexing::None, -1), "..."});', "return x[:-1, ...]"),
        ("return x.index({x.gt(0)});", "return x[x.gt(0)]"),
        ("return x.slice(1, 2, n, 3);", "return x[:, 2:n:3]"),
        ("return x.slice(-1, n - 1);", "return x[..., n - 1 :]"),
        ("x.index_put_({0}, x.index({n}));\nreturn x;", "x[0] = x[n]\nreturn x"),
        ("return torch::empty(x.sizes().slice(0, x.dim() - 1));", "return torch.empty(x.shape[: x.dim() - 1])"),
        ("return x.to(torch::kF32);", "return x.to(torch.float32)"),
        ("auto y = x.exp(); y.transpose_(0, 1); return y;", "y = x.exp()\ny = y.transpose(0, 1)\nreturn y"),
        ("auto y = x.index_put_({0}, x.index({n})); return y;", "x[0] = x[n]\ny = x\nreturn y"),
        ("return std::get<1>(x.topk(n, 0));", "return x.topk(n, 0)[1]"),
        ("return torch::maximum(x, x.log1p()).narrow(0, 0, n);", "return torch.maximum(x, x.log1p()).narrow(0, 0, n)"),
    ],
)
def test_tensors_are_indexed_as_in_python(cpp, python):
    launch = "scale<true><<<1, 64>>>(x.data_ptr<float>(), x.data_ptr<float>(), n);"
    found = launcher(f"{NAMESPACES}torch::Tensor f(torch::Tensor x, int n) {{ {launch} {cpp} }}")
    assert found.rstrip().endswith(python)


def test_an_argument_is_not_viewed_anew_where_its_caller_does_not_see_it():
    text = "torch::Tensor f(torch::Tensor x, int n) { x.transpose_(0, 1); return x; }"
    with pytest.raises(Refusal, match="transpose_"):
        translated(text)


def test_methods_and_functions_that_are_called_alike_are_pythons():
    assert not [name for name in table().same_methods if not hasattr(torch.Tensor, name)]
    assert not [name for name in table().functions if not hasattr(torch, name)]
