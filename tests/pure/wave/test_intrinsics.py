import pytest

PAIRS = {
    "named from the global namespace": (
        "return ::__any(p) + ::__ballot(q);",
        "return (warp32::bits(::__ballot(p)) != 0) + warp32::bits(::__ballot(q));",
    ),
    "mask and width": (
        "v += __shfl_xor_sync(0xffffffff, v, 16);",
        "v += __shfl_xor_sync(warp32::lanes(0xffffffff), v, 16, 32);",
    ),
    "a width that is written stays": (
        "v += __shfl_down_sync(mask, v, o, 8);",
        "v += __shfl_down_sync(warp32::lanes(mask), v, o, 8);",
    ),
    "a call in an argument": (
        "x = __shfl_sync(m, __shfl_up_sync(m, v, 1), __ffs(__activemask()) - 1);",
        "x = __shfl_sync(warp32::lanes(m), __shfl_up_sync(warp32::lanes(m), v, 1, 32), "
        "__ffs(warp32::bits(__activemask())) - 1, 32);",
    ),
    "a mask that is a vote": (
        "x = __ballot_sync(__activemask(), p);",
        "x = warp32::bits(__ballot_sync(warp32::lanes(warp32::bits(__activemask())), p));",
    ),
    "commas in braces and template arguments": (
        "x = __shfl_sync(m, pick<int, 2>(a, b), f({1, 2}));",
        "x = __shfl_sync(warp32::lanes(m), pick<int, 2>(a, b), f({1, 2}), 32);",
    ),
    "comparisons are no template arguments": (
        "x = __shfl_sync(m, a < b, c > d);",
        "x = __shfl_sync(warp32::lanes(m), a < b, c > d, 32);",
    ),
    "line breaks and comments stay": (
        "x = __shfl_sync(m, /* value */ v,\n        lane /* source */);",
        "x = __shfl_sync(warp32::lanes(m), /* value */ v,\n        lane /* source */, 32);",
    ),
    "votes": (
        "b = __any_sync(m, p) && __all_sync(m, q);",
        "b = __any_sync(warp32::lanes(m), p) && __all_sync(warp32::lanes(m), q);",
    ),
    "match": (
        "x = __match_all_sync(m, v, &same);",
        "x = warp32::bits(__match_all_sync(warp32::lanes(m), v, &same));",
    ),
    "reduce": ("x = __reduce_add_sync(m, v);", "x = __reduce_add_sync(warp32::lanes(m), v);"),
    "a barrier without a mask": ("__syncwarp();", "__syncwarp(warp32::lanes(0xffffffff));"),
    "a barrier with a mask": ("__syncwarp(m);", "__syncwarp(warp32::lanes(m));"),
    "before CUDA 9": (
        "x = __shfl_down(v, 1) + __popc(__ballot(p));",
        "x = __shfl_down(v, 1, 32) + __popc(warp32::bits(__ballot(p)));",
    ),
    "votes before CUDA 9": (
        "x = __any(a || b) + __all(c);",
        "x = (warp32::bits(__ballot(a || b)) != 0) + (warp32::bits(__ballot(!(c))) == 0);",
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_call_is_confined_to_32_lanes(name, ported):
    before, after = PAIRS[name]
    assert ported(f"__device__ void f() {{ {before} }}") == f"__device__ void f() {{ {after} }}"


def test_macro_bodies_are_rewritten_across_continued_lines(ported):
    before = "#define MAX_OF(v) \\\n    v = max(v, __shfl_xor_sync(FULL, v, \\\n        16))\n"
    after = "#define MAX_OF(v) \\\n    v = max(v, __shfl_xor_sync(warp32::lanes(FULL), v, \\\n        16, 32))\n"
    assert ported(before) == after


def test_macro_that_stands_in_for_a_missing_intrinsic_is_left_alone(ported):
    text = "#if CUDART_VERSION < 9000\n#define __shfl_xor_sync(mask, ...) __shfl_xor(__VA_ARGS__)\n#endif\n"
    assert ported(text) == text


def test_the_mask_of_a_macro_that_is_a_primitive_without_one_is_confined(ported):
    macro = "#define __shfl_down(...) __shfl_down_sync(0xFFFFFFFF, __VA_ARGS__)\n"
    confined = macro.replace("0xFFFFFFFF", "warp32::lanes(0xFFFFFFFF)")
    before = "__device__ float f(float v) { return __shfl_down(v, 4); }"
    assert ported(macro + before) == confined + before.replace("4)", "4, 32)")


@pytest.mark.parametrize(
    "text",
    [
        "int x = tile.__any(p);",
        "int x = mine::__any(p);",
        "// __shfl_sync(m, v, 0)\n",
        'const char* name = "__shfl_sync(m, v, 0)";',
        "int y = my__shfl_sync(m, v, 0);",
    ],
)
def test_what_is_no_call_of_the_intrinsic_is_left_alone(text, ported, codes):
    assert ported(text) == text
    assert codes(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "#define SHUFFLE(...) __shfl_sync(__VA_ARGS__)\n",
        "#define APPLY(v) reduce_with(__shfl_xor_sync, v)\n",
        "template <class... A> __device__ int f(A... a) { return __shfl_sync(a...); }",
        "__device__ int __shfl_sync(unsigned mask, Pair v, int lane) { return v.first; }",
    ],
)
def test_use_that_cannot_be_confined_is_an_error(text, codes):
    assert "PORT1020" in codes(text)


def test_one_finding_for_each_function_and_danger(rewritten):
    found = rewritten(
        "__device__ float a(float v) {\n"
        "  v += __shfl_xor_sync(~0u, v, 2);\n"
        "  return v + __shfl_xor_sync(~0u, v, 1);\n"
        "}\n"
        "__device__ float b(float v) { return __shfl_sync(~0u, v, 0, 8); }\n"
    ).findings
    assert [(f.code, f.span.line) for f in found] == [("PORT1003", 2), ("PORT1002", 2), ("PORT1002", 5)]
    assert "lines 2, 3" in found[0].hint
    assert "`a`" in found[0].message
