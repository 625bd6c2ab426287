"""Kernels executed on symbols leave nodes that say what they compute; what data decide is refused."""

import pytest

from porter.contract.model.dtype import DType
from porter.lift.answer import _fitted
from porter.lift.nodes import NotLiftedError
from porter.symbolic.request import InputTensor
from tests.pure.symbolic.launched_kernels import F32, launched


def test_a_row_sum_by_a_tree_is_a_sum_over_the_row():
    kernel = """__global__ void k(const float* x, float* y, int n) {
      extern __shared__ float part[];
      float sum = 0.f;
      for (int i = threadIdx.x; i < n; i += blockDim.x) sum += x[blockIdx.x * n + i];
      part[threadIdx.x] = sum;
      __syncthreads();
      for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
      }
      for (int i = threadIdx.x; i < n; i += blockDim.x) y[blockIdx.x * n + i] = x[blockIdx.x * n + i] / part[0];
    }"""
    found = launched(kernel, (InputTensor("x", F32, (3, 50)),), (3, 50), 50, grid=3)
    fitted = _fitted(found)
    (output,) = fitted.outputs
    assert (output.name, output.shape, fitted.assumptions) == ("out", (3, 50), ())
    assert len({str(node) for node in found.results[0].nodes.ravel()}) == 150
    graph = found.graph
    divided = graph[int(found.results[0].nodes[1, 2])]
    assert (divided[0], graph[divided[2]][:4]) == ("divide", ("read", "float32", "x", 52))
    assert {graph[n][0] for n in reads(graph, divided[3])} == {"read"}
    assert sorted(graph[n][3] for n in reads(graph, divided[3])) == list(range(50, 100))


def reads(graph, node: int) -> list[int]:
    inner = graph.operands(node)
    return [leaf for operand in inner for leaf in reads(graph, operand)] if inner else [node]


def test_a_branch_on_a_value_is_a_selection_of_what_both_sides_store():
    kernel = """__global__ void k(const float* x, float* y) {
      const float v = x[threadIdx.x];
      if (v > 0) { y[threadIdx.x] = v; } else { y[threadIdx.x] = expf(v) - 1; }
    }"""
    found = launched(kernel, (InputTensor("x", F32, (32,)),), (32,))
    graph = found.graph
    key = graph[int(found.results[0].nodes[5])]
    assert key[0] == "select"
    assert graph[key[2]][0] == "less" or graph[key[2]][0] == "not"


def test_an_index_from_the_data_is_a_gather():
    kernel = "__global__ void k(const float* x, const int* at, float* y) { y[threadIdx.x] = x[at[threadIdx.x] + 1]; }"
    inputs = (InputTensor("x", F32, (9,)), InputTensor("at", DType.INT32, (32,)))
    found = launched(kernel, inputs, (32,))
    assert found.graph[int(found.results[0].nodes[3])][:3] == ("gather", "float32", "x")


def test_integers_that_data_choose_are_nodes():
    kernel = """__global__ void k(const float* x, float* y) {
      int best = 0;
      for (int i = 1; i < 3; ++i) best = x[i] > x[best == 0 ? 0 : 0] ? i : best;
      y[threadIdx.x] = best;
    }"""
    found = launched(kernel, (InputTensor("x", F32, (3,)),), (32,))
    assert found.graph[int(found.results[0].nodes[0])][0] in ("cast", "select")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("float s = x[0]; while (s > 1) s = s / 2; y[threadIdx.x] = s;", "decides how often a loop runs"),
        ("if (threadIdx.x < 31) y[threadIdx.x] = x[0];", "element 31 of a result is not defined"),
        ("if (x[threadIdx.x] > 0) y[threadIdx.x] = 1;", "decides whether an element is written at all"),
        ("y[(int)x[threadIdx.x]] = 1;", "decides where it writes"),
        ("y[threadIdx.x] = x[32 + threadIdx.x];", "uses byte 252 of a memory of 128 bytes"),
        ("y[threadIdx.x] = (int)x[0] >> 2;", "computes 'shr' of integers that data decide|of values that data"),
    ],
)  # fmt: skip
def test_what_data_decide_is_refused(body, message):
    kernel = f"__global__ void k(const float* x, float* y) {{ {body} }}"
    with pytest.raises(NotLiftedError, match=message):
        launched(kernel, (InputTensor("x", F32, (32,)),), (32,))
