"""Integer constants as the compiler folds them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porter.source.constants import environment_of
from porter.source.folding import Environment, evaluate
from porter.source.parse import parse
from porter.source_text import Source

TEXT = """
#define WARP 32
#define UP(a, b) (((a) + (b) - 1) / (b))
#define LOOPED LOOPED2
#define LOOPED2 LOOPED + 1
constexpr int kWarps = 4;
static const int kThreads = kWarps * WARP;
enum Sizes { kSmall = 8, kNext, kLast = kNext * 2 };
constexpr int circle = circle2;
constexpr int circle2 = circle;
constexpr __host__ __device__ int up(int a, int b) { return (a + b - 1) / b; }
__global__ void k(float* x, int n) { constexpr int kTile = kThreads / 2; }
"""
ENVIRONMENT = environment_of(parse(Source(Path("x.cu"), TEXT)))


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("0x10u | 010", 24),
        ("1'024 >> 5", 32),
        ("-7 / 2", -3),
        ("-7 % 2", -1),
        ("~0 & 0xff", 255),
        ("1 ? 2 : 1 / 0", 2),
        ("4 > 3 && !(2 == 3)", 1),
        ("kThreads", 128),
        ("kTile + kLast", 82),
        ("UP(1000, kThreads)", 8),
        ("up(1000, WARP)", 32),
        ("sizeof(float) * WARP", 128),
        ("sizeof(float4)", 16),
        ("static_cast<int>(8ull) + (int)4 + int(2)", 14),
        ("std::max(kWarps, 2) * min(3, 4)", 12),
        ("'a'", 97),
        ("true + false", 1),
        ("blockDim.x", None),
        ("n * 2", None),
        ("1 / 0", None),
        ("1 << 100", None),
        ("1 +", None),
        ("", None),
        ("1.5", None),
        ("circle", None),
        ("LOOPED", None),
        ("(" * 500 + "1" + ")" * 500, None),
    ],
)
def test_values(expression, value):
    assert evaluate(expression, ENVIRONMENT) == value


def test_given_values_outrank_the_source():
    assert evaluate("n + kWarps", ENVIRONMENT.given({"n": 10, "kWarps": 1})) == 11


NUMBERS = st.integers(0, 1000).map(str)
EXPRESSIONS = st.recursive(
    NUMBERS,
    lambda inner: st.tuples(inner, st.sampled_from(["+", "-", "*", "<", "==", "&", "|"]), inner).map(
        "({0[0]} {0[1]} {0[2]})".format
    ),
)


@given(EXPRESSIONS)
def test_agrees_with_python_where_the_two_languages_agree(expression):
    assert evaluate(expression, Environment()) == int(eval(expression))


@given(st.text("0123456789+-*/%()<>=!&|^~?:, kUP", max_size=30))
def test_never_raises(expression):
    evaluate(expression, ENVIRONMENT)
