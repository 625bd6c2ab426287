"""Objects, arrays and addresses of host code: methods, pointers to structs, launches by a function, lists in copies."""

import pytest

from porter_triton.refusal import Refusal
from tests.pure.triton.host_sources import body, translated

OBJECTS = """
struct Params { int n; float a; };
class Grid {
 public:
  Grid(int n, int threads) : n_(n), threads_(threads) {}
  int blocks() const { return (n_ + threads_ - 1) / threads_; }
  int scaled(int by) const { return this->n_ * by; }
  void run(float* y, const float* x) const { add<<<blocks_of(), 64>>>(y, x, n_); }
  void grow() { n_ *= 2; }
  int several(int m) const { int k = m; k += n_; return k; }
  int n_, threads_;
};
__global__ void all(Params p, float* y) { if (threadIdx.x < p.n) y[threadIdx.x] *= p.a; }
"""


def test_methods_of_a_struct_are_what_they_say_of_its_fields():
    found = translated(f"""{OBJECTS} void f(float* y, const float* x, int n) {{
        Grid g(n, 64);
        add<<<g.blocks(), g.scaled(3)>>>(y, x, n); }}""")
    assert "add[(triton.cdiv(n, 64),)](" in found
    assert "BLOCK_SIZE=n * 3" in found


def test_a_method_of_several_statements_is_a_function_of_the_fields():
    found = translated(
        f"{OBJECTS} void f(float* y, float* x, int n) {{ Grid g(n, 64); add<<<1, 64>>>(y, x, g.several(3)); }}"
    )
    assert "def Grid_several(this_n_, this_threads_, m):\n    k = m\n    k += this_n_\n    return k" in found
    assert "(y, x, Grid_several(n, 64, 3), BLOCK_SIZE=64" in found


def test_a_method_that_sets_a_field_is_refused():
    with pytest.raises(Refusal, match="'grow' changes its object"):
        translated(
            f"{OBJECTS} void f(float* y, float* x, int n) {{ Grid g(n, 64); g.grow(); add<<<1, 64>>>(y, x, n); }}"
        )


def test_a_method_without_a_value_stands_in_place():
    text = OBJECTS.replace("blocks_of()", "n_ / threads_")
    found = translated(f"{text} void f(float* y, float* x, int n) {{ Grid g(n, 64); g.run(y, x); }}")
    assert "add[(n // 64,)](y, x, n, BLOCK_SIZE=64" in found


@pytest.mark.parametrize("launch", ["all<<<q->n, 64>>>(*q, y)", "all<<<(*q).n, 64>>>(p, y)"])
def test_a_pointer_to_a_struct_is_another_name_of_it(launch):
    found = translated(f"{OBJECTS} void f(float* y, int n) {{ Params p{{n, 2.f}}; Params* q = &p; {launch}; }}")
    assert "p_n = n\n    p_a = 2.0\n    all[(p_n,)](p_n, p_a, y, BLOCK_SIZE=64" in found


@pytest.mark.parametrize("function", ["cudaLaunchKernel", "cudaLaunchCooperativeKernel"])
def test_a_launch_by_a_function_is_one(function):
    found = body(f"""void* given[] = {{&y, (void*)&x, &n}};
        {function}((const void*)add, dim3((n + 63) / 64), dim3(64), given, 0, 0);""")
    assert found == "add[(triton.cdiv(n, 64),)](y, x, n, BLOCK_SIZE=64, num_warps=1)"


def test_a_launch_whose_arguments_are_elsewhere_is_refused():
    with pytest.raises(Refusal, match="not given beside it"):
        translated("void f(void** given, int n) { cudaLaunchKernel((void*)add, dim3(n), dim3(64), given, 0, 0); }")


def test_arrays_of_a_launcher_are_lists_in_copies():
    found = body("""
        int h[4] = {1, 2};
        int g[3];
        cudaMemcpy(g, x, sizeof(g), cudaMemcpyDeviceToHost);
        memcpy(h, g, 2 * sizeof(int));
        cudaMemcpy(y, h, sizeof(h), cudaMemcpyHostToDevice);
        add<<<h[3] + g[2], 64>>>(y, x, n);""")
    assert found.split("\n")[:5] == [
        "h = [1, 2, 0, 0]",
        "g = [None] * 3",
        "g[:3] = x.view(-1)[:3].tolist()",
        "h[:2] = g[:2]",
        "y.view(-1)[:4].copy_(torch.tensor(h[:4], dtype=torch.int32))",
    ]


def test_a_constant_array_is_filled_from_an_array_of_the_launcher():
    found = translated("""
        __constant__ float taps[4];
        __global__ void weigh(float* y, int n) { if (threadIdx.x < n) y[threadIdx.x] *= taps[threadIdx.x % 4]; }
        void f(float* y, int n) {
          float h[4] = {1.f, 2.f, 3.f, 4.f};
          h[2] = n;
          cudaMemcpyToSymbol(taps, h, sizeof(h));
          weigh<<<1, 64>>>(y, n);
        }""")
    assert "taps = torch.tensor(h[:4], dtype=torch.float32, device=y.device)" in found


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("int b = 3; while (b-- > 0) add<<<b, 64>>>(y, x, n);", "while (b := b - 1) + 1 > 0:\n    add[(b,)]("),
        ("int b = 3; int c = ++b * 2; add<<<c, b>>>(y, x, n);", "b = 3\nc = (b := b + 1) * 2\n"),
        ("float* h = (float*)malloc(4); *h = 2.f; scale<<<1, 64>>>(y, x, *h, n);", "[0] = 2.0\nscale[(1,)]("),
        ('const char* e = std::getenv("B"); int b = e ? atoi(e) : 64; add<<<b, 64>>>(y, x, n);',
         'e = os.environ.get("B")\nb = int(e) if e is not None else 64\n'),
    ],
)  # fmt: skip
def test_values_that_change_or_come_from_outside(text, line):
    assert line in body(text)


@pytest.mark.parametrize("launch", ["add<<<b++, 64>>>(y, x, n)", "add<<<1, b = 64>>>(y, x, n)"])
def test_a_launch_changes_no_variable(launch):
    with pytest.raises(Refusal, match="extents of a launch that change a variable"):
        body(f"int b = 1; {launch}; add<<<b, 64>>>(y, x, n);")


COUNTED = """
__device__ int counter;
__device__ float table[4];
__constant__ int limit;
__global__ void count(float* y, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > 0.0f) { atomicAdd(&counter, 1); y[i] = table[i % 4] + limit; }
}
"""


def test_variables_of_the_device_are_copied_to_and_from():
    found = translated(f"""{COUNTED} int f(float* y, const float* x, const float* t, int n) {{
        int total = 0, most = 7;
        float back[4];
        cudaMemcpyToSymbol(counter, &total, sizeof(int));
        cudaMemcpyToSymbol(table, t, 4 * sizeof(float));
        cudaMemcpyToSymbol(limit, &most, sizeof(int));
        count<<<n, 64>>>(y, x, n);
        cudaMemcpyFromSymbol(&total, counter, sizeof(int), 0, cudaMemcpyDeviceToHost);
        cudaMemcpyFromSymbol(back, table, sizeof(back));
        cudaMemcpyFromSymbol(y, table, sizeof(back));
        return total + (int)back[1]; }}""")
    assert "counter = torch.full((1,), total, " in found  # what the launches of this call are given
    assert "limit = torch.full((1,), most, " in found
    assert (
        "    total = counter[0].item()\n    back[:4] = table[:4].tolist()\n    y.view(-1)[:4].copy_(table[:4])\n"
        in found
    )


def test_what_kernels_alone_leave_is_copied_from():
    found = translated(f"""{COUNTED} int f(float* y, const float* x, int n) {{
        int total, most = 7;
        cudaMemcpyToSymbol(limit, &most, sizeof(int));
        count<<<n, 64>>>(y, x, n);
        cudaMemcpyFromSymbol(&total, counter, sizeof(int));
        return total; }}""")
    assert "    total = counter_on(y.device)[0].item()\n" in found


def test_what_another_function_copied_is_not_known():
    with pytest.raises(Refusal, match="nothing is known of what 'table' holds"):
        translated(f"""{COUNTED} void g(const float* t) {{ cudaMemcpyToSymbol(table, t, 16); }}
        void f(float* y, const float* x, int n) {{ int most = 7; cudaMemcpyToSymbol(limit, &most, sizeof(int));
          count<<<n, 64>>>(y, x, n); }}""")


FILLED = f"""{COUNTED}
void fill(const float* t) {{ cudaMemcpyToSymbol(table, t, 16); }}
void prepare(const float* t, int most) {{
  const int limited = most * 2;
  fill(t);
  cudaMemcpyToSymbol(limit, &limited, sizeof(int)); }}
"""


def test_launches_are_given_what_functions_of_their_caller_copied():
    found = translated(f"""{FILLED} void f(float* y, const float* x, const float* t, int n) {{
        prepare(t, n);
        count<<<n, 64>>>(y, x, n); }}""")
    launcher = found[found.index("def f(") :]
    assert launcher.index("limited = n * 2") < launcher.index("limit = torch.full((1,), limited,")
    assert "table, limit" in launcher[launcher.index("count[") :]


def test_what_a_function_copies_behind_a_launch_is_not_known_to_it():
    with pytest.raises(Refusal, match="nothing is known of what 'table' holds"):
        translated(f"""{FILLED} void f(float* y, const float* x, const float* t, int n) {{
            count<<<n, 64>>>(y, x, n);
            prepare(t, n); }}""")


def test_memory_of_a_class_template_holds_the_numbers_of_its_argument():
    found = translated("""
        template <typename T> struct Vec { union { T e[3]; struct { T x, y, z; }; }; };
        __global__ void tilt(Vec<double>* p, int n) { if (threadIdx.x < n) p[threadIdx.x].y += p[threadIdx.x].e[2]; }
        void f(Vec<double>* p, int n) {
          Vec<double>* d;
          cudaMalloc((void**)&d, n * sizeof(Vec<double>));
          cudaMemcpy(d, p, n * sizeof(Vec<double>), cudaMemcpyHostToDevice);
          tilt<<<1, 64>>>(d, n);
          cudaMemcpy(p, d, n * sizeof(Vec<double>), cudaMemcpyDeviceToHost); }""")
    assert "d = torch.empty(n * 24 // 8, dtype=torch.float64, " in found


@pytest.mark.parametrize("offset", ["n", "4"])
def test_a_part_of_a_variable_of_the_device_is_refused(offset):
    first = "int m = 1; cudaMemcpyToSymbol(limit, &m, 4);"
    copy = f"{first} cudaMemcpyFromSymbol(y, table, 4, {offset}, cudaMemcpyDeviceToHost);"
    with pytest.raises(Refusal, match="only the beginning of 'table' can be copied from"):
        translated(f"{COUNTED} void f(float* y, const float* x, int n) {{ {copy} count<<<n, 64>>>(y, x, n); }}")


@pytest.mark.parametrize("declared", ["int h[2] = {n, 2};", "int h[2]; h[0] = n; h[1] = 2;"])
def test_an_element_is_read_where_the_source_reads_it(declared):
    found = body(f"{declared} dim3 g(h[0]); h[0] = 7; add<<<g, 64>>>(y, x, h[1]);")
    assert found.index("g_x = h[0]") < found.index("h[0] = 7") < found.index("add[(g_x,)](y, x, h[1]")


def test_fields_are_set_through_a_pointer():
    found = translated(f"""{OBJECTS} void f(float* y, int n) {{
        Params p{{n, 2.f}};
        Params* q = &p;
        q->n = 3;
        dim3 g(p.n);
        q->n = 4;
        all<<<g, 64>>>(p, y); }}""")
    assert "    p_n = 3\n    g_x = p_n\n    p_n = 4\n    all[(g_x,)](p_n, p_a, y, BLOCK_SIZE=64" in found


def test_a_pointer_to_one_struct_and_then_another_is_refused():
    with pytest.raises(Refusal, match="'q' points to more than one struct"):
        translated(f"""{OBJECTS} void f(float* y, int n) {{
            Params p{{n, 2.f}}, r{{n, 3.f}};
            Params* q = &p;
            if (n > 3) q = &r;
            all<<<1, 64>>>(*q, y); }}""")
