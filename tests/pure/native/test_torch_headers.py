"""The part of PyTorch's headers that a source uses."""

from __future__ import annotations

import pytest

from porter.native.torch_headers import narrow_headers, torch_folders

SOURCE = "at::Tensor f(torch::Tensor x) { return at::empty_like(x) + torch :: zeros({3}) + torch::no_operator(x); }"


@pytest.fixture
def headers():
    return narrow_headers((SOURCE,), torch_folders())


@pytest.fixture
def header(headers):
    return headers["torch/extension.h"]


def test_operators_that_the_source_names_are_included(header):
    assert {"<ATen/ops/empty_like.h>", "<ATen/ops/zeros.h>"} <= set(header.split())


def test_nothing_is_included_that_is_not_there(header, headers):
    included = [line.split("<")[1].rstrip(">") for line in header.splitlines() if line.startswith("#include")]
    assert included
    assert all(path in headers or any((folder / path).is_file() for folder in torch_folders()) for path in included)
