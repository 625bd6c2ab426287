"""What is done alike to all numbers of a vector is done to a row."""

from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source.text import Source
from porter.syntax.read import read_unit
from porter_triton.lower import Dimension, LaunchInfo, lower_kernel

_BLOCK = (Dimension(64, "BLOCK_SIZE"), Dimension(1), Dimension(1))
_GELU = """
__device__ float half_gate(float v) {
    float c = v * 0.5f;
    float t = tanhf(c);
    return c * t;
}
"""


def lowered(body):
    head = "__global__ void k(const float4* x, const float* s, float4* y, float a, int n) {"
    text = f"{_GELU}{head} int i = blockIdx.x * blockDim.x + threadIdx.x; {body} }}"
    unit = read_unit(parse(Source(Path("op.cu"), text)))
    return lower_kernel(unit, unit.kernels[-1], LaunchInfo(_BLOCK)).text


def each(statement, names="xyzw"):
    return " ".join(statement.replace("@", name) for name in names)


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        ("y[i] = x[i];", ["values = load_tile(x + i * 4, 4)", "store_tile(y + i * 4, values)"]),
        (f"float4 v = x[i]; {each('v.@ = v.@ * a;')} y[i] = v;", ["v = v * a", "store_tile(y + i * 4, v)"]),
        (
            f"float4 v = x[i], o; float g = s[i]; {each('o.@ = fmaxf(v.@, g);')} y[i] = o;",
            ["g = tl.load(s + i)", "o = tl.maximum(v, g[:, None])", "store_tile(y + i * 4, o)"],
        ),
        (
            f"float4 v = x[i], o; {each('o.@ = half_gate(v.@);')} y[i] = o;",
            ["c = v * 0.5", "t = tanh(c)", "o = c * t", "store_tile(y + i * 4, o)"],
        ),
        (
            "for (int k = 0; k < n; ++k) { float4 v = x[k * n + i]; "
            f"{each('v.@ += 1;')} if (v.x > 0) y[k * n + i] = v; }}",
            ["store4("],
        ),
        (
            f"if (i < n) {{ float4 v = x[i]; {each('v.@ = v.@ > 0 ? v.@ : a;')} y[i] = v; }}",
            ["v = tl.where(v > 0.0, v, a)"],
        ),
    ],
    ids=["copied", "scaled", "with one number a thread", "one after the other", "one is asked", "under a mask"],
)  # fmt: skip
def test_numbers_become_a_row(body, lines):
    text = lowered(body)
    assert all(line in text for line in lines), text


@pytest.mark.parametrize(
    ("statements", "line"),
    [
        ("t += v.x + v.y + v.z + v.w;", "t = t + tl.sum(v, axis=1)"),
        ("t = t + v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;", "t = t + tl.sum(v * v, axis=1)"),
        ("t += fabsf(v.x) + fabsf(v.y) + fabsf(v.z) + fabsf(v.w);", "t = t + tl.sum(tl.abs(v), axis=1)"),
        ("t = fmaxf(t, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));", "t = tl.maximum(t, tl.max(v, axis=1))"),
        (each("t += (v.@ - a) * (v.@ - a);"), "t = t + tl.sum((v - a) * (v - a), axis=1)"),
        (each("t = fminf(t, v.@);"), "t = tl.minimum(t, tl.min(v, axis=1))"),
        ("t += (v.x - a) + (v.y - a) + (v.z - a) + (v.w - a) - a;", "t = t + (tl.sum(v - a, axis=1) - a)"),
    ],
)
def test_a_row_ends_in_a_sum_or_an_extreme(statements, line):
    loop = f"for (int k = 0; k < n; ++k) {{ float4 v = x[k * n + i]; {statements} }}"
    text = lowered(f"float t = 0; {loop} ((float*)y)[i] = t;")
    assert line in text, text


@pytest.mark.parametrize(
    "statements",
    [
        "t += v.x + v.y + v.z;",
        "t += v.x + v.y + v.z + a;",
        "t += v.x + v.y + v.z * a + v.w;",
        "t += v.x; t *= a; t += v.y; t += v.z; t += v.w;",
        "t += v.x; t += v.y; ((float*)y)[k] = t; t += v.z; t += v.w;",
        "t += v.x; t += v.y; t -= v.z; t += v.w;",
        "t = fmaxf(t, fmaxf(fmaxf(v.x, v.y), fminf(v.z, v.w)));",
        "t += v.x * t; t += v.y * t; t += v.z * t; t += v.w * t;",
    ],
)
def test_other_sums_stay(statements):
    loop = f"for (int k = 0; k < n; ++k) {{ float4 v = x[k * n + i]; {statements} }}"
    text = lowered(f"float t = 0; {loop} ((float*)y)[i] = t;")
    assert "axis=1" not in text, text


_EIGHT = (
    "uint4 r = *(const uint4*)((const half*)x + 8 * i), o; const half2* p = (const half2*)&r; half2* q = (half2*)&o;"
)


def test_pairs_of_eight_halves_are_one_row():
    each_pair = (
        "float2 f = __half22float2(p[j]); q[j] = __floats2half2_rn(f.x * a, f.y * a); t += f.x * f.x + f.y * f.y;"
    )
    text = lowered(
        f"{_EIGHT} float t = 0; for (int j = 0; j < 4; ++j) {{ {each_pair} }}"
        " *(uint4*)((half*)y + 8 * i) = o; ((float*)s)[i] = t;"
    )
    lines = ["f = r.to(tl.float32)", "o = (f * a).to(tl.float16)", "t = t + tl.sum(f * f, axis=1)"]
    assert all(line in text for line in lines), text


def test_sums_of_halves_stay():
    text = lowered("half2 v = ((const half2*)x)[i]; ((half*)y)[i] = v.x + v.y;")
    assert "axis=1" not in text, text


@pytest.mark.parametrize(
    "body",
    [
        "float4 v = x[i], o; o.x = v.y; o.y = v.x; o.z = v.z; o.w = v.w; y[i] = o;",
        f"float4 v = x[i]; v.x *= 2; {each('v.@ *= a;', 'yzw')} y[i] = v;",
        f"float4 v = x[i]; {each('v.@ *= a;')} v.w = 1; y[i] = v;",
        f"float4 v = x[i]; float g = v.x; {each('v.@ = v.@ * g;')} y[i] = v;",
        f"float4 v = x[i]; {each('v.@ *= a;')} y[i] = v; ((float*)y)[i + n] = v.z;",
        f"float4 v = x[i]; float g = s[i]; v.x *= g; g += 1; {each('v.@ *= g;', 'yzw')} y[i] = v;",
        f"float4 t = x[i]; for (int k = 0; k < n; ++k) {{ float4 v = x[k]; {each('t.@ += v.@;')} y[k * n + i] = t; }}",
        f"float4 v = x[i]; y[i] = v; while (v.x > a) {{ {each('v.@ *= a;')} y[i] = v; }}",
    ],
    ids=["swapped", "not alike", "one replaced", "one for all", "one stored", "changing", "carried", "read before"],
)
def test_what_is_not_alike_stays(body):
    text = lowered(body)
    assert "store_tile(" not in text, text


def test_a_name_is_not_given_away_while_it_is_read():
    text = lowered(
        f"float4 v = x[i], w; {each('w.@ = v.@ * a;')} v = x[i + n]; {each('v.@ += w.@;')} y[i] = v; y[i + n] = w;"
    )
    lines = [line.strip() for line in text.splitlines()]
    assert lines.index("w = v * a") < lines.index("v = load_tile(x + (i + n) * 4, 4)") < lines.index("v = v + w")
