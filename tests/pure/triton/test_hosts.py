"""Host functions before and after: C++ with its kernel, and the launcher in Python."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path
from textwrap import dedent

import black
import pytest

from porter.source.parse import parse
from porter.source_text import Source
from porter_triton.port import port
from porter_triton.refusal import Refusal
from tests.pure.triton.host_sources import KERNEL, body, translated


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


@pytest.mark.parametrize("subject", ["at::CUDA(at::kFloat)", "at::kFloat", "torch::dtype(torch::kFloat)"])
def test_a_dispatch_on_a_type_that_the_source_names_has_that_body_alone(subject):
    found = translated(f"""
        torch::Tensor f(torch::Tensor x) {{
          auto y = torch::empty_like(x);
          int n = x.numel();
          AT_DISPATCH_FLOATING_TYPES({subject}, "scale", ([&] {{
            scale<scalar_t><<<(n + 127) / 128, 128>>>(y.data_ptr<scalar_t>(), x.data_ptr<scalar_t>(), 2.f, n);
          }}));
          return y;
        }}""")
    assert found.count("scale[(") == 1
    assert "float64" not in found
    assert "NotImplementedError" not in found


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


def test_a_kernel_in_the_place_of_a_tensor_is_refused_as_such():
    with pytest.raises(Refusal, match="'y' is given a kernel, which porter does not follow"):
        translated("void* pick(int m) { return (void*)scale<float>; } void f(float* y, int m) { y = (float*)pick(m); }")


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
    text = dedent("""
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
    made = port(parse(Source(Path("op.cu"), KERNEL + text)), ())
    assert not made.findings
    (file,) = made.files
    assert black.format_str(file.text, mode=black.Mode(line_length=100)) == file.text


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
    assert "torch.empty(triton.next_power_of_2(n * 4), dtype=torch.uint8, device=a.device)" in found
    assert "torch.empty(triton.next_power_of_2(n * 8), dtype=torch.uint8, device=b.device)" in found


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


def test_a_copy_to_a_symbol_may_say_where_it_begins():
    text = """
        __constant__ float taps[8];
        __global__ void weigh(float* y, int n) { if (threadIdx.x < n) y[threadIdx.x] *= taps[threadIdx.x % 8]; }
        void f(float* y, const float* w, int n) {{
          cudaMemcpyToSymbol(taps, w, 8 * sizeof(float), {}, cudaMemcpyHostToDevice);
          weigh<<<1, 64>>>(y, n);
        }}"""
    found = translated(text.replace("{}", "0").replace("{{", "{").replace("}}", "}"))
    assert "taps = w.view(-1)[:8].to(y.device)\n    weigh[(1,)](y, n, taps" in found
    with pytest.raises(Refusal, match="only the beginning of 'taps' can be copied to"):
        translated(text.replace("{}", "4").replace("{{", "{").replace("}}", "}"))


def test_memory_is_allocated_for_the_elements_of_an_array():
    found = body("""
        cudaStream_t streams[2];
        float* held[2];
        for (int i = 0; i < 2; ++i) {
          cudaStreamCreateWithPriority(&streams[i], cudaStreamNonBlocking, 0);
          cudaMalloc((void**)&held[i], n * sizeof(float));
          add<<<n, 64, 0, streams[i]>>>(held[i], x, n);
        }
        add<<<n, 64>>>(y, held[1], n);""")
    assert "held = [None] * 2\nfor i in range(2):\n    held[i] = torch.empty(n, " in found
    assert "    add[(n,)](held[i], x, n, BLOCK_SIZE=64" in found
    assert "add[(n,)](y, held[1], n, BLOCK_SIZE=64" in found


def test_several_variables_are_assigned_at_once():
    found = translated("""
        void f(torch::Tensor y, torch::Tensor x) {
          torch::Tensor a, b;
          std::tie(a, b) = at::sort(x);
          add<<<1, 64>>>(y.data_ptr<float>(), a.data_ptr<float>(), 64);
        }""")
    assert "    a, b = torch.sort(x)\n" in found


@pytest.mark.parametrize(("index", "lines"), [("m++", "= n\n    m += 1"), ("++m", "m += 1\n    held[m] = n")])
def test_an_index_moves_on_with_the_assignment(index, lines):
    found = translated(f"""
        void f(float* y, float* x, int n) {{
          int held[3] = {{0, 0, 0}};
          int m = n % 2;
          held[{index}] = n;
          add<<<held[0], m>>>(y, x, n);
        }}""")
    assert lines in found


@pytest.mark.parametrize("check", ["CHECK(n > 3)", "TVM_FFI_ICHECK(n > 3)", "CHECK_GT(n, 3)", "AT_CHECK(n > 3)"])
def test_a_check_says_more_behind_arrows(check):
    found = body(f'{check} << "few: " << n; add<<<1, 64>>>(y, x, n);')
    assert 'if not n > 3:\n    raise RuntimeError(f"few: {n}")' in found


def test_extents_that_are_handed_on_are_numbers():
    found = translated("""
        void launch(dim3 blocks, const dim3& threads, float* y, const float* x, int n) {
          add<<<blocks, threads>>>(y, x, n);
        }
        void f(float* y, const float* x, int n) {
          dim3 block(64), grid((n + block.x - 1) / block.x);
          launch(grid, block, y, x, n);
          launch(n, 32, y, x, n);
        }""")
    assert "    launch(triton.cdiv(n, 64), 1, 1, 64, 1, 1, y, x, n)\n    launch(n, 1, 1, 32, 1, 1, y, x, n)" in found
    assert "def launch(blocks_x, blocks_y, blocks_z, threads_x, threads_y, threads_z, y, x, n):" in found


def test_an_extent_of_a_parameter_may_change_and_be_left_out():
    found = translated("""
        void f(float* y, const float* x, int n, dim3 blocks = dim3(2, 3)) {
          if (n > 9) blocks.y = 1;
          add<<<blocks, 64>>>(y, x, n);
        }""")
    assert "def f(y, x, n, blocks_x=2, blocks_y=3, blocks_z=1):" in found
    assert "blocks_y = 1" in found


def test_memory_of_pytorchs_allocator_is_a_tensor_of_the_device():
    found = translated("""
        at::Tensor f(const at::Tensor x) {
          THCState* state = at::globalContext().lazyInitCUDA();
          int n = x.numel();
          float* held = NULL;
          held = (float*) THCudaMalloc(state, n * sizeof(float));
          add<<<1, 64>>>(held, x.data_ptr<float>(), n);
          std::vector<float> host(n);
          THCudaCheck(cudaMemcpy(&host[0], held, sizeof(float) * n, cudaMemcpyDeviceToHost));
          THCudaFree(state, held);
          return at::empty({n}, x.options());
        }""")
    assert "    held = torch.empty(n, dtype=torch.float32, device=x.device)\n" in found
    assert "host.copy_(held.view(-1)[:n])" in found
    assert "THC" not in found


def test_a_function_that_sets_a_variable_and_gives_a_value_stands_in_place():
    found = translated("""
        bool divided(int n, int& blocks) {
          blocks = (n + 63) / 64;
          if (blocks > 8) blocks = 8;
          return blocks > 1;
        }
        void f(float* y, const float* x, int n) {
          int blocks = 0;
          bool many = divided(n, blocks);
          add<<<blocks, 64>>>(y, x, many ? n : 1);
        }""")
    lines = found[found.index("    blocks = triton") :]
    assert lines.startswith(
        "    blocks = triton.cdiv(n, 64)\n    if blocks > 8:\n        blocks = 8\n"
        "    given = blocks > 1\n    many = given"
    )


def test_grids_of_pytorch_are_as_its_header_makes_them():
    found = translated("""
        at::Tensor f(const at::Tensor x) {
          auto y = at::empty_like(x);
          dim3 grid;
          const int block = at::cuda::getApplyBlockSize();
          TORCH_CHECK(at::cuda::getApplyGrid(x.numel(), grid, x.get_device(), block), "no grid");
          add<<<grid, block>>>(y.data_ptr<float>(), x.data_ptr<float>(), x.numel());
          return y;
        }""")
    assert "    elements = x.numel()\n    grid_x = triton.cdiv(elements, block)\n    grid_y = 1\n" in found
    assert "no grid" not in found


@pytest.mark.parametrize(
    ("statement", "line"),
    [
        ("n = std::clamp(n, 1, 64);", "n = max(1, min(n, 64))"),
        ("n = std::accumulate(x.sizes().begin(), x.sizes().end(), 1, std::multiplies<int64_t>());",
         "n = math.prod(x.shape, start=1)"),
        ("n = std::accumulate(x.sizes().cbegin(), x.sizes().cend(), n);", "n = sum(x.shape, n)"),
        ("if (!x.is_contiguous(at::MemoryFormat::ChannelsLast)) n = 1;",
         "if not x.is_contiguous(memory_format=torch.channels_last):"),
        ("auto z = x.contiguous(at::MemoryFormat::ChannelsLast); n = z.numel();",
         "z = x.contiguous(memory_format=torch.channels_last)"),
    ],
)  # fmt: skip
def test_what_hosts_call_of_the_standard_library_and_of_layouts_is_pythons(statement, line):
    found = translated(f"""
        at::Tensor f(const at::Tensor x) {{
          auto y = at::empty_like(x);
          int n = x.numel();
          {statement}
          add<<<n, 64>>>(y.data_ptr<float>(), x.data_ptr<float>(), n);
          return y;
        }}""")
    assert f"    {line}\n" in found
