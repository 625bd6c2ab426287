"""Numbers that the C++ library names or computes in launchers, and the messages that are made of them."""

import math

import pytest

from porter_triton.host.codes import Code, Kind
from porter_triton.host.table import table
from porter_triton.refusal import Refusal
from tests.pure.triton.host_sources import body, translated


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("std::numeric_limits<float>::max()", "3.4028234663852886e+38"),
        ("std::numeric_limits<float>::lowest()", "-3.4028234663852886e+38"),
        ("-std::numeric_limits<float>::infinity()", "-math.inf"),
        ("std::numeric_limits<double>::min()", "2.2250738585072014e-308"),
        ("std::numeric_limits<double>::epsilon()", "2.220446049250313e-16"),
        ("2.0 * std::asin(1.0)", "2.0 * math.asin(1.0)"),
        ("2.0 * round(0.5 * n)", "2.0 * (math.trunc(2 * (0.5 * n)) - math.trunc(0.5 * n))"),
        ("2.0 / rsqrtf(n)", "2.0 / (1.0 / math.sqrt(n))"),
        ("std::max(0.5f, 1.5f)", "1.5"),
        ("std::min(-0.5f, 1.5f)", "-0.5"),
    ],
)
def test_a_number_of_the_library_is_that(given, text):
    assert f"scale[(1,)](y, x, {text}, n," in body(f"scale<<<1, 64>>>(y, x, {given}, n);")


@pytest.mark.parametrize(
    ("number", "whole"), [(2.5, 3), (-2.5, -3), (2.4, 2), (-0.4, 0), (0.49999999999999994, 0), (2.0**53 + 2, 2**53 + 2)]
)
def test_halves_are_rounded_away_from_zero(number, whole):
    rule = table().numbers["round"]
    assert eval(rule.apply(None, (Code("a", Kind.FLOAT),)).text, {"math": math, "a": number}) == whole


def test_what_is_written_into_characters_is_no_part_of_a_message():
    found = body("""char text[64] = {};
        sprintf(text, "%d elements", n);
        if (n < 0) throw std::runtime_error(text);""")
    assert found == 'if n < 0:\n    raise RuntimeError("failed")'


HANDLES = """
#define CHECKED(x) TORCH_CHECK(x.is_cuda(), "device"); if (!x.is_contiguous()) { x = x.contiguous(); }
torch::Tensor f(torch::Tensor& x, const float& a) {
  CHECKED(x);
  auto y = torch::zeros_like(x.data());
  scale<<<1, 64>>>(y.data_ptr<float>(), x.data_ptr<float>(), a, x.numel());
  return y;
}
"""


def test_a_tensor_that_only_python_hands_over_may_be_set_again():
    assert "if not x.is_contiguous():\n        x = x.contiguous()" in translated(HANDLES)


def test_a_tensor_that_the_source_hands_over_may_not():
    with pytest.raises(Refusal, match="'x' sets a variable of another function"):
        translated(f"{HANDLES} torch::Tensor g(torch::Tensor x) {{ auto y = f(x, 1.f); return x + y; }}")
