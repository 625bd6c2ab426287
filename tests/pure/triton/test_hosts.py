"""Host functions before and after: C++ with its kernel, and the launcher in Python."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from textwrap import dedent

import black
import pytest

from porter.source.parse import parse
from porter.source.text import Source
from porter.syntax.read import read_unit
from porter_triton.host import Hosts
from porter_triton.kernels import Kernels
from porter_triton.refusal import Refusal

KERNEL = """
template <typename T> __global__ void scale(T* y, const T* x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * a;
}
__global__ void add(float* y, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += x[i];
}
"""


def translated(text: str, name: str = "f") -> str:
    """All launchers that `f` needs, in order."""
    program = parse(Source(Path("op.cu"), KERNEL + dedent(text)))
    unit = read_unit(program)
    hosts = Hosts(program, unit, Kernels(unit))
    hosts.named(name)
    return "\n\n".join(hosts.texts())


def body(text: str) -> str:
    """The body of `f(float* y, const float* x, int n)` around `text`, without head and comment."""
    head = "void f(float* y, float* x, int n, int m) {\n"
    lines = translated(f"{head}{text}\n}}").split("\n")
    return dedent("\n".join(lines[2:]))


def test_a_pointer_launcher():
    found = translated("""
        void f(float* y, const float* x, float a, int n, cudaStream_t stream = 0) {
          const int threads = 256;
          dim3 grid((n + threads - 1) / threads);
          scale<<<grid, threads, 0, stream>>>(y, x, a, n);
          cudaError_t error = cudaGetLastError();
          if (error != cudaSuccess) { printf("%s", cudaGetErrorString(error)); exit(1); }
        }""")
    assert found == dedent("""\
        def f(y, x, a, n, stream=None):
            # op.cu:11-17
            threads = 256
            scale[(triton.cdiv(n, threads),)](y, x, a, n, BLOCK_SIZE=256, num_warps=2)""")


@pytest.mark.parametrize(
    ("cpp", "python"),
    [
        (
            "auto parts = [&](int64_t k) { return (k + m - 1) / m; }; add<<<parts(2 * n), 256>>>(y, x, n);",
            "cdiv(2 * n, m)",
        ),
        ("const auto halved = [](int k) { return k / 2; }; add<<<halved(7) + n, 256>>>(y, x, n);", "[(7 // 2 + n,)]"),
        ("add<<<[&](int k) { return k + n; }(m), 256>>>(y, x, n);", "[(m + n,)]"),
        ("add<<<THCCeilDiv(n, 256), 256>>>(y, x, n);", "[(triton.cdiv(n, 256),)]"),
        ("add<<<std::min(n, std::numeric_limits<short>::max()), 256>>>(y, x, n);", "[(min(n, 32767),)]"),
        ("add<<<n > std::numeric_limits<int64_t>::lowest() ? 1 : 2, 256>>>(y, x, n);", "n > -9223372036854775808"),
    ],
)
def test_lambdas_and_limits_are_values(cpp: str, python: str):
    assert python in body(cpp)


def test_a_lambda_that_is_more_than_a_value_is_refused():
    with pytest.raises(Refusal, match="several statements"):
        body("auto f = [&](int k) { k += n; return k; }; add<<<f(2), 256>>>(y, x, n);")


def test_what_is_nothing_in_python_is_still_passed_to_the_parameter_for_it():
    found = translated("""
        struct Twice { __device__ float operator()(float x) const { return 2.0f * x; } };
        template <typename T, class F> __global__ void apply(T* y, const T* x, int n, F function) {
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          if (i < n) y[i] = function(x[i]);
        }
        template <typename T, class F> void launch(T* y, const T* x, F function, cudaStream_t stream, int n) {
          apply<<<(n + 127) / 128, 128, 0, stream>>>(y, x, n, function);
        }
        void f(float* y, const float* x, int n, cudaStream_t stream) { launch(y, x, Twice{}, stream, n); }""")
    assert "def launch(y, x, function, stream, n):" in found
    assert "launch(y, x, None, None, n)" in found


def test_a_torch_launcher_with_dispatch():
    found = translated("""
        torch::Tensor f(torch::Tensor x, double a = 0.5) {
          TORCH_CHECK(x.is_cuda(), "x must be on the device");
          TORCH_CHECK(x.dim() == 2, "expected a matrix, got ", x.dim(), "-D");
          auto y = torch::empty_like(x);
          int n = x.numel();
          AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "scale", ([&] {
            scale<scalar_t><<<(n + 127) / 128, 128>>>(y.data_ptr<scalar_t>(), x.data_ptr<scalar_t>(), (float)a, n);
          }));
          return y;
        }""")
    lines = found.split("\n")
    assert lines[0] == "def f(x, a=0.5):"
    assert '        raise RuntimeError(f"expected a matrix, got {x.dim()}-D")' in lines
    assert "    y = torch.empty_like(x)" in lines
    assert lines[-1] == "    return y"
    assert any("scale[(triton.cdiv(n, 128),)](y, x, a, n, BLOCK_SIZE=128, num_warps=2)" in line for line in lines)
    assert 'raise NotImplementedError(f"not implemented for {x.dtype}")' in found
    assert "is_cuda" not in found


@pytest.mark.parametrize(
    ("cpp", "python"),
    [
        ("add<<<(n + 256 - 1) / 256, 256>>>(y, x, n);", "triton.cdiv(n, 256)"),
        ("add<<<(n - 1) / 256 + 1, 256>>>(y, x, n);", "int((n - 1) / 256) + 1"),
        ("add<<<n / 4, 256>>>(y, x, n);", "n // 4"),
        ("add<<<(int)ceil((float)n / 256), 256>>>(y, x, n);", "math.ceil(n / 256)"),
        ("add<<<std::min((n + 255) / 256, 1024), 256>>>(y, x, n);", "min(triton.cdiv(n, 256), 1024)"),
        ("add<<<m > 1 ? n : 1, 256>>>(y, x, n);", "n if m > 1 else 1"),
        ("add<<<dim3(n, m), 256>>>(y, x, n);", "n, m"),
        ("add<<<1 << 4, 256>>>(y, x, n);", "16"),
    ],
)
def test_grids(cpp: str, python: str):
    grid = python if ", m" in python else f"{python},"
    assert f"add[({grid})](" in body(cpp)


@pytest.mark.parametrize(
    ("cpp", "python"),
    [
        ("add<<<1, 32>>>(y + m, x, n);", "y.view(-1)[m:], x"),
        ("add<<<1, 32>>>(&y[2 * m], x, n);", "y.view(-1)[2 * m :], x"),
        ("cudaMemset(y, 0, n * sizeof(float));", "y.view(-1)[:n].zero_()"),
        ("cudaMemcpy(y, x, sizeof(float) * n * m, cudaMemcpyDeviceToDevice);", "y.view(-1)[: n * m].copy_("),
        ("std::swap(x, y); add<<<1, 32>>>(y, x, n);", "x, y = y, x"),
        ("if (n < 0) throw std::runtime_error(\"negative\");", 'if n < 0:\n    raise RuntimeError("negative")'),
        ("for (int i = 0; i < n; i += 2) add<<<1, 32>>>(y, x, i);", "for i in range(0, n, 2):"),
        ("for (int i = n - 1; i >= 0; --i) add<<<1, 32>>>(y, x, i);", "for i in range(n - 1, -1, -1):"),
        ("for (int s = n; s > 1; s /= 2) add<<<1, 32>>>(y, x, s);", "while s > 1:"),
        ("switch (m) { case 1: add<<<1, 32>>>(y, x, n); break; default: break; }", "if m == 1:"),
    ],
)  # fmt: skip
def test_statements(cpp: str, python: str):
    assert python in body(cpp)


def test_allocations_are_tensors_on_the_device_of_the_others():
    found = body("float* t; cudaMalloc(&t, n * sizeof(float)); add<<<1, 32>>>(t, x, n); cudaFree(t);")
    assert found.split("\n")[0] == "t = torch.empty(n, dtype=torch.float32, device=y.device)"
    assert found.split("\n")[1].startswith("add[(1,)](t, x, n,")


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


def test_a_kernel_in_the_place_of_a_tensor_is_refused_as_such():
    with pytest.raises(Refusal, match="'y' is given a kernel, which is not followed"):
        translated("void* pick(int m) { return (void*)scale<float>; } void f(float* y, int m) { y = (float*)pick(m); }")


def test_a_memory_call_that_another_condition_decides_on_is_refused():
    with pytest.raises(Refusal, match="for its error code"):
        body("float* t; if (m > 1 && cudaMalloc(&t, n * 4) != cudaSuccess) return; add<<<1, 32>>>(y, x, n);")


def test_variables_nobody_reads_are_left_out():
    assert body("int unused = n * 2; cudaStream_t s; cudaEvent_t e; cudaEventCreate(&e);") == "pass"


def test_a_known_condition_leaves_one_branch():
    found = body("if (sizeof(float) == 4) add<<<1, 32>>>(y, x, n); else add<<<2, 32>>>(y, x, n);")
    assert found.startswith("add[(1,)]")


def test_inner_variables_do_not_hide_outer_ones():
    found = body("int k = n; if (m) { int k = m; add<<<1, 32>>>(y, x, k); } add<<<1, 32>>>(y, x, k);")
    assert "(y, x, k_2, " in found
    assert "(y, x, k, " in found


def test_host_functions_that_are_called_come_first():
    found = translated("""
        static int ceil_div(int a, int b) { return (a + b - 1) / b; }
        void g(float* y, const float* x, int n) { add<<<ceil_div(n, 64), 64>>>(y, x, n); }
        void f(float* y, const float* x, int n) { for (int i = 0; i < 3; i++) g(y, x, n); }""")
    assert found.index("def g") < found.index("def f")
    assert "ceil_div" not in found
    assert "add[(triton.cdiv(n, 64),)](y, x, n, BLOCK_SIZE=64, num_warps=1)" in found


def test_a_return_leaves_only_the_lambda_it_stands_in():
    found = body(
        "[&] { switch (m) { case 1: return [&] { add<<<1, 32>>>(y, x, n); }(); } }(); add<<<2, 32>>>(y, x, n);"
    )
    assert "return" not in found
    assert found.index("add[(1,)]") < found.index("add[(2,)]")


def test_a_lambda_that_returns_early_is_refused():
    with pytest.raises(Refusal, match="returns early"):
        body("[&] { if (m) return; add<<<1, 32>>>(y, x, n); }(); add<<<2, 32>>>(y, x, n);")


def test_pointers_are_there_or_not():
    found = body("if (x && !y) add<<<1, 32>>>(y, x, n);")
    assert found.startswith("if x is not None and y is None:")


def test_results_nobody_reads_still_come_about():
    found = translated("""
        int g(float* y, float* x, int n) { add<<<1, 32>>>(y, x, n); return n; }
        void f(float* y, float* x, int n) { int unused = g(y, x, n); }""")
    assert found.endswith("unused = g(y, x, n)")


def test_overloads_are_told_by_what_pointers_point_to():
    found = translated("""
        void g(float* y, int n) { add<<<1, 32>>>(y, y, n); }
        void g(int* y, int n) { add<<<2, 32>>>((float*)y, (float*)y, n); }
        void f(float* y, int n) { g(y, n); }""")
    assert "add[(1,)]" in found
    assert "add[(2,)]" not in found


def test_constants_of_the_device_come_from_the_launcher():
    found = translated("""
        __constant__ float weights[4];
        __global__ void weigh(float* y, int n) { if (threadIdx.x < n) y[threadIdx.x] *= weights[threadIdx.x]; }
        void f(float* y, const float* w) {
          cudaMemcpyToSymbol(weights, w, 4 * sizeof(float));
          weigh<<<1, 32>>>(y, 4);
        }""")
    assert "weights = w.view(-1)[:4].to(y.device)" in found
    assert "weigh[(1,)](y, 4, weights, " in found


CONSTANT = """
__constant__ float alpha = 0.3f;
__global__ void scaled(float* y) {{ y[threadIdx.x] *= {use}; }}
void f(float* y, float a) {{ {before} scaled<<<1, 32>>>(y); }}
"""


def test_a_constant_of_the_device_that_nobody_sets_is_its_number():
    found = translated(CONSTANT.format(use="alpha", before=""))
    assert "scaled[(1,)](y, BLOCK_SIZE" in found


@pytest.mark.parametrize(
    ("use", "before"),
    [("alpha", "cudaMemcpyToSymbol(alpha, &a, sizeof(float));"), ("*&alpha", "")],
)
def test_a_constant_of_the_device_that_may_be_set_stays_in_memory(use, before):
    assert "scaled[(1,)](y, BLOCK_SIZE" not in translated(CONSTANT.format(use=use, before=before))


def test_instances_of_a_template_are_told_by_their_arguments():
    found = translated("""
        template <typename T, int THREADS> void launch(T* y, const T* x, int n) {
          scale<T><<<(n + THREADS - 1) / THREADS, THREADS>>>(y, x, 2.0f, n);
        }
        void f(float* y, const float* x, int n) { launch<float, 64>(y, x, n); launch<float, 128>(y, x, n); }""")
    assert "BLOCK_SIZE=64" in found
    assert "BLOCK_SIZE=128" in found
    assert "launch__2(y, x, n)" in found


@pytest.mark.parametrize(
    ("cpp", "line", "reason"),
    [
        ("goto end;\nend: ;", 11, "goto"),
        ("\nunknown_function(n);", 12, "unknown_function"),
        ("add<<<1, 32>>>(y - 1, x, n);", 11, "forward"),
        ("int& r = n;\nr = 2;", 11, "another name"),
        ("switch (m) { case 1: n = 2; case 2: n = 3; }", 11, "falls through"),
    ],
)
def test_what_has_no_counterpart_is_refused_at_its_line(cpp: str, line: int, reason: str):
    with pytest.raises(Refusal) as refusal:
        body(cpp)
    assert refusal.value.line == line
    assert reason in refusal.value.reason


def test_the_text_is_as_black_writes_it():
    found = translated("""
        std::vector<torch::Tensor> f(torch::Tensor input, torch::Tensor other, int repetitions) {
          auto options = torch::TensorOptions().dtype(torch::kFloat32).device(input.device());
          auto result = torch::zeros({input.size(0), input.size(1), repetitions, other.size(0)}, options);
          TORCH_CHECK(input.size(0) == other.size(0) && input.size(1) == other.size(1), "the sizes of both must agree");
          int threads_of_a_block = std::min<int>(1024, input.size(1));
          cudaMemset(result.data_ptr<float>(), 0, repetitions * sizeof(float));
          cudaMemset(result.data_ptr<float>(), 0, repetitions * other.size(0) * sizeof(float));
          for (int repetition = 0; repetition < repetitions; ++repetition) {
            add<<<dim3(input.size(0), (input.size(1) + 3) / 4), threads_of_a_block>>>(
                result.data_ptr<float>() + repetition * input.size(0), input.data_ptr<float>(), input.size(1));
          }
          return {result, other};
        }""")
    assert black.format_str(found, mode=black.Mode(line_length=100)) == found + "\n"


def test_a_choice_of_options_chooses_what_differs():
    found = translated("""
        torch::Tensor f(torch::Tensor x, bool wide) {
          return torch::empty_like(x, wide ? x.options().dtype(torch::kFloat64) : x.options());
        }""")
    assert "torch.empty_like(x, dtype=torch.float64 if wide else x.dtype, device=x.device)" in found


def test_options_cannot_be_passed():
    with pytest.raises(Refusal, match="no tensor options to pass for 'options'"):
        translated("torch::Tensor f(torch::TensorOptions options) { return torch::zeros({4}, options); }")


@pytest.mark.parametrize(
    ("asked", "number"), [("to<int>", "int"), ("to<float>", "float"), ("toDouble", "float"), ("toBool", "bool")]
)
def test_the_number_that_a_tensor_holds(asked, number):
    found = translated(f"""
        torch::Tensor f(torch::Tensor x) {{
          auto most = x.max().item().{asked}();
          return torch::full({{4}}, most, x.options());
        }}""")
    assert f"{number}(x.max().item())" in found


def test_scratch_for_dynamic_shared_memory_has_the_size_and_the_type_of_the_launch():
    found = translated("""
        template <typename T> __global__ void scatter(T* y, const T* x, const int* to) {
          extern __shared__ char raw[];
          T* s = reinterpret_cast<T*>(raw);
          s[to[threadIdx.x]] = x[threadIdx.x];
          __syncthreads();
          y[threadIdx.x] = s[threadIdx.x];
        }
        void f(float* a, double* b, const float* x, const double* z, const int* to, int n) {
          scatter<float><<<1, 64, n * sizeof(float)>>>(a, x, to);
          scatter<double><<<1, 64, n * sizeof(double)>>>(b, z, to);
        }""")
    found = re.sub(r"\s+", " ", found)
    assert "torch.empty(triton.next_power_of_2((n * 4) // 4), dtype=torch.float32, device=a.device)" in found
    assert "torch.empty(triton.next_power_of_2((n * 8) // 8), dtype=torch.float64, device=b.device)" in found
    assert "scatter__2" not in found


def test_a_launcher_keeps_the_name_that_it_shares_with_its_kernel():
    found = translated(
        """
        __global__ void same(float* y, int n) { if (threadIdx.x < n) y[threadIdx.x] = 0; }
        void same(float* y, int n, int threads) { same<<<1, 64>>>(y, n); }""",
        "same",
    )
    assert found.startswith("def same(y, n, threads):")
    assert "same_kernel[(1,)](y, n, " in found


@pytest.mark.parametrize(
    ("cpp", "blocks"),
    [
        ("dim3 block(n / 4); switch (n) { case 256: add<<<m, block>>>(y, x, n); break; }", ["64"]),
        ("int t = n * 2; if (n == 32 && m > 0) add<<<m, t>>>(y, x, n); else add<<<m, t>>>(y, x, n);", ["64", "t"]),
        ("switch (n) { case 32: case 64: add<<<m, n>>>(y, x, n); break; }", ["n"]),
        ("n = m; int t = n; n = 2 * m; if (n == 32) add<<<m, t>>>(y, x, n);", ["t"]),
        ("if (n == 32) { n = m; add<<<m, n>>>(y, x, n); }", ["n"]),
    ],
)
def test_a_block_is_as_large_as_the_branch_around_its_launch_says(cpp, blocks):
    assert re.findall(r"BLOCK_SIZE=(\w+)", body(cpp)) == blocks


SUMMED = """
float f(const float* x, float* y, int n) {{
  float* h = new float[n];
  cudaMemcpy(h, x, n * sizeof(float), cudaMemcpyDeviceToHost);
  float sum = 0;
  for (int i = 0; i < n; i++) {{
    {body}
  }}
  return sum;
}}
"""


def test_memory_that_a_loop_only_reads_becomes_a_list():
    text = translated(SUMMED.format(body="sum += h[i] * x[i];"))
    assert "h_elements = h.tolist()" in text
    assert "x_elements = x.view(-1)[:n].tolist()" in text
    assert "sum_ += h_elements[i] * x_elements[i]" in text


@pytest.mark.parametrize(
    "body",
    [
        "sum += h[i]; h[n - 1 - i] = sum;",
        "sum += h[i]; add<<<1, 64>>>(y, x, n); cudaMemcpy(h, y, n * sizeof(float), cudaMemcpyDeviceToHost);",
        "sum += h[i + 1];",
    ],
)
def test_memory_that_a_loop_changes_or_reads_elsewhere_stays_as_it_is(body):
    with contextlib.suppress(Refusal):
        assert "tolist" not in translated(SUMMED.format(body=body))


@pytest.mark.parametrize(
    ("loop", "warps"),
    [
        ("for (int j = 0; j < n; j++) y[i] += x[i * n + j];", 8),
        ("for (int j = i; j < n; j += 256) y[j] = x[j];", 2),
        ("float s = 0; for (int j = 0; j < n; j++) s += j; y[i] = s + x[i];", 2),
    ],
)
def test_kernels_whose_threads_wait_for_loads_one_by_one_keep_their_warps(loop, warps):
    found = translated(f"""
        __global__ void k(float* y, const float* x, int n) {{ int i = threadIdx.x; {loop} }}
        void f(float* y, const float* x, int n) {{ k<<<1, 256>>>(y, x, n); }}""")
    assert f"num_warps={warps})" in found


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
    with pytest.raises(Refusal, match="for its error code"):
        translated(f"{ANSWERING}void f(float* y, float* x, int n) {{ {text} }}")


FUNCTORS = """
template <typename T, bool twice> struct Scale {
  int operator()(T* y, const T* x, int n) const { scale<T><<<1, 64>>>(y, x, twice ? 2.f : 1.f, n); return n; }
};
struct State { int m; void operator()(int n) {} };
"""


@pytest.mark.parametrize("made", ["Scale<float, true>()", "Scale<float, true>{}"])
def test_an_object_made_to_be_called_is_a_function(made):
    found = translated(f"{FUNCTORS}void f(float* y, float* x, int n) {{ {made}(y, x, n); }}")
    assert "def Scale(y, x, n):\n    scale[(1,)](y, x, 2.0, n, BLOCK_SIZE=64, num_warps=1)\n    return n" in found
    assert found.endswith("    Scale(y, x, n)")


def test_an_object_with_state_is_refused():
    with pytest.raises(Refusal, match="more than a function"):
        translated(f"{FUNCTORS}void f(int n) {{ State()(n); }}")


def test_a_choice_of_two_launches_is_a_branch():
    found = body("n > 64 ? add<<<2, 64>>>(y, x, n) : scale<float><<<1, 64>>>(y, x, 2.0f, n);")
    assert "if n > 64:\n" in found
    assert "else:\n" in found
    assert found.index("add[(2,)]") < found.index("else:") < found.index("scale[(1,)]")


@pytest.mark.parametrize("value", ["(int)cudaGetLastError()", "cudaGetLastError()"])
def test_an_error_code_that_is_returned_as_a_number_is_that_of_success(value):
    found = translated(f"int f(float* y, const float* x, int n) {{ add<<<1, 64>>>(y, x, n); return {value}; }}")
    assert found.endswith("\n    return 0")


NESTED = """
struct Size { int rows, columns; };
struct Given { float* y; Size size; float by; };
__global__ void grow(Given g) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < g.size.rows * g.size.columns) g.y[i] *= g.by;
}
"""


@pytest.mark.parametrize(
    ("made", "passed"),
    [
        ("Given g{y, {n, m}, 2.0f};", "y, n, m, 2.0"),
        ("Given g = {y, Size{n, m}, 2.0f};", "y, n, m, 2.0"),
        (
            "Given g; g.y = y; g.size.rows = n; g.size.columns = m; g.by = 2.0f;",
            "g_y, g_size_rows, g_size_columns, g_by",
        ),
    ],
)
def test_a_struct_within_a_struct_is_passed_by_its_fields(made, passed):
    found = translated(f"{NESTED} void f(float* y, int n, int m) {{ {made} grow<<<n, 64>>>(g); }}")
    assert f"grow[(n,)]({passed}, BLOCK_SIZE=64" in " ".join(found.split()).replace("( ", "(")


def test_a_static_member_is_that_of_the_specialisation():
    found = translated("""
    template <typename T> struct Traits { static constexpr int items = 16 / sizeof(T); };
    template <> struct Traits<double> { static constexpr int items = 3; };
    template <> struct Traits<int> { static constexpr int items = 5; };
    template <typename T> void g(T* y, const T* x, int n) { scale<T><<<n / Traits<T>::items, 64>>>(y, x, 2.0f, n); }
    void f(float* y, const float* x, double* d, const double* e, int n) { g<float>(y, x, n); g<double>(d, e, n); }
    """)
    assert "scale[(n // 4,)]" in found
    assert "[(n // 3,)]" in found
    assert "n // 5" not in found


def test_a_struct_that_is_handed_to_a_function_of_the_source_is_its_fields():
    found = translated(
        NESTED
        + """
    void g(Given given, int blocks) { grow<<<blocks, 64>>>(given); }
    void f(float* y, int n, int m) { g(Given{y, {n, m}, 2.0f}, n); Given own; own.y = y; own.size = {n, m}; g(own, m); }
    """
    )
    assert "def g(given_y, given_size_rows, given_size_columns, given_by, blocks):" in found
    assert "grow[(blocks,)]( given_y, given_size_rows, given_size_columns, given_by," in " ".join(found.split())
    assert "g(y, n, m, 2.0, n)" in found


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


def test_a_parameter_that_is_moved_forward_and_back_is_moved_once():
    assert "add[(1,)](y, x.view(-1)[n - 1 :], n" in body("add<<<1, 32>>>(y, x + n - 1, n);")
    with pytest.raises(Refusal, match="only be moved forward"):
        body("float* q = x + 4; add<<<1, 32>>>(y, q + n - 1, n);")


@pytest.mark.parametrize("declared", ["auto*", "const auto*", "auto", "float*"])
def test_a_pointer_whose_type_is_deduced_is_that_of_its_value(declared):
    found = translated(f"""
        void f(torch::Tensor y, torch::Tensor x, int n) {{
          {declared} from = x.data_ptr<float>();
          add<<<n, 256>>>(y.data_ptr<float>(), from, n);
        }}""")
    assert "add[(n,)](y, x, n, " in found


IN_STRUCTS = """
struct Extent {{ int rows, cols; }};
struct Given {{ const float* x; float* y; Extent extent; int n; }};
__global__ void given(Given g) {{ g.y[threadIdx.x] = g.x[g.extent.rows] + g.extent.cols + g.n; }}
void f(float* y, const float* x, int n, int m) {{ Given g; g.x = x; g.y = y; g.n = n; {} given<<<1, 64>>>(g); }}
"""


@pytest.mark.parametrize(
    "assigned",
    [
        "g.extent = {n, m};",
        "Extent e = {n, m}; g.extent = e;",
        "g = {x, y, {n, m}, n};",
        "g.extent.rows = n; g.extent.cols = m;",
    ],
)
def test_a_struct_within_a_struct_is_assigned_field_by_field(assigned):
    found = translated(IN_STRUCTS.format(assigned))
    assert re.search(r"g_extent_rows = n\n\s+g_extent_cols = m\n", found)


@pytest.mark.parametrize("assigned", ["g.extent = {n, m}; g.extent = {g.extent.cols, n};", "g.extent = {n};"])
def test_a_struct_that_is_assigned_what_it_holds_or_in_part_is_refused(assigned):
    with pytest.raises(Refusal, match="a struct is assigned"):
        translated(IN_STRUCTS.format(assigned))


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
    with pytest.raises(Refusal, match="does not end with one"):
        translated(BY_DTYPE.format(f"torch::Tensor out; out = {call};"))


CONSTRUCTED = """
template <typename T> struct Scaled {{ T by; int n; {} }};
template <typename T> __global__ void apply(T* y, const T* x, Scaled<T> s) {{ y[threadIdx.x] = x[s.n] * s.by; }}
void f(float* y, const float* x, double a, int n) {{ Scaled<float> s(a, n + 1); apply<float><<<1, 64>>>(y, x, s); }}
"""


@pytest.mark.parametrize(
    "constructor",
    [
        "Scaled(T a, int m) : by(a), n(m) {}",
        "Scaled(T a, int m) { this->by = a; this->n = m; }",
        "Scaled() {} Scaled(T a, int m) : by(a), n(m) {}",
    ],
)
def test_a_struct_is_what_its_constructor_makes_it(constructor):
    assert "apply[(1,)](y, x, a, n + 1, " in translated(CONSTRUCTED.format(constructor))


@pytest.mark.parametrize(
    "constructor",
    [
        "Scaled(T a, int m) : by(a), n(m) { if (m > 3) n = 3; }",
        "Scaled(T a, int m) : by(a) {}",
        "Scaled(T a, int m) : by(a), n(0) { n += m; }",
    ],
)
def test_a_constructor_that_does_more_than_give_its_fields_is_refused(constructor):
    with pytest.raises(Refusal):
        translated(CONSTRUCTED.format(constructor))


def test_a_function_that_another_file_defines_raises_where_it_is_called():
    found = translated("""
        namespace checks { void report(const char* text, int line); }
        void f(float* y, const float* x, int n) {
          if (n < 0) checks::report("n", 3);
          add<<<n, 32>>>(y, x, n);
        }""")
    assert 'def report(*arguments):\n    raise NotImplementedError("checks::report is declared' in found
    assert '    if n < 0:\n        report("n", 3)\n' in found


def test_the_grid_may_come_of_another_file():
    found = translated("""
        dim3 grid_of(size_t n);
        void f(float* y, const float* x, int n) { add<<<grid_of(n), 32>>>(y, x, n); }""")
    assert "extents = grid_of(n)\n    add[(extents[0], extents[1], extents[2])]" in found


def test_a_stream_that_another_file_gives_is_nothing():
    found = translated("""
        cudaStream_t current();
        void f(float* y, const float* x, int n) { add<<<n, 32, 0, current()>>>(y, x, n); }""")
    assert "current" not in found


def test_a_function_that_is_defined_nowhere_and_not_declared_is_refused():
    with pytest.raises(Refusal, match="the function 'grid_of' is not known"):
        translated("void f(float* y, float* x, int n) { add<<<grid_of(n), 32>>>(y, x, n); }")


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


def test_the_components_of_a_vector_are_parameters_of_a_launcher():
    found = translated("""
        void f(float* y, const float* x, const float2& range, int n) { scale<<<n, 32>>>(y, x, range.y - range.x, n); }
        """)
    assert "def f(y, x, range_x, range_y, n):" in found
    assert "scale[(n,)](y, x, range_y - range_x, n," in found


def test_a_struct_has_the_default_of_each_field():
    found = translated("""
        void f(float* y, const float* x, int n, float2 range = make_float2(0.f, 2.f)) {
          scale<<<n, 32>>>(y, x, range.y - range.x, n);
        }""")
    assert "def f(y, x, n, range_x=0.0, range_y=2.0):" in found


def test_a_condition_on_what_is_printed_need_not_be_known():
    found = body('if (Log::level() >= Log::LOUD) { fprintf(Log::file(), "%d", n); } add<<<n, 32>>>(y, x, n);')
    assert found.startswith("add[(n,)](y, x, n,")
    for text in (
        "if (Log::level() >= 3) add<<<n, 32>>>(y, x, n);",
        'if ((m = Log::level()) > 3) printf("%d", m);',
    ):
        with pytest.raises(Refusal, match="the function 'Log::level' is not known"):
            body(text)
