"""CUDA text becomes C++ text line by line."""

from pathlib import Path

import pytest

from porter.simt.translate import translate
from porter.source_text import Source


def translated(text: str) -> str:
    head, _, body = translate(Source(Path("a.cu"), text)).partition("\n")
    assert head == '#line 1 "a.cu"'
    return body


def launch(text: str) -> str:
    return translated(f"void f() {{ {text} }}").removeprefix("void f() { ").removesuffix(" }")


def test_a_launch_evaluates_its_arguments_once():
    assert launch("k<float, 4><<<g, dim3(n >> 2), 0, s>>>(x.data(), n++);") == (
        '::porter::simt::launcher("k<float, 4>", [&](auto&... porter_args) { return k<float, 4>(porter_args...); })'
        ".on(g, dim3(n >> 2), 0, s)(x.data(), n++);"
    )


def test_literals_stay_where_their_type_matters():
    assert launch("k<<<1, 2>>>(x, NULL, {1, 2}, 0);") == (
        '::porter::simt::launcher("k", [&](auto& porter_arg_0) { return k(porter_arg_0, NULL, {1, 2}, 0); })'
        ".on(1, 2)(x);"
    )


def test_an_argument_that_is_missing_is_left_to_the_compiler():
    assert launch("k<<<1, 2>>>(x, , n);") == (
        '::porter::simt::launcher("k", [&](auto& porter_arg_0, auto& porter_arg_2) '
        "{ return k(porter_arg_0, , porter_arg_2); }).on(1, 2)(x, n);"
    )


def test_a_macro_may_be_a_pragma():
    assert translated("#define UNROLL #pragma unroll 4\n") == '#define UNROLL _Pragma("unroll 4")\n'
    assert translated("UNROLL 4\nfor (;;) {}\n") == "UNROLL \nfor (;;) {}\n"
    assert translated("int x = 4; do {} while (N > 4);") == "int x = 4; do {} while (N > 4);"
    text = '#define TEXT "for device code: #pragma unroll"\n'
    assert translated(text) == text


@pytest.mark.parametrize(
    "callee", ["k", "ns::k<float>", "(k<a, b>)", "table[i]", "A<T>::template k<int>", "k<f(a, b), (c > d)>", "p->k"]
)
def test_any_kernel_expression_is_called(callee):
    assert f"return {callee}(porter_args...);" in launch(f"{callee}<<<g, b>>>(x);")


def test_a_launch_after_return_and_in_a_condition():
    assert launch("return k<<<1, 1>>>(x), 0;").startswith('return ::porter::simt::launcher("k"')
    assert launch("if (a) k<<<1, 1>>>(x);").startswith('if (a) ::porter::simt::launcher("k"')


@pytest.mark.parametrize("cast", ["(void*)", "(const void *)", "reinterpret_cast<void*>", "static_cast<const void*>"])
@pytest.mark.parametrize("function", ["cudaLaunchKernel", "cudaLaunchCooperativeKernel", "mcLaunchKernel"])
def test_a_kernel_launched_by_a_call_keeps_its_type(cast, function):
    assert launch(f"{function}({cast}(&k<T>), g, b, args, 0, 0);") == f"{function}((&k<T>), g, b, args, 0, 0);"
    assert launch(f"{function}(k, g, b, (void**)args, 0, 0);") == f"{function}(k, g, b, (void**)args, 0, 0);"
    assert launch(f"{function}((handle), g, b, args);") == f"{function}((handle), g, b, args);"


def test_a_macro_body_is_translated_and_keeps_its_lines():
    text = "#define GO(N) \\\n  k##N<<<g, \\\n    b>>>(x, \\\n    NULL)\nint after;\n"
    body = translated(text)
    assert "return k##N(porter_arg_0, NULL);" in body
    assert body.count("\n") == text.count("\n")
    assert body.splitlines()[4] == "int after;"


def test_a_shift_that_looks_like_a_launch_is_left_alone():
    text = 'auto v = a << b; std::cout <<n<< x; // k<<<1, 1>>>(x)\nconst char* s = "k<<<1, 1>>>(x)";'
    assert translated(text) == text


def test_shared_declarators_become_storage():
    body = translated("__global__ void k() { __shared__ float a[32][N + 1], *p; }")
    assert "typedef float porter_type_a[32][N + 1];" in body
    assert "typedef float *porter_type_p;" in body
    assert body.count("enter_shared(") == 2


@pytest.mark.parametrize(
    ("declaration", "kind"),
    [
        ("__shared__ typename R<float, 256>::TempStorage t;", "typename R<float, 256>::TempStorage porter_type_t;"),
        ("static __shared__ int t[4];", "int porter_type_t[4];"),
        ("volatile __shared__ int t;", "volatile int porter_type_t;"),
        ("__shared__ struct { float a; int b[3]; } t[4];", "struct { float a; int b[3]; } porter_type_t[4];"),
        ("__shared__ __align__(16) half t[8];", "__align__(16) half porter_type_t[8];"),
    ],
)
def test_the_type_of_shared_storage_is_the_declared_one(declaration, kind):
    assert f"typedef {kind}" in translated(f"__global__ void k() {{ {declaration} }}")


def test_shared_variables_at_namespace_scope_are_entered_by_the_functions_that_use_them():
    text = (
        "namespace n {\n__shared__ float a[4], b;\nstruct S { float a; };\n__global__ void k() { a[0] = b; }\n"
        "__device__ int f() { return 1; }\n__device__ float g() { return a[1]; }\n}\nint h(int a) { return a; }\n"
    )
    lines = translated(text).splitlines()
    assert [line.count("enter_shared(") for line in lines] == [0, 0, 0, 2, 0, 1, 0, 0]
    assert 'enter_shared(porter_shared_b, "b");' in lines[3]


def test_dynamic_shared_memory_is_a_pointer_to_its_first_element():
    body = translated("__global__ void k() { extern __shared__ float x[][32]; }")
    assert "typedef float porter_type_x[32];" in body
    assert "porter_type_x* const x = reinterpret_cast<porter_type_x*>" in body


def test_dynamic_shared_memory_may_be_declared_again_at_namespace_scope():
    body = translated('extern __shared__ int x[];\nnamespace n { }\nextern "C" {\nextern __shared__ int x[];\n}\n')
    assert body.count("const x =") == 1


@pytest.mark.parametrize("end", ["", ";"])
def test_shared_memory_named_by_a_macro_parameter_is_pasted(end):
    assert "porter_shared_##NAME, " in translated(f"#define S(NAME) __shared__ float NAME[4]{end}\nint after;")


def test_a_macro_may_stand_for_the_qualifier():
    body = translated("#define SMEM __shared__ __align__(16)\n__global__ void k() { SMEM float x[4]; }")
    assert body.startswith("#define SMEM __shared__ __align__(16)\n")
    assert "typedef float porter_type_x[4];" in body


def test_the_qualifier_of_a_parameter_says_nothing():
    assert translated("__device__ float f(__shared__ float* p, int n);") == "__device__ float f( float* p, int n);"


def test_main_is_renamed_and_its_callers_are_not():
    assert translated("int main(int c, char** v) { return domain(c); }").startswith("int porter_user_main(")
    assert translated("std::int32_t main() {}").startswith("std::int32_t porter_user_main(")


@pytest.mark.parametrize(
    "text", ["k<<<", "k<<<1>>>", "<<<1, 1>>>(x)", "__shared__", "__shared__ float", "f(__shared__ int* p)"]
)
def test_broken_text_is_no_crash(text):
    translated(text)


@pytest.mark.parametrize(
    "own", ["extern __device__ __device_builtin__ void __syncthreads(void);", "__device__ int __clz(int x);"]
)
def test_prototypes_of_functions_of_cuda_go(own):
    assert not translated(f"int n;\n{own}\nint m;\n").replace("int n;\n", "").replace("\nint m;\n", "").strip(" ;")


@pytest.mark.parametrize(
    "own",
    [
        "extern __device__ void threads(void);",
        "__device__ void __own(int x) { x = 1; }",
        "__device__ __constant__ int __table[4];",
        "__device__ int __n = (4);",
    ],
)
def test_what_a_source_defines_or_calls_by_a_name_of_its_own_stays(own):
    assert translated(own + "\n") == own + "\n"


def test_a_word_of_c_is_no_macro_of_cpp():
    assert translated("#define auto __auto_type\nint n;\n") == "\nint n;\n"


@pytest.mark.parametrize(
    ("written", "left"),
    [
        ('extern "C" __device__ static inline int f(int v) { return v; }', "__device__ static inline int f(int v)"),
        ('extern "C" int f(int v) { static int n; return n; }', 'extern "C" int f(int v) { static int n'),
        ('extern "C" { int f(); static int g(); }', 'extern "C" { int f(); static int g(); }'),
    ],
)
def test_a_static_function_has_no_linkage_of_c(written, left):
    assert left in " ".join(translate(Source(Path("op.cu"), written)).split())
