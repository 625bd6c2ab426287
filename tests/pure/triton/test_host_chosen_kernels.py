"""Which kernel host code launches: overloads, instances, dispatches, kernels that variables hold."""

from __future__ import annotations

import re

import pytest

from porter_triton.refusal import Refusal
from tests.pure.triton.host_sources import body, translated


def test_overloads_are_told_by_what_pointers_point_to():
    found = translated("""
        void g(float* y, int n) { add<<<1, 32>>>(y, y, n); }
        void g(int* y, int n) { add<<<2, 32>>>((float*)y, (float*)y, n); }
        void f(float* y, int n) { g(y, n); }""")
    assert "add[(1,)]" in found
    assert "add[(2,)]" not in found


def test_instances_of_a_template_are_told_by_their_arguments():
    found = translated("""
        template <typename T, int THREADS> void launch(T* y, const T* x, int n) {
          scale<T><<<(n + THREADS - 1) / THREADS, THREADS>>>(y, x, 2.0f, n);
        }
        void f(float* y, const float* x, int n) { launch<float, 64>(y, x, n); launch<float, 128>(y, x, n); }""")
    assert "BLOCK_SIZE=64" in found
    assert "BLOCK_SIZE=128" in found
    assert "launch__2(y, x, n)" in found


def test_a_choice_of_two_launches_is_a_branch():
    found = body("n > 64 ? add<<<2, 64>>>(y, x, n) : scale<float><<<1, 64>>>(y, x, 2.0f, n);")
    assert "if n > 64:\n" in found
    assert "else:\n" in found
    assert found.index("add[(2,)]") < found.index("else:") < found.index("scale[(1,)]")


BY_DTYPE = """
template <typename T> torch::Tensor scaled(torch::Tensor x) {{
  auto y = torch::empty_like(x);
  scale<T><<<1, 256>>>(y.data_ptr<T>(), x.data_ptr<T>(), 2.f, x.numel());
  return y;
}}
torch::Tensor f(torch::Tensor x) {{ {} return out; }}
"""


@pytest.mark.parametrize(
    "given",
    [
        "torch::Tensor out; out = {};",
        "torch::Tensor out = {};",
    ],
)
@pytest.mark.parametrize("arrow", ["", "() -> torch::Tensor "])
def test_what_a_dispatch_gives_is_assigned_in_its_branches(given, arrow):
    call = f'AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "f", ([&]{arrow}{{ return scaled<scalar_t>(x); }}))'
    found = translated(BY_DTYPE.format(given.format(call)))
    assert re.search(r"if x.dtype == torch.float64:\n\s+out = scaled\(x\)\n\s+elif x.dtype == torch.float32:", found)
    assert found.count("out = scaled") == 2


def test_a_dispatch_that_gives_nothing_is_not_assigned():
    call = 'AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "f", [&] { scaled<scalar_t>(x); })'
    with pytest.raises(Refusal, match="does not end with a value"):
        translated(BY_DTYPE.format(f"torch::Tensor out; out = {call};"))


HELD = """
template <int N> __global__ void times(float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] *= N;
}
typedef void (*Chosen)(float*, int);
"""


def test_a_kernel_that_a_function_returns_is_launched_by_its_name():
    found = translated(
        HELD
        + """
        Chosen pick(int k) {
          if (k == 2) return times<2>;
          if (k == 3) return &times<3>;
          return nullptr;
        }
        void f(float* y, int n, int k) {
          Chosen kernel = pick(k);
          if (!kernel) return;
          kernel<<<(n + 31) / 32, 32>>>(y, n);
        }"""
    )
    assert 'if k == 2:\n        return "times<2>"' in found
    assert "    kernel = pick(k)\n    if kernel is None:\n        return\n" in found
    assert '    if kernel == "times<2>":\n        times[(triton.cdiv(n, 32),)](y, n,' in found
    assert '    elif kernel == "times<3>":\n        times__2[(triton.cdiv(n, 32),)](y, n,' in found
    assert '    else:\n        raise RuntimeError(f"no kernel is called {kernel}")' in found


def test_a_variable_that_is_set_again_may_hold_either_kernel():
    found = translated(
        HELD
        + """
        void f(float* y, int n) {
          auto kernel = &times<2>;
          if (n > 64) kernel = &times<3>;
          kernel<<<(n + 31) / 32, 32>>>(y, n);
        }"""
    )
    assert '    kernel = "times<2>"\n    if n > 64:\n        kernel = "times<3>"\n    if kernel == "times<2>":' in found


def test_a_kernel_that_is_chosen_by_a_condition_is_held_by_its_name():
    found = translated(HELD + "void f(float* y, int n) { auto k = n > 64 ? times<2> : times<3>; k<<<n, 32>>>(y, n); }")
    assert '    k = "times<2>" if n > 64 else "times<3>"\n    if k == "times<2>":' in found


def test_a_function_that_is_given_a_kernel_launches_that_one():
    found = translated(
        HELD
        + """
        template <typename Kernel> void run(Kernel kernel, float* y, int n) { kernel<<<n, 32>>>(y, n); }
        void f(float* y, int n) { run(times<2>, y, n); run(times<3>, y, n); }"""
    )
    assert "def run(kernel, y, n):\n    # op.cu:17\n    times[(n,)]" in found
    assert "def run__2(kernel, y, n):\n    # op.cu:17\n    times__2[(n,)]" in found


def test_which_kernel_a_caller_hands_over_is_not_known():
    with pytest.raises(Refusal, match="which kernel 'kernel' is cannot be told"):
        translated(HELD + "void f(Chosen kernel, float* y, int n) { kernel<<<n, 32>>>(y, n); }")
