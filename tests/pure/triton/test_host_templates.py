"""Launchers of templates: types that traits name, function objects by specialisation, tensors by pointer."""

from pathlib import Path
from textwrap import dedent

from porter.source.parse import parse
from porter.source_text import Source
from porter_triton.port import port

KERNEL = """
template <typename T> __global__ void scale(T* y, const T* x, int n) {
  extern __shared__ float row[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * T(2);
}
template <typename T> struct Wide { using Type = float; };
template <> struct Wide<double> { using Type = double; };
template <bool wide, typename T> struct Chosen {
  using Type = typename std::conditional<wide, typename Wide<T>::Type, T>::type;
};
enum class Op { kLog2, kTwice };
template <typename From, typename To, Op op> struct Unary;
template <typename From, typename To> struct Unary<From, To, Op::kTwice> : public std::unary_function<From, To> {
  __host__ __device__ To operator()(From x) { return To(2 * x); }
};
template <> struct Unary<int, int, Op::kLog2> : public std::unary_function<int, int> {
  __host__ __device__ int operator()(int x) { int n = 0; while ((1 << n) < x) ++n; return n; }
};
"""


def launchers(text):
    """The module's launchers and what they call, `f` last."""
    made = port(parse(Source(Path("op.cu"), KERNEL + dedent(text))), ())
    assert not made.findings, made.findings
    return made.files[0].text


def test_the_size_of_a_type_that_a_trait_names():
    found = launchers("""
        template <typename T, bool wide> void run(T* y, const T* x, int n) {
          using MT = typename Chosen<wide, T>::Type;
          scale<T><<<n * sizeof(MT), 32>>>(y, x, n);
        }
        void f(half* y, const half* x, double* v, const double* u, int n) {
          run<half, true>(y, x, n);
          run<half, false>(y, x, n);
          run<double, true>(v, u, n);
        }""")
    assert found.count("def run") == 3
    assert all(f"n * {size}" in found for size in (4, 2, 8))


def test_a_function_object_of_a_specialisation_is_called():
    found = launchers("""
        void f(float* y, const float* x, int n) {
          int log2 = Unary<int, int, Op::kLog2>()(n);
          int twice = Unary<int, int, Op::kTwice>()(n);
          scale<float><<<1 << log2, 32>>>(y, x, twice);
        }""")
    assert "while 1 << n < x" in found
    assert "2 * x" in found


def test_a_pointer_to_a_tensor_is_the_tensor():
    found = launchers("""
        template <typename T, typename U> void run(T* y, const T* x, const U* mean, int n) {
          scale<T><<<n, 32, sizeof(U)>>>(y, x, n);
        }
        void f(at::Tensor* y, at::Tensor* x, at::Tensor* mean) {
          cudaSetDevice(x->get_device());
          run(y->data_ptr<float>(), x->data_ptr<float>(), mean != NULL ? mean->data_ptr<double>() : NULL,
              torch::numel(*x));
        }""")
    assert "x.numel()" in found
    assert "get_device" not in found


def test_vectors_grow_and_shrink():
    found = launchers("""
        torch::Tensor f(torch::Tensor x) {
          auto shape = x.sizes().vec();
          shape[0] = shape[0] / 2;
          if (shape[0] == 1) { shape.erase(shape.begin()); }
          std::vector<int64_t> sizes;
          sizes.push_back(shape[0]);
          sizes.insert(sizes.begin() + 1, 4);
          auto y = torch::zeros(shape, x.options());
          auto z = torch::zeros(sizes, x.options());
          scale<float><<<1, 32>>>(y.data_ptr<float>(), z.data_ptr<float>(), 4);
          return y;
        }""")
    lines = [line.strip() for line in found.splitlines()]
    assert "shape = list(x.shape)" in lines
    assert "shape[0] = shape[0] // 2" in lines
    assert "shape = shape[1:]" in lines
    assert "sizes = [*sizes, shape[0]]" in lines
    assert "sizes = [*sizes[:1], 4, *sizes[1:]]" in lines


def test_a_pack_of_arguments_is_one_parameter_each():
    found = host_functions("""
        template <typename K, typename... Rest> void launch(int n, K kernel, Rest&&... rest) {
          kernel<<<n, 64>>>(std::forward<Rest>(rest)...);
        }
        template <typename T, typename... Rest> void run(T* y, Rest... rest) { launch(3, scale<T>, y, rest...); }
        void f(float* y, const float* x, int n) { run<float>(y, x, n); run(y, x, 4); }""")
    assert "def launch(n, kernel, rest_0, rest_1, rest_2):" in found
    assert "scale[(n,)](rest_0, rest_1, rest_2, BLOCK_SIZE=64" in found
    assert "def run(y, rest_0, rest_1):" in found
    assert found.endswith("    run(y, x, n)\n    run(y, x, 4)")


def test_a_pack_may_be_empty():
    found = host_functions("""
        template <typename... Rest> int count(int n, Rest... rest) { int m = n; if (n > 3) m = 7; return m; }
        void f(float* y, const float* x, int n) { scale<float><<<count(n), 32>>>(y, x, n); }""")
    assert "def count(n):" in found


def host_functions(text):
    """The host functions of the port, which refuses nothing."""
    made = port(parse(Source(Path("op.cu"), KERNEL + dedent(text))), ())
    assert not made.findings, made.findings
    found = made.files[0].text
    return found[found.index("\ndef ") + 1 :].rstrip()


def test_parameters_of_a_class_that_are_left_out_have_their_defaults():
    found = host_functions("""
        template <typename T, typename To = double> struct Sum { using type = To; };
        template <typename T> struct Sum<T, double> { using type = T; };
        void f(float* y, const float* x, int n) {
          using acc = typename Sum<float>::type;
          scale<acc><<<(n + 63) / 64, 64, 64 * sizeof(acc)>>>(y, x, n);
        }""")
    assert "scale[(triton.cdiv(n, 64),)](" in found
