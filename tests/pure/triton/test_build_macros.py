"""Macros that a build sets decide what a port is made of, in headers, too."""

from pathlib import Path

from porter.source.parse import parse
from porter.source_text import Source
from porter_triton.port import port

HEADER = Source(
    Path("wide.h"),
    "#if defined(WITH_WIDE)\ntemplate <typename T> struct Wide { using type = float; };\n#endif\n",
)
KERNEL = """#include "wide.h"
#ifndef FACTOR
#define FACTOR 2
#endif
__global__ void k(float* y) { typename Wide<float>::type a = FACTOR; y[threadIdx.x] *= a; }
void f(float* y) { k<<<1, 32>>>(y); }
"""


def test_a_macro_of_the_build_brings_in_types_and_numbers():
    source = Source(Path("op.cu"), KERNEL)
    defines = ("WITH_WIDE", "FACTOR=3")
    program = parse(source, headers=lambda name, _: HEADER if name == "wide.h" else None, defines=defines)
    assert program.defines == defines
    made = port(program, (HEADER,))
    assert not made.findings, made.findings
    assert "3.0" in made.files[0].text


def test_a_name_that_nobody_declares_names_the_option_that_supplies_it():
    text = """__global__ void k(float* y) { y[threadIdx.x] *= LENGTH; }
void f(float* y) { k<<<1, THREADS>>>(y); }
"""
    messages = "\n".join(f.message for f in port(parse(Source(Path("op.cu"), text)), ()).findings)
    assert "'THREADS' is not known: if the build defines it, say so with --define THREADS=VALUE" in messages
    defined = parse(Source(Path("op.cu"), text), defines=("THREADS=64",))
    (finding,) = port(defined, ()).findings
    assert "--define LENGTH=VALUE" in finding.message


def test_a_variable_that_the_source_declares_comes_from_no_build():
    text = """static int sizes[2][1] = {{32}, {64}};
__global__ void k(float* y) { y[threadIdx.x] = 1.0f; }
void f(float* y, int i) { k<<<1, sizes[i][0]>>>(y); }
"""
    (finding,) = port(parse(Source(Path("op.cu"), text)), ()).findings
    assert "'sizes' is not known" in finding.message
    assert "--define" not in finding.message
