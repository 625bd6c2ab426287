"""Error codes of host code: calls that are made for them, and what is raised."""

from __future__ import annotations

import pytest

from porter_triton.refusal import Refusal
from tests.pure.triton.host_sources import body, translated


def test_memory_calls_asked_for_their_error_code_are_made():
    found = body("""
        float *t, *s, h;
        if (cudaMalloc(&t, n * sizeof(float)) != cudaSuccess || cudaMalloc(&s, sizeof(float)) != cudaSuccess) return;
        add<<<1, 32>>>(t, s, n);
        if (cudaMemcpy(&h, t, sizeof(float), cudaMemcpyDeviceToHost)) throw 1;
        if (cudaMemcpy(y, &h, sizeof(float), cudaMemcpyHostToDevice) != cudaSuccess) exit(1);""")
    first, second, launched, *copied = found.split("\n")
    assert first == "t = torch.empty(n, dtype=torch.float32, device=y.device)"
    assert second == "s = torch.empty(1, dtype=torch.float32, device=y.device)"
    assert launched.startswith("add[(1,)](t, s, n,")
    assert copied == ["h = t[0].item()", "y.view(-1)[:1].fill_(h)"]


def test_a_memory_call_that_another_condition_decides_on_is_refused():
    with pytest.raises(Refusal, match="with effects is called under a condition"):
        body("float* t; if (m > 1 && cudaMalloc(&t, n * 4) != cudaSuccess) return; add<<<1, 32>>>(y, x, n);")


def test_an_error_code_may_be_kept_and_compared_at_once():
    found = body("""
        cudaError_t err; float* t;
        if ((err = cudaSetDevice(0)) != cudaSuccess) { printf("%s", cudaGetErrorString(err)); return; }
        if ((err = cudaMalloc(&t, n * sizeof(float))) != cudaSuccess) throw 1;
        add<<<1, 32>>>(t, x, n);""")
    allocated, launched = found.split("\n")
    assert allocated == "t = torch.empty(n, dtype=torch.float32, device=y.device)"
    assert launched.startswith("add[(1,)](t, x, n,")


def test_a_kept_error_code_that_another_condition_decides_on_is_refused():
    with pytest.raises(Refusal, match="with effects is called under a condition"):
        body("""cudaError_t e; float* t;
            if (m > 1 && (e = cudaMalloc(&t, n * 4)) != cudaSuccess) return; add<<<1, 32>>>(y, x, n);""")


def test_long_messages_are_not_broken_at_their_commas():
    said = "expected the types of input and gradient to match, or input to be Half (as in training), and gradient Float"
    found = translated(f"""
        void f(torch::Tensor y, int a) {{
          TORCH_CHECK(y.size(0) == a * 32 && y.size(1) == 2, "{said}");
          add<<<1, 32>>>(y.data_ptr<float>(), y.data_ptr<float>(), 32);
        }}""")
    assert f'"{said}"' in found


ANSWERING = """
cudaError_t launch(float* y, const float* x, int n) {
  scale<float><<<1, 64>>>(y, x, 2.f, n);
  return cudaGetLastError();
}
"""


@pytest.mark.parametrize(
    "text",
    [
        "launch(y, x, n);",
        "cudaError_t e = launch(y, x, n); if (e != cudaSuccess) exit(1);",
        "if (launch(y, x, n)) return;",
    ],
)
def test_a_function_called_for_its_error_code_is_called(text):
    found = translated(f"{ANSWERING}void f(float* y, float* x, int n) {{ {text} }}")
    assert found.rstrip().endswith("\n    launch(y, x, n)")


def test_such_a_call_behind_else_stays_behind_it():
    text = "if (n > 3) y = x; else if (launch(y, x, n) != cudaSuccess) return; launch(y, x, 1);"
    found = translated(f"{ANSWERING}void f(float* y, float* x, int n) {{ {text} }}")
    assert "    else:\n        launch(y, x, n)\n    launch(y, x, 1)" in found


@pytest.mark.parametrize(
    "text", ["if (n > 3 || launch(y, x, n)) return;", "while (launch(y, x, n)) {}", "n = n ? launch(y, x, n) : 0;"]
)
def test_where_a_condition_decides_whether_it_is_called_it_is_refused(text):
    with pytest.raises(Refusal, match="with effects is called under a condition"):
        translated(f"{ANSWERING}void f(float* y, float* x, int n) {{ {text} }}")


@pytest.mark.parametrize("value", ["(int)cudaGetLastError()", "cudaGetLastError()"])
def test_an_error_code_that_is_returned_as_a_number_is_that_of_success(value):
    found = translated(f"int f(float* y, const float* x, int n) {{ add<<<1, 64>>>(y, x, n); return {value}; }}")
    assert found.endswith("\n    return 0")


@pytest.mark.parametrize("type_", ["cudaError_t", "int"])
def test_an_error_code_that_is_no_success_is_raised(type_):
    found = translated(f"""
        {type_} f(float* y, const float* x, int n) {{
          if (n % 2) return cudaErrorInvalidValue;
          scale<float><<<1, 64>>>(y, x, 2.f, n);
          if (cudaGetLastError() == cudaErrorLaunchFailure) return cudaErrorLaunchFailure;
          return cudaSuccess;
        }}""")
    assert '    if n % 2:\n        raise RuntimeError("cudaErrorInvalidValue")\n' in found
    assert "LaunchFailure" not in found


def test_a_function_that_sets_a_variable_under_a_condition_is_refused():
    with pytest.raises(Refusal, match="with effects is called under a condition"):
        translated("""
            bool halved(int& n) { n = n / 2; return true; }
            void f(float* y, const float* x, int n) { if (n > 8 && halved(n)) add<<<1, 64>>>(y, x, n); }""")
