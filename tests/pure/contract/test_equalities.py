"""A buffer whose elements are compared with an index holds such indices; another one does not."""

from dataclasses import replace
from pathlib import Path

import pytest

from porter.contract.analysis.equalities import with_compared
from porter.contract.infer.draft import draft
from porter.contract.model.contract import Contract, TensorArg, Values, Workload
from porter.contract.model.expressions import evaluate
from porter.contract.workload.materialise import materialise
from porter.source.parse import parse
from porter.source_text import Source
from tests.pure.contract import draft_sources

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


@pytest.mark.parametrize(
    ("body", "bound"),
    [
        ("int w = i % W; if (i < count) y[i] = w < marks[i] ? x[i] : 0;", 7),
        ("if (i < count) { if (i % H >= marks[i / H]) return; y[i] = x[i]; }", 6),
    ],
)
def test_a_whole_number_that_an_index_stays_below_is_one_more_than_such_an_index(body, bound):
    tensor = marks(drafted(body))
    assert tensor.values is Values.INDEX
    assert evaluate(tensor.bound, SIZES) == bound


def test_a_float_that_is_less_than_an_index_holds_none():
    (contract,) = draft(
        parse(
            Source(
                Path("op.cu"),
                "__global__ void k(const float* marks, float* y, int n, int W) {"
                " int i = threadIdx.x; if (i < n) y[i] = i % W < marks[i] ? 1 : 0; }",
            )
        )
    )
    assert not marks(contract).bound


def test_lengths_that_are_added_up_to_where_a_row_begins_select():
    (contract,) = draft(
        parse(
            Source(
                Path("op.cu"),
                "__global__ void k(const float* x, const int* marks, float* y, int n, int W) {"
                " int before = 0, column = threadIdx.x % W; for (int i = 0; i < blockIdx.x; ++i) before += marks[i];"
                " if (column < marks[blockIdx.x]) y[before + column] = x[threadIdx.x]; }",
            )
        )
    )
    assert (marks(contract).values, marks(contract).bound) == (Values.INDEX, "W")


NAMED = """
#define ALIVE 79
enum Kind { EMPTY, WALL = 3 };
__global__ void step(
    const char* cells, const int* kinds, const unsigned char* marks, const float* x, char* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int kind = kinds[i];
    if (i < n) out[i] = cells[i] == ALIVE || cells[i] == 'o' ? 1 : kind != WALL && marks[i] != 300 && x[i] == 2.0f;
}
void run(const char* cells, const int* kinds, const unsigned char* marks, const float* x, char* out, int n) {
    step<<<(n + 63) / 64, 64>>>(cells, kinds, marks, x, out, n);
}
"""


def test_numbers_that_a_source_tells_from_others_are_among_the_values():
    (contract,) = draft_sources.drafted(NAMED)
    told = {tensor.name: tensor.told for tensor in contract.tensors}
    assert told == {"cells": (79, 111), "kinds": (3,), "marks": (), "x": (), "out": ()}


def test_half_of_the_values_are_those_told():
    (contract,) = draft_sources.drafted(NAMED)
    contract = replace(contract, arguments=(replace(contract.tensors[0], shape=("n",)),), questions=())
    (cells,) = materialise(contract, Workload("w", {"n": 4000}, 5))
    counts = [int((cells.storage == number).sum()) for number in (79, 111)]
    assert all(900 < count < 1150 for count in counts)
    assert len(set(cells.storage.tolist())) > 20
