"""Parameters of windows that slide over planes are told by where they stand, and are no sizes."""

from pathlib import Path

import pytest

from porter.contract.infer.draft import draft
from porter.contract.model.contract import ScalarArg
from porter.source.parse import parse
from porter.source_text import Source

KERNEL = """
__global__ void pool(const float* x, float* y, int H, int O, int a, int b, int c, int total) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= total) return;
    float s = 0.0f;
    for (int j = 0; j < a; ++j) { int h = i % O * b - c + j; if (h >= 0 && h < H) s += x[i / O * H + h]; }
    y[i] = s;
}
"""


@pytest.mark.parametrize(
    ("fitting", "values"),
    [
        ("(H + 2 * p - k) / s + 1", {"k": "3", "s": "2", "p": "1"}),
        ("(H + 2 * p - e * (k - 1) - 1) / s + 1", {"k": "3", "s": "2", "p": "1", "e": "1"}),
        ("(H - k) / s + 1", {"k": "3", "s": "2"}),
    ],
)
def test_they_have_customary_values(fitting, values):
    parameters = ", ".join(f"int {name}" for name in values)
    launcher = f"""
    void forward(const float* x, float* y, int N, int H, {parameters}) {{
        int O = {fitting}, total = N * O;
        pool<<<(total + 255) / 256, 256>>>(x, y, H, O, k, s, {"p" if "p" in values else "0"}, total);
    }}"""
    (contract,) = draft(parse(Source(Path("op.cu"), KERNEL + launcher)))
    assert contract.symbols == ("N", "H")
    scalars = {a.name: a.value for a in contract.arguments if isinstance(a, ScalarArg)}
    assert {name: scalars[name] for name in values} == values


@pytest.mark.parametrize(
    ("name", "value"), [("radius", "1"), ("blurRadius", "1"), ("radX", "1"), ("half_window", "1"), ("filterSize", "3")]
)
def test_names_of_windows_are_told_whatever_their_spelling(name, value):
    launcher = f"""
    void forward(const float* x, float* y, int N, int H, int {name}) {{
        pool<<<(N * H + 255) / 256, 256>>>(x, y, H, H, 2 * {name} + 1, 1, {name}, N * H);
    }}"""
    (contract,) = draft(parse(Source(Path("op.cu"), KERNEL + launcher)))
    assert contract.symbols == ("N", "H")
    assert next(a.value for a in contract.arguments if a.name == name) == value


def test_what_rounds_a_share_up_is_a_size():
    launcher = """
    void forward(const float* x, float* y, int N, int H, int part) {
        int parts = (H - 1) / part + 1;
        pool<<<N, 256>>>(x, y, H, parts, part, part, 0, N * parts);
    }"""
    (contract,) = draft(parse(Source(Path("op.cu"), KERNEL + launcher)))
    assert contract.symbols == ("N", "H", "part")
