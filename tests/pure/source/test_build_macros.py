"""Macros that a build sets, told by what headers hold without them."""

from pathlib import Path

import pytest

from porter.source.build_macros import macros_of_build
from porter.source.parse import parse
from porter.source.text import Source

USES = '#include "math.cuh"\n__global__ void k(point* p, real3* q) { p[0].x = WIDTH; }\n'


def wanted(header, source=USES, **others):
    texts = {"math.cuh": header, **{f"{name}.h": text for name, text in others.items()}}

    def find(name, _):
        return Source(Path(name), texts[name]) if name in texts else None

    return macros_of_build(parse(Source(Path("op.cu"), source), headers=find))


@pytest.mark.parametrize(
    "header",
    [
        "#pragma once\n#ifdef WITH_CUDA\n#include <stdint.h>\ntypedef short3 point;\n#endif\n",
        "#ifndef MATH_H\n#define MATH_H\n#if defined(WITH_CUDA)\nstruct point { int x; };\n#endif\n#endif\n",
        "#ifdef WITH_CUDA\n#define WIDTH 4\nint f();\n#endif\n",
    ],
)
def test_what_stands_around_all_of_a_header_that_is_used_is_set(header):
    assert wanted(header) == ("WITH_CUDA",)


@pytest.mark.parametrize(
    "header",
    [
        "#ifdef WITH_CUDA\ntypedef short3 unused;\n#endif\n",
        "#ifdef _WIN32\ntypedef short3 point;\n#endif\n",
        "typedef short3 point;\n#ifdef WITH_CUDA\ntypedef float3 real3;\n#endif\n",
        "#define WITH_CUDA\n#ifdef WITH_CUDA\ntypedef short3 point;\n#endif\n",
        "#ifdef WITH_CUDA\ntypedef unsigned int uint;\n#endif\n",
        "",
    ],
)
def test_what_may_compile_without_it_sets_nothing(header):
    assert wanted(header) == ()


def test_what_another_header_declares_sets_nothing():
    other = '#include "types.h"\n' + USES
    assert wanted("#ifdef USE_HIP\nstruct point { int x; };\n#endif\n", other, types="struct point { int x; };\n") == ()
