"""Lists of numbers, as arguments of a contract: as many as the source reads."""

from pathlib import Path

import pytest

from porter.contract.analysis.records import grouped
from porter.contract.infer.draft import draft
from porter.contract.infer.number_lists import lists, places
from porter.source.parse import parse
from porter.source_text import Source

KERNEL = """
#include <vector>
__global__ void k(float* x, float a, float b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = (x[i] - a) * b;
}
"""


def drafted(text):
    (contract,) = draft(parse(Source(Path("op.cu"), KERNEL + text)))
    return contract


def elements(contract):
    return [a.name for a in contract.arguments if a.name.startswith("by")]


@pytest.mark.parametrize(
    ("declared", "body"),
    [
        ("const std::vector<float>& by", "k<<<n, 32>>>(x, by[0], by.at(2), n);"),
        ("std::vector<double> by", "TORCH_CHECK(by.size() == 3); k<<<n, 32>>>(x, by[0], by[1], n);"),
        ("c10::ArrayRef<float> by", "for (int c = 0; c < 3; ++c) k<<<n, 32>>>(x, by[c], 1.f, n);"),
        ("std::vector<float> by", "const int MANY = 3; for (int c = 0; c < MANY; ++c) k<<<n, 32>>>(x, by[c], 1.f, n);"),
        ("std::array<float, 3> by", "for (float one : by) k<<<n, 32>>>(x, one, 1.f, n);"),
        ("const std::vector<float>& by", "inner(x, by, n);"),
    ],
)  # fmt: skip
def test_a_list_has_as_many_numbers_as_the_source_reads(declared, body):
    inner = "static void inner(float* x, const std::vector<float>& a, int n) { k<<<n, 32>>>(x, a[0], a[2], n); }\n"
    contract = drafted(f"{inner if 'inner' in body else ''}void f(float* x, {declared}, int n) {{ {body} }}")
    assert elements(contract) == ["by[0]", "by[1]", "by[2]"]
    assert len({a.value for a in contract.arguments if a.name.startswith("by")}) == 3
    assert lists(contract.arguments) == {"by": 3}
    assert places(contract.arguments) == ((1, 3),)


@pytest.mark.parametrize(
    ("declared", "body"),
    [
        ("std::vector<float>& by", "by[2] = 1; k<<<n, 32>>>(x, by[0], by[1], n);"),
        ("const std::vector<float>& by", "for (float one : by) k<<<n, 32>>>(x, one, 1.f, n);"),
        ("const std::vector<float>& by", "for (int c = 0; c < n; ++c) k<<<n, 32>>>(x, by[c], 1.f, n);"),
    ],
)
def test_a_list_that_is_changed_or_of_no_known_length_is_no_list_of_several(declared, body):
    assert not lists(drafted(f"void f(float* x, {declared}, int n) {{ {body} }}").arguments)


def test_elements_belong_to_their_list():
    contract = drafted("void f(float* x, std::array<float, 2> by, int n) { k<<<n, 32>>>(x, by[0], by[1], n); }")
    (function,) = parse(Source(Path("op.cu"), "void f(float* x, std::array<float, 2> by, int n) {}")).host_functions
    assert grouped([a.name for a in contract.arguments], function.params) == ((), ("[0]", "[1]"), ())
