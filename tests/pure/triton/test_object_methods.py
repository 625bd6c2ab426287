"""Objects that a launcher is given: their methods are what the bodies say of the fields, as far as they set none."""

import pytest

from porter_triton.refusal import Refusal
from tests.pure.triton.host_sources import translated

TENSOR = """
enum class Place { CPU, GPU };
struct Base { float* data_; int rows_; float* data() { return data_; } const float* data() const { return data_; } };
struct Tensor : Base {
    static constexpr int kThreads = 64;
    int cols_; int extents[2]; Place place;
    int rows() const { return rows_; }
    int numel() const { return rows() * this->cols_; }
    int blocks(int threads = kThreads) const { return (numel() + threads - 1) / threads; }
    bool is_gpu() const { return place == Place::GPU; }
    int wide(bool turned) const { if (turned) return cols_; else return rows_; }
    int product() const { int n = 1; for (int i = 0; i < 2; ++i) n *= extents[i]; return n; }
    int half() const { return rows_ * 0.5f; }
    int operator[](int i) const { return extents[i]; }
    float* operator()() const { return data_; }
    int drop() { rows_ -= 1; return rows_; }
    int taken() { return drop() * cols_; }
    int counted() const { static int calls = 0; calls += 1; return calls; }
    int depth(int n) const { return n < 2 ? cols_ : depth(n - 1); }
    int elsewhere() const;
    template <typename T> T* as() const { return static_cast<T*>((void*)data_); }
};
"""
FIELDS = "{0}_data_, {0}_rows_, {0}_cols_, {0}_extents_0, {0}_extents_1, {0}_place"


def launched(given: str) -> str:
    """The launch of `add` in a launcher that takes two tensors, with `given` as its number."""
    text = (
        f"{TENSOR} void f(const Tensor& x, Tensor y) {{ add<<<x.blocks(), 64>>>(y.data(), x.as<float>(), {given}); }}"
    )
    return translated(text)


@pytest.mark.parametrize(
    ("given", "printed"),
    [
        ("x.numel()", "x_rows_ * x_cols_"),
        ("x.is_gpu()", "x_place == 1"),
        ("x.wide(y.rows() > 3)", "x_cols_ if y_rows_ > 3 else x_rows_"),
        ("x.half()", "int(x_rows_ * 0.5)"),
        ("x[1]", "x_extents_1"),
        ("(*&x).wide(false)", "x_rows_"),
    ],
)
def test_a_getter_is_what_it_says_of_the_fields(given, printed):
    found = launched(given)
    assert f"def f({FIELDS.format('x')}, {FIELDS.format('y')}):" in found
    assert f"add[(triton.cdiv(x_rows_ * x_cols_, 64),)](y_data_, x_data_, {printed}, BLOCK_SIZE=64" in found


def test_a_method_of_several_statements_is_a_function_of_the_fields():
    found = launched("x.product()")
    assert f"def Tensor_product({FIELDS.format('this')}):" in found
    assert f"(y_data_, x_data_, Tensor_product({FIELDS.format('x')}), BLOCK_SIZE=64" in found


def test_a_method_that_calls_itself_is_a_function():
    found = launched("x.depth(4)")
    assert "return this_cols_ if n < 2 else Tensor_depth(this_data_" in found


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("y.drop()", "'drop' changes its object"),
        ("y.taken()", "'taken' changes its object"),
        ("x.elsewhere()", "no method 'elsewhere' of 'Tensor' with a body"),
        ("x.size(0)", "no method 'size' of 'Tensor' with a body"),
        ("x.blocks(1, 2)", "no method 'blocks' of 'Tensor' with a body"),
    ],
)
def test_what_a_method_does_beside_its_value_or_elsewhere_is_refused(given, reason):
    with pytest.raises(Refusal, match=reason):
        launched(given)


def test_a_static_variable_of_a_method_is_kept_by_the_module():
    found = launched("x.counted()")
    assert "Tensor_counted_calls = 0\n" in found
    assert "    global Tensor_counted_calls\n    Tensor_counted_calls += 1\n" in found


@pytest.mark.parametrize("index", ["i++", "run(x(), 3)"])
def test_a_method_is_given_no_value_that_does_something(index):
    run = "int run(float* y, int n) { add<<<1, 64>>>(y, y, n); return 1; }"
    with pytest.raises(Refusal, match="a value that changes a variable or calls a function"):
        translated(f"{TENSOR} {run} void f(Tensor x) {{ int i = 0; int n = x[{index}]; add<<<i, 64>>>(x(), x(), n); }}")


def test_objects_that_ask_each_other_without_end_are_refused():
    with pytest.raises(Refusal, match="within itself, of another object"):
        translated("""struct A { float* d; int n; int least(const A& o) const { return n < 2 ? n : o.least(*this); } };
            void f(A a, A b) { add<<<1, 64>>>(a.d, a.d, a.least(b)); }""")


def test_an_element_of_an_object_is_not_assigned():
    with pytest.raises(Refusal, match="an element of an object"):
        translated(f"{TENSOR} void f(Tensor x) {{ x[0] = 3; add<<<1, 64>>>(x(), x(), x[0]); }}")


def test_of_two_methods_that_differ_none_is_taken():
    with pytest.raises(Refusal, match="several methods 'n' is meant"):
        translated("""struct A { float* d; int n() { return 1; } int n() const { return 2; } };
            void f(A a) { add<<<1, 64>>>(a.d, a.d, a.n()); }""")


def test_a_class_hides_no_method_of_its_base():
    with pytest.raises(Refusal, match="several classes of an object have a method 'n'"):
        translated("""struct B { float* d; int n() const { return 1; } }; struct A : B { int n() const { return 2; } };
            void f(A a) { add<<<1, 64>>>(a.d, a.d, a.n()); }""")


def test_a_pointer_type_with_a_name_is_followed_to_the_fields():
    found = translated("""struct Mat { float* d; int n; }; typedef struct Mat* Mat_t;
        void f(Mat_t x) { add<<<x->n, 64>>>(x->d, x->d, x->n); }""")
    assert "def f(x_d, x_n):" in found


def test_a_vector_among_the_fields_is_a_sequence():
    found = translated("""struct Mat { float* d; std::vector<int> shape; int rank() const { return shape.size(); } };
        void f(const Mat& x) { add<<<x.shape[0], 64>>>(x.d, x.d, x.shape.back() * x.rank()); }""")
    assert "def f(x_d, x_shape):" in found
    assert "add[(x_shape[0],)](x_d, x_d, x_shape[-1] * len(x_shape)," in found


def test_tensors_of_pytorch_have_its_methods_beside_a_class_of_that_name():
    found = translated("""namespace own { struct Tensor { float* d; int n; }; }
        void f(const at::Tensor& x, const own::Tensor& y) { add<<<y.n, 64>>>(y.d, x.data_ptr<float>(), x.size(0)); }""")
    assert "add[(y_n,)](y_d, x, x.shape[0]," in found


@pytest.mark.parametrize("asked", ["a.ready() == cudaSuccess", "a.full()"])
def test_a_method_with_effects_is_not_called_under_a_condition(asked):
    with pytest.raises(Refusal, match="with effects is called under a condition"):
        translated(f"""struct A {{ float* d; float* e; int n;
              cudaError_t ready() const {{ int k = n; cudaMemset(d, 0, k); return cudaGetLastError(); }}
              bool copied() const {{ return cudaMemcpy(d, e, n, cudaMemcpyDeviceToDevice) == cudaSuccess; }}
              bool full() const {{ return copied(); }} }};
            void f(A a, int m) {{ if (m > 1 && {asked}) add<<<1, 64>>>(a.d, a.d, m); }}""")
