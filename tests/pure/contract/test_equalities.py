"""A buffer whose elements are compared for equality with an index holds such indices; another one does not."""

from pathlib import Path

import pytest

from porter.contract.contract import Contract, TensorArg, Values
from porter.contract.draft import draft
from porter.contract.equalities import with_compared
from porter.contract.expressions import evaluate
from porter.source.parse import parse
from porter.source.text import Source

SIZES = {"count": 210, "C": 5, "H": 6, "W": 7}


def drafted(body: str, element: str = "int", above: str = "", below: str = "") -> Contract:
    head = (
        f"__global__ void k(int count, const {element}* marks, const float* x, int C, int H, int W, int mode, float* y)"
    )
    text = f"{above}{head} {{ int i = blockIdx.x * blockDim.x + threadIdx.x; {body} }} {below}"
    (contract,) = draft(parse(Source(Path("op.cu"), text)))
    assert all(t.values is Values.NORMAL for t in contract.tensors)
    return with_compared(contract)


def marks(contract: Contract) -> TensorArg:
    return next(a for a in contract.tensors if a.name in ("marks", "labels"))


@pytest.mark.parametrize(
    ("body", "bound"),
    [
        ("int w = i % W, h = (i / W) % H; if (i < count) y[i] = marks[i] == h * W + w ? x[i] : 0;", 42),
        ("if (i < count) y[i] = x[i] * (i == marks[i]);", 210),
        ("if (i >= count) return; for (int c = 0; c < C; ++c) { int m = marks[i]; if (m != c) y[i] += x[i]; }", 5),
        ("if (i >= count) return; const int* own = marks + i; for (int c = 0; c < C; ++c) y[c] = *own == c;", 5),
        ("LOOP(j, count) { y[j] = static_cast<int>(marks[j]) == j / W ? x[j] : 0; }", 30),
    ],
)
@pytest.mark.parametrize("element", ["int", "float"])
def test_an_element_that_is_compared_with_an_index_is_one(body, bound, element):
    loop = "#define LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x)\n"
    tensor = marks(drafted(body, element, loop))
    assert tensor.values is Values.INDEX
    assert evaluate(tensor.bound, SIZES) in (bound, evaluate(f"{bound} * 7 * 6", {}))


def test_host_code_has_the_bound_in_its_own_words():
    host = """void f(const int* labels, const float* x, float* y, int n, int classes) {
        k<<<(n + 255) / 256, 256>>>(n, labels, x, classes, 1, 1, 0, y); }"""
    body = "if (i >= count) return; for (int c = 0; c < C; ++c) y[i * C + c] = labels_are(marks[i] == c) * x[i];"
    tensor = marks(drafted(body, above="__device__ float labels_are(bool b) { return b; }\n", below=host))
    assert (tensor.values, tensor.bound) == (Values.INDEX, "classes")


@pytest.mark.parametrize(
    "compared",
    [
        "marks[i] == mode",
        "marks[i] == 0",
        "marks[i] != marks[i + 1]",
        "marks[i] == threadIdx.y",
        "i == C",
        "x[i] == y[i]",
    ],
)
def test_what_is_compared_with_no_index_holds_any_number(compared):
    tensor = marks(drafted(f"if (i < count) y[i] = {compared} ? x[i] : marks[i];"))
    assert (tensor.values, tensor.bound) == (Values.NORMAL, "")
