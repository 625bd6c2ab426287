"""Host functions that set variables of their caller or give extents, kernels in variables, what a device is asked."""

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from porter.source.parse import parse
from porter.source_text import Source
from porter_triton.port import port
from porter_triton.refusal import Refusal
from tests.pure.triton.host_sources import translated

KERNEL = """
template <bool twice> __global__ void scale(float* y, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = twice ? 2.0f * x[i] : x[i];
}
"""


def launcher(text, name="f"):
    """The lines of the launcher `name` without head and comment."""
    made = port(parse(Source(Path("op.cu"), KERNEL + dedent(text))), ())
    assert not made.findings, made.findings
    function = made.files[0].text.split(f"def {name}(")[1].split("\n\n\ndef ")[0]
    lines = function.split("\n")[2:]
    return dedent("\n".join(lines))


def test_a_function_that_sets_its_callers_extents_stands_in_place():
    found = launcher("""
        void extents(int n, dim3& block, dim3& grid, bool wide = false) {
          int x = wide ? 256 : 128;
          block.x = x;
          grid.x = (n + x - 1) / x;
        }
        void f(float* y, const float* x, int n) {
          dim3 block, grid;
          extents(n, block, grid);
          scale<true><<<grid, block>>>(y, x, n);
        }""")
    assert "x_2 = 128\n" in found  # the caller has an x
    assert "block_x = x_2\n" in found
    assert "scale[(grid_x,)](" in found
    assert "BLOCK_SIZE=block_x" in found


def test_a_function_that_gives_extents_is_asked_once():
    found = launcher("""
        dim3 threads_for(int n) {
          int threads = 32;
          while (threads < n && threads < 1024) threads *= 2;
          return dim3(threads);
        }
        void f(float* y, const float* x, int n) {
          dim3 block = threads_for(n);
          scale<true><<<(n + block.x - 1) / block.x, block>>>(y, x, n);
        }""")
    assert found.count("threads_for(n)") == 1
    assert "BLOCK_SIZE=extents[0]" in found


def test_a_kernel_held_by_a_variable_is_launched():
    found = launcher("""
        void f(float* y, const float* x, int n) {
          auto kernel = &scale<false>;
          kernel<<<(n + 255) / 256, 256>>>(y, x, n);
        }""")
    assert found.startswith("scale[(triton.cdiv(n, 256),)](y, x, n,")


def test_a_variable_that_holds_a_property_of_the_device_is_that():
    found = launcher("""
        int threads_per_sm = 0;
        void setup() {
          cudaDeviceProp properties;
          cudaGetDeviceProperties(&properties, 0);
          threads_per_sm = properties.maxThreadsPerMultiProcessor;
        }
        void f(float* y, const float* x, int n) {
          scale<true><<<threads_per_sm / 256, 256>>>(y, x, n);
        }""")
    assert found.startswith("scale[(8,)](y, x, n,")


def test_a_variable_with_another_value_anywhere_is_what_was_left_in_it():
    text = """
        int blocks = 0;
        void setup() {
          cudaDeviceProp properties;
          cudaGetDeviceProperties(&properties, 0);
          blocks = properties.multiProcessorCount;
        }
        void reset() { blocks = 3; }
        void f(float* y, const float* x, int n) { scale<true><<<blocks, 256>>>(y, x, n); }"""
    assert launcher(text).startswith("scale[(blocks,)](y, x, n,")


def test_the_largest_grid_is_a_row_of_numbers():
    found = launcher("""
        void f(float* y, const float* x, int n) {
          unsigned most = at::cuda::getCurrentDeviceProperties()->maxGridSize[1];
          scale<true><<<std::min((unsigned)n, most), 256>>>(y, x, n);
        }""")
    assert "min(n, 65535)" in found or "most = 65535" in found


def test_a_kernel_without_a_launcher_gets_the_constants_it_is_declared_with():
    made = port(parse(Source(Path("op.cu"), dedent("""
        __constant__ float three[1] = {3.0f};
        __global__ void k(float* y) { y[threadIdx.x] += three[0]; }
    """))), ())  # fmt: skip
    assert "torch.tensor([3.0], dtype=torch.float32, device=y.device)" in made.files[0].text


def test_the_bytes_of_8_bit_floats_are_a_view_of_their_tensor():
    found = launcher("""
        __global__ void first(const __nv_fp8_storage_t* x, float* y) {
          y[threadIdx.x] = __half2float(__half(__nv_cvt_fp8_to_halfraw(x[threadIdx.x], __NV_E5M2)));
        }
        void f(torch::Tensor x, torch::Tensor y) {
          first<<<1, 32>>>(reinterpret_cast<__nv_fp8_storage_t*>(x.data_ptr()), (float*)y.data_ptr());
        }""")
    assert found.startswith("first[(1,)](x.view(torch.uint8), y, ")


def test_the_type_that_sums_are_kept_in_is_known_without_its_namespace():
    found = launcher("""
        using namespace at;
        void f(float* y, const float* x, int n) {
          using sum_t = acc_type<__half, true>;
          scale<true><<<n / sizeof(sum_t), 256>>>(y, x, n);
        }""")
    assert found.startswith("scale[(n // 4,)](y, x, n,")


def test_one_assignment_after_the_other_where_one_is_the_value_of_the_other():
    found = launcher("""
        void f(float* y, const float* x, int n) {
          int blocks, programs;
          if (n > 256) blocks = programs = n / 256; else programs = blocks = 1;
          scale<true><<<blocks, 256>>>(y, x, programs * 256);
        }""")
    lines = [line.strip() for line in found.splitlines()]
    assert lines.index("blocks = programs") == lines.index("programs = n // 256") + 1
    assert lines.index("programs = blocks") == lines.index("blocks = 1") + 1


def test_choosing_a_device_and_timing_it_vanish():
    found = launcher("""
        struct StopWatchInterface;
        int findCudaDevice(int argc, const char** argv);
        bool sdkCreateTimer(StopWatchInterface** timer);
        bool sdkStartTimer(StopWatchInterface** timer);
        void f(float* y, const float* x, int n) {
          int device = findCudaDevice(0, nullptr);
          StopWatchInterface* timer = 0;
          sdkCreateTimer(&timer);
          sdkStartTimer(&timer);
          scale<true><<<(n + 255) / 256, 256>>>(y, x, n);
        }""")
    assert found.startswith("scale[(triton.cdiv(n, 256),)](")


def test_a_launch_leaves_the_rest_of_the_arguments_to_the_kernels_defaults():
    found = launcher("""
        constexpr bool WIDE = true;
        __global__ void shift(float* y, int n, float by = 2.0f, bool twice = WIDE) {
          int i = blockIdx.x * blockDim.x + threadIdx.x;
          if (i < n) y[i] += twice ? by + by : by;
        }
        void f(float* y, int n) {
          float by = 3.0f;
          bool twice = false;
          shift<<<n, 64>>>(y, n);
        }""")
    assert found.strip() == "shift[(n,)](y, n, 2.0, True, BLOCK_SIZE=64, num_warps=1)"


@pytest.mark.parametrize(
    ("declared", "made"),
    [
        ("std::vector<int64_t> shape{n, 4};", "[n, 4]"),
        ("std::vector<int64_t> shape = {n, 4};", "[n, 4]"),
        ("auto shape = std::vector<int64_t>{n, 4};", "[n, 4]"),
        ("using std::vector; vector<int64_t> shape{n, 4};", "[n, 4]"),
        ("std::vector<int64_t> shape{n};", "[n]"),
        ("std::vector<int64_t> shape(n, 4);", "torch.full((n,), 4, dtype=torch.int64)"),
        ("std::vector<int64_t> shape(n);", "torch.zeros(n, dtype=torch.int64)"),
    ],
)
def test_a_vector_in_braces_holds_what_stands_there(declared, made):
    launch = "scale<true><<<n, 64>>>(y.data_ptr<float>(), x.data_ptr<float>(), n);"
    allocate = "auto y = torch::empty(shape, x.options());"
    found = launcher(f"torch::Tensor f(torch::Tensor x, int n) {{ {declared} {allocate} {launch} return y; }}")
    assert f"shape = {made}\n" in found


def test_a_vector_of_the_sources_own_is_none_of_the_standard_library():
    found = launcher("""
        template <typename T> struct vector { int threads; T more; };
        void f(float* y, const float* x, int n) {
          vector<int> wide{128, 4};
          scale<true><<<n, wide.threads>>>(y, x, n);
        }""")
    assert found.strip() == "scale[(n,)](y, x, n, BLOCK_SIZE=128, num_warps=1)"


def test_a_number_of_16_bits_is_rounded_as_one():
    found = launcher("""
        void f(float* y, const float* x, half* last, float a, int n) {
          scale<true><<<n, 64>>>(y, x, n);
          half rounded = __float2half(a);
          cudaMemcpy(last, &rounded, sizeof(half), cudaMemcpyHostToDevice);
        }""")
    assert "rounded = torch.tensor(a, dtype=torch.float16).item()\n" in found
    assert "last.view(-1)[:1].fill_(rounded)" in found


def test_a_constant_array_of_the_file_is_a_row_of_numbers():
    found = launcher("""
        constexpr int THREADS[] = {64, 2 * 64};
        static const int BLOCKS[2] = {1, 3};
        void f(float* y, const float* x, int n, int mode) {
          if (n > 64) scale<true><<<BLOCKS[1], THREADS[1]>>>(y, x, n);
          else scale<true><<<BLOCKS[mode], THREADS[0]>>>(y, x, n);
        }""")
    assert "scale[(3,)](y, x, n, BLOCK_SIZE=128, num_warps=1)" in found
    assert "scale[((1, 3)[mode],)](y, x, n, BLOCK_SIZE=64, num_warps=1)" in found


def test_a_launcher_knows_the_limits_that_headers_define():
    text = """
    __global__ void k(float* y, float low, float high, int bits) { y[threadIdx.x] = fmaxf(low, high) + bits; }
    void f(float* y) { k<<<1, 64>>>(y, -FLT_MAX, INFINITY, sizeof(float) * CHAR_BIT); }
    """
    made = port(parse(Source(Path("op.cu"), text)), ())
    assert not made.findings
    assert "k[(1,)](y, -3.4028234663852886e38, math.inf, 4 * 8, " in made.files[0].text


VECTORS = """
__global__ void k(float* y, long4 size, int2 step) { y[threadIdx.x] += size.x * step.y + size.w; }
"""


@pytest.mark.parametrize("made", ["make_long4(n, 1, 7, n / 2)", "long4{n, 1, 7, n / 2}"])
def test_a_vector_made_for_a_kernel_is_handed_over_by_its_components(made):
    text = f"{VECTORS} void f(float* y, int n) {{ const long4 size = {made}; k<<<1, 64>>>(y, size, make_int2(3, n)); }}"
    found = port(parse(Source(Path("op.cu"), text)), ())
    assert not found.findings, found.findings
    assert "k[(1,)](y, n, n // 2, n, " in found.files[0].text.split("def f(")[1]


def test_a_function_of_the_source_with_such_a_name_is_called():
    text = f"""{VECTORS}
    long4 make_long4(long a, long b, long c, long d) {{ return long4{{d, c, b, a}}; }}
    void f(float* y, int n) {{ k<<<1, 64>>>(y, make_long4(n, 1, 7, n + 2), make_int2(3, n)); }}"""
    found = port(parse(Source(Path("op.cu"), text)), ())
    assert not found.findings, found.findings
    assert "k[(1,)](y, n + 2, n, n, " in found.files[0].text.split("def f(")[1]


SCALED = "void f(float* y, const float* x, int n) { scale<true><<<blocks, 256>>>(y, x, n); }"


@pytest.mark.parametrize("around", ["static int blocks = 3;", "int blocks = 3; int main() { return blocks; }"])
def test_a_variable_of_the_file_that_nobody_changes_is_its_value(around):
    assert launcher(f"{around} {SCALED}").startswith("scale[(3,)](y, x, n,")


@pytest.mark.parametrize(
    "around",
    [
        "int blocks = 3;",
        "static int blocks = 3; void more() { blocks++; }",
        "static int blocks = 3; void more() { int& other = blocks; other = 4; }",
        "static int blocks = 3; void set(int& value) { value = 4; } void more() { set(blocks); }",
        "static int blocks = 3; void more() { read_option(blocks); }",
        "static int blocks = 3; void more() { std::cin >> blocks; }",
        'static int blocks = 3; void more(char* word) { sscanf(word, "%d", &blocks); }',
        "static int blocks;",
    ],
)
def test_a_variable_that_another_file_or_function_may_change_is_no_constant(around):
    assert launcher(f"{around} {SCALED}").startswith("scale[(blocks,)](y, x, n,")


@pytest.mark.parametrize(
    ("check", "condition"),
    [("CHECK_EQ(n, 4)", "n != 4"), ("TORCH_CHECK_GE(n, 4)", "not n >= 4"), ("CHECK_LT(n, 4)", "not n < 4")],
)
def test_a_check_that_compares_raises_where_it_does_not_hold(check, condition):
    found = launcher(f"void f(float* y, const float* x, int n) {{ {check}; scale<true><<<n, 256>>>(y, x, n); }}")
    assert found.startswith(f"if {condition}:\n    raise RuntimeError(")


def test_what_stands_before_a_comma_and_does_nothing_goes():
    body = 'assert(((void)"too few", n > 3)); scale<true><<<n, 256>>>(y, x, n);'
    found = launcher(f"void f(float* y, const float* x, int n) {{ {body} }}")
    assert found.startswith("assert n > 3\n")
    with pytest.raises(AssertionError, match="comma"):
        launcher("void f(float* y, const float* x, int n) { assert((n++, n > 3)); scale<true><<<n, 256>>>(y, x, n); }")


STEPS = """
struct Steps { int by[2]; float scale[1][2]; };
__global__ void moved(float* y, const float* x, Steps s, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * s.scale[0][1] + s.by[1];
}
"""


def test_an_array_of_a_struct_is_handed_over_by_its_elements():
    found = launcher(f"{STEPS} void f(float* y, const float* x, Steps s, int n) {{ moved<<<n, 32>>>(y, x, s, n); }}")
    assert "(y, x, s_by_1, s_scale_0_1, n," in found


def test_an_array_that_a_loop_fills_is_a_list():
    text = """
        struct Ends { int by[2]; };
        __global__ void ends(float* y, Ends e) { y[e.by[0]] = e.by[1]; }
        void f(float* y, Ends given, int first) {
          Ends e;
          for (int i = 0; i < 2; ++i) e.by[i] = given.by[i] + first;
          ends<<<1, 1>>>(y, e);
        }"""
    filled, launch = launcher(text).split("ends[")
    assert filled == "e_by = [None] * 2\nfor i in range(2):\n    e_by[i] = (given_by_0, given_by_1)[i] + first\n"
    assert launch.startswith("(1,)](y, e_by[0], e_by[1],")


def test_an_array_of_a_struct_that_threads_index_is_handed_over_by_its_elements():
    text = STEPS.replace("s.by[1]", "s.by[threadIdx.x % 2]")
    found = launcher(f"{text} void f(float* y, const float* x, Steps s, int n) {{ moved<<<n, 32>>>(y, x, s, n); }}")
    assert "y, x, s_by_0, s_by_1, s_scale_0_1, n," in " ".join(found.split())


def test_a_macro_may_make_the_name_of_the_file_wide():
    text = """
        #define WIDE_(x) L##x
        #define WIDE(x) WIDE_(x)
        inline void report(const wchar_t* file, int line) { throw std::runtime_error("failed"); }
        #define DEMAND(c) if (!(c)) report(WIDE(__FILE__), __LINE__)
        void f(float* y, const float* x, int n) { DEMAND(n > 0); scale<true><<<n, 256>>>(y, x, n); }"""
    assert launcher(text).startswith('if not n > 0:\n    report("op.cu", ')


def test_a_struct_that_holds_one_of_its_own_name_is_no_endless_row_of_fields():
    text = """
        namespace detail { struct Size { int rows; }; }
        struct Size { detail::Size inner; int columns; };
        void f(float* y, const float* x, Size size, int n) { scale<true><<<size.columns, 256>>>(y, x, n); }"""
    assert launcher(text).startswith("scale[(size_columns,)](y, x, n,")


def test_an_object_that_a_field_refers_to_is_not_taken_apart():
    text = """
        struct Map { int rows; struct Memory { Map& owner; int size; } memory; };
        struct Memory { Map& owner; int size; };
        void f(float* y, const float* x, Map map, Memory memory, int n) {
          scale<true><<<map.rows + memory.size, 256>>>(y, x, n);
        }"""
    assert launcher(text).startswith("scale[(map_rows + memory_size,)](y, x, n,")


def test_numbers_are_no_vectors_to_the_functions_of_a_source():
    found = launcher("""
        int3 min(int3 a, int3 b) { return make_int3(a.x, b.y, a.z); }
        void f(float* y, const float* x, int n) { scale<true><<<min(n, 64), 64>>>(y, x, n); }
    """)
    assert found.startswith("scale[(min(n, 64),)]")


def test_memory_of_the_host_is_made_filled_and_copied():
    found = launcher("""
        void f(float* y, const float* x, int n) {
          float* held = (float*)calloc(n, sizeof(float));
          memset(held + 1, 0, 2 * sizeof(float));
          memcpy(held, held + 3, sizeof(float));
          cudaMemcpy(y, held, n * sizeof(float), cudaMemcpyHostToDevice);
          scale<true><<<1, 64>>>(y, x, n);
          free(held);
        }
    """)
    assert "held = torch.zeros(n, dtype=torch.float32)" in found
    assert "zero_()" in found
    assert found.count(".copy_(") == 2


def test_a_loop_that_continues_steps_first():
    found = launcher("""
        void f(float* y, const float* x, int n) {
          for (int at = 1, left = n; left > 0; at *= 2, left -= at) {
            if (at == 4) continue;
            scale<true><<<at, 128>>>(y, x, n);
          }
        }""")
    assert found == dedent("""\
        at = 1
        left = n
        while left > 0:
            if at == 4:
                at *= 2
                left -= at
                continue
            scale[(at,)](y, x, n, BLOCK_SIZE=128, num_warps=1)
            at *= 2
            left -= at
        """)


def test_a_loop_that_asks_at_its_end():
    found = launcher("""
        void f(float* y, const float* x, int n) {
          int left = n;
          do {
            scale<true><<<left, 128>>>(y, x, n);
            left /= 2;
          } while (left > 0 && left != 3);
        }""")
    assert found == dedent("""\
        left = n
        while True:
            scale[(left,)](y, x, n, BLOCK_SIZE=128, num_warps=1)
            left //= 2
            if not (left > 0 and left != 3):
                break
        """)


@pytest.mark.parametrize(
    "loop",
    [
        "for (int at = n; at > 0 && at != 7; at -= 2) { if (at == 4) { int at = 3; continue; } }",
        "int at = n; do { if (at == 4) continue; at -= 1; } while (at > 0);",
    ],
)
def test_a_loop_that_python_would_end_elsewhere_is_refused(loop):
    text = f"void f(float* y, const float* x, int n) {{ {loop} scale<true><<<n, 128>>>(y, x, n); }}"
    made = port(parse(Source(Path("op.cu"), KERNEL + text)), ())
    assert [finding.code for finding in made.findings] == ["PORT1801"]


@pytest.mark.parametrize("made", ["std::vector<float> v(n);", "auto v = new float[n];"])
def test_memory_that_is_made_here_is_a_row_of_elements(made):
    assert "return v[0].item()" in translated(f"float f(int n) {{ {made} return v[0]; }}")


def test_a_string_says_what_it_holds_in_a_message():
    found = translated('void f(int n) { TORCH_CHECK(n > 1, "n is \\"{}\\"\\n", "and ", n); }')
    assert 'raise RuntimeError(f"n is \\"{{}}\\"\\nand {n}")' in found


def test_a_function_that_sets_what_pointers_lead_to_stands_in_place():
    found = launcher("""
        static void extents(int n, dim3* grid, int* threads) {
          *threads = n < 256 ? 32 : 128;
          grid->x = n / *threads + 1;
        }
        static cudaError_t room(float** memory, int n) {
          cudaError_t error = cudaMalloc((void**)memory, n * sizeof(float));
          if (error != cudaSuccess) return error;
          return cudaSuccess;
        }
        void f(float* y, const float* x, int n) {
          dim3 grid; int threads; float* t;
          extents(n, &grid, &threads);
          room(&t, n);
          scale<true><<<grid, threads>>>(t, x, n);
          scale<false><<<grid, threads>>>(y, t, n);
          cudaFree(t);
        }""")
    assert "threads = 32 if n < 256 else 128\ngrid_x = n // threads + 1\nt = torch.empty(n, " in found
    assert "scale[(grid_x,)](" in found


def test_an_address_that_main_alone_gives_is_memory_of_the_caller():
    found = translated("""
        void f(float* y, const float* x, float* first, int n) {
          add<<<1, 64>>>(y, x, n);
          cudaMemcpy(first, y, sizeof(float), cudaMemcpyDeviceToHost);
        }
        int main() { float first; f(nullptr, nullptr, &first, 0); }""")
    assert "def f(y, x, first, n):" in found
    assert "first" in found.split("def f(")[1].split("add[")[1]


def test_an_array_that_a_function_is_given_stays_one():
    with pytest.raises(Refusal, match="'&' has no counterpart"):
        translated("""
            static void fill(int* sizes, int n) { sizes[0] = n; sizes[1] = 2 * n; }
            void f(float* y, const float* x, int n) { int a; fill(&a, n); add<<<a, 64>>>(y, x, n); }""")


def test_a_failure_that_is_no_call_of_cudas_ends_no_function_in_place():
    with pytest.raises(Refusal, match="returns early"):
        translated("""
            static void halves(int* n, int m) { if (m > 7) return; *n = m / 2; }
            void f(float* y, const float* x, int n) { int a = 1; halves(&a, n); add<<<a, 64>>>(y, x, n); }""")


def test_messages_are_put_together_of_strings():
    found = translated("""
        void fail(const char* op, const std::string& reason) {
          throw std::runtime_error(std::string("it's ") + op + ":\\n" + reason);
        }
        void f(float* y, const float* x, int n, const char* name) {
          if (n < 0) fail("f", std::string(name) + " is less than 0: " + std::to_string(n));
          add<<<1, 64>>>(y, x, n);
          cudaError_t error = cudaGetLastError();
          if (error != cudaSuccess) throw std::runtime_error(std::string("f: ") + cudaGetErrorString(error)); }""")
    assert 'fail("f", name + " is less than 0: " + str(n))' in found
    fail = found[found.index("def fail") : found.index("def f(")]
    names: dict[str, Any] = {}
    exec(compile(fail, "fail", "exec"), names)
    with pytest.raises(RuntimeError, match=r"it's f:\nnegative"):
        names["fail"]("f", "negative")


def test_a_string_of_what_may_be_none_is_refused():
    with pytest.raises(Refusal, match="'std::string' is not known"):
        translated("""
            void f(float* y, const float* x, int n) {
              const std::string mode = std::string(std::getenv("MODE"));
              if (mode == "on") add<<<1, 64>>>(y, x, n); }""")


def test_what_an_optional_is_without_a_value():
    found = launcher("""
        torch::Tensor f(torch::Tensor x, std::optional<torch::Tensor> o, std::optional<int64_t> n,
                        std::vector<int64_t> s) {
          auto y = o.value_or(torch::empty_like(x));
          auto z = o.value_or(at::Tensor());
          TORCH_CHECK(!z.defined() || s.at(1) == 2);
          scale<true><<<1, 256>>>(y.data_ptr<float>(), x.data_ptr<float>(), n.value_or(7));
          return y;
        }""")
    assert "y = o if o is not None else torch.empty_like(x)" in found
    assert "z = o\n" in found
    assert "s[1]" in found
    assert "n if n is not None else 7" in found
