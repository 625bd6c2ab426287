"""Which C++ a source is written in."""

import pytest

from porter.source.standard import standard


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("template <class T> concept Number = true;", "c++20"),
        ("template <class T> requires (sizeof(T) == 4) __global__ void k(T* x);", "c++20"),
        ("#pragma once\n# include <span>\n", "c++20"),
        ("// requires n % 4 == 0\n/* a concept car */ int requirements;", "c++17"),
        ("#include <vector>\nvoid f();", "c++17"),
    ],
)
def test_of_a_text(text, found):
    assert standard(["", text]) == found
