"""Explicit instantiations say the arguments of a template."""

from pathlib import Path

import pytest

from porter.source.instantiate import explicit_arguments
from porter.source.parse import parse
from porter.source_text import Source

LAUNCHERS = """\
template <typename T> void scale(T* x, const T* __restrict__ by, const std::vector<T>& more, int n) {}
template <typename T, int N> void widen(Vec<T, N>& v, T out[], unsigned m) {}
template <typename T, typename U = float> void pair(T x, U* y) {}
template <typename T> void plus(T* x) {}
"""


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("void scale(float* x, const float* by, const std::vector<float>& more, int n)", [("float",), (), (), ()]),
        ("void scale(unsigned int*, unsigned int const*, std::vector<unsigned> const&, int)", [("unsigned int",)]),
        ("void widen(Vec<c10::Half, 8>& v, c10::Half out[4], unsigned)", [(), ("c10::Half", "8")]),
        ("void pair(float* x, double* y)", [(), (), ("float*", "double")]),
        ("void pair<int>(int x, float* y)", [(), (), ("int", "float")]),
        ("void plus(double* x)", [(), (), (), ("double",)]),
    ],
)
def test_an_explicit_instantiation_without_arguments_says_them_by_its_types(written, expected):
    program = parse(Source(Path("x.cu"), LAUNCHERS + f"template {written};\n"))
    found = [explicit_arguments(program, f) for f in program.host_functions]
    assert found == [((e,) if e else ()) for e in (*expected, *[()] * 4)][:4]
