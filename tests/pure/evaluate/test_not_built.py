"""A source that does not build is told from an entry that cannot be called."""

from dataclasses import replace
from pathlib import Path

import pytest

from porter.contract.infer.draft import draft
from porter.contract.model.contract import Question
from porter.evaluate.reference.doubt import not_built
from porter.execution.job import BuildFailure
from porter.source.parse import parse
from porter.source_text import Source

TEXT = """
struct S { int n; };
__global__ void k(S s, float* x) { x[0] = s.n; }
void f(S s, float* x) { k<<<1, 1>>>(s, x); }
"""


def test_an_entry_without_values_leaves_the_contract_open():
    program = parse(Source(Path("k.cu"), TEXT))
    (contract,) = draft(program)
    asked = replace(contract, questions=(Question("s", "'s' has the type S", "--contract"),))
    uncallable = BuildFailure("f cannot be called: no matching function", "k.cu", 0, "")
    because = not_built(uncallable, asked, program)
    assert because.startswith("the contract is open: 's' has the type S (--contract)")
    assert because.endswith(uncallable.message)


def test_an_error_in_the_source_is_the_sources():
    program = parse(Source(Path("k.cu"), TEXT))
    (contract,) = draft(program)
    asked = replace(contract, questions=(Question("s", "'s' has the type S", "--contract"),))
    failure = BuildFailure("'y' was not declared in this scope", "k.cu", 2, "")
    expected = "the CUDA source itself does not compile: k.cu:2: 'y' was not declared in this scope"
    assert not_built(failure, asked, program) == expected


def test_a_kernel_that_lacks_a_header_and_values_is_told_of_both():
    program = parse(Source(Path("k.cu"), TEXT))
    (contract,) = draft(program)
    asked = replace(contract, questions=(Question("s", "'s' has the type S", "--contract"),))
    because = not_built(BuildFailure("vision.hpp: No such file or directory", "k.cu", 1, ""), asked, program)
    assert because.startswith("the contract is open: 's' has the type S (--contract)")
    assert because.endswith("k.cu:1: vision.hpp: No such file or directory")


def test_a_missing_header_is_to_blame_and_no_launch_that_was_guessed():
    program = parse(Source(Path("k.cu"), "__global__ void k(float* x) { x[threadIdx.x] = SIZE; }"))
    (contract,) = draft(program)
    failure = BuildFailure("sizes.h: No such file or directory", "k.cu", 1, "", "k.cu:2: 'SIZE' was not declared")
    assert contract.questions
    assert not_built(failure, contract, program) == (
        "the CUDA source itself does not compile: k.cu:1: sizes.h: No such file or directory; "
        "without that header k does not compile alone: k.cu:2: 'SIZE' was not declared"
    )


def test_a_template_that_does_not_compile_with_a_guessed_function_object_leaves_the_contract_open():
    program = parse(
        Source(Path("k.cu"), "template <typename F> __global__ void k(F f, float* x) { x[threadIdx.x] = f(1.0f); }")
    )
    (contract,) = draft(program)
    because = not_built(BuildFailure("'f' cannot be used as a function", "k.cu", 1, ""), contract, program)
    assert because.startswith("the contract is open: 'f' is an object of the type F that is called")
    assert because.endswith("k.cu:1: 'f' cannot be used as a function")


def test_macros_that_the_build_sets_for_more_headers_are_named():
    text = """#ifdef WITH_CUDA
#include "utils.h"
#endif
#if defined(WITH_HIP)
  #include <hip_utils.h>
#endif
#if defined __CUDACC__
#include <cuda_fp16.h>
#endif
#ifdef FAST
#define STEP 4
#endif
using namespace utils;
__global__ void k(int* x) { *x = 1; }
"""
    failure = BuildFailure("'utils' is not a namespace-name", "k.cu", 13, "")
    for defines, named in (((), "WITH_CUDA or WITH_HIP"), (("WITH_CUDA=1",), "WITH_HIP")):
        program = parse(Source(Path("k.cu"), text), defines=defines)
        (contract,) = draft(program)
        assert not_built(failure, contract, program).endswith(f"; it includes more with {named} (--define)")


@pytest.mark.parametrize(
    ("guard", "hint"),
    [
        ("#ifdef WITH_SUMS", "; it includes more with WITH_SUMS (--define)"),
        ("#ifndef SUMS_H\n#define SUMS_H", ""),
    ],
)
def test_the_macro_under_which_a_header_has_what_is_not_declared_is_named(guard, hint):
    header = Source(Path("sums.h"), f"{guard}\nnamespace sums {{ __device__ int add(int a, int b); }}\n#endif\n")
    text = '#include "sums.h"\nusing sums::add;\n__global__ void k(int* x) { *x = add(*x, 1); }\n'
    program = parse(Source(Path("k.cu"), text), headers=lambda name, _: header if name == "sums.h" else None)
    (contract,) = draft(program)
    failure = BuildFailure("\u2018add\u2019 has not been declared in \u2018sums\u2019", "k.cu", 2, "")
    assert not_built(failure, contract, program).endswith(f"has not been declared in \u2018sums\u2019{hint}")
