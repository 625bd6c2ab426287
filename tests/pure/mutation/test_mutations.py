"""Each kind of mutation changes one place of a port, gives a text that parses, and is the same every time."""

import ast
from pathlib import Path

import pytest

from benchmarks.mutation import cpp_mutations, python_mutations
from benchmarks.mutation.mutation import Kind, Mutation, chosen
from porter.warp.tree import root_of

TRITON = '''"""A port."""

import torch
import triton
import triton.language as tl


@triton.jit
def total(x, y, rows: tl.int32, n: tl.int64, BLOCK: tl.constexpr):
    """Rows of x, summed."""
    row = tl.program_id(0)
    tid = tl.arange(0, BLOCK)
    acc = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tid
        inside = i < n
        v = tl.load(x + row * n + i, mask=inside & (row < rows), other=-1.0)
        acc = acc + tl.where(inside, v, 0.0)  # é: a column of ast counts bytes, one of the text characters
    tl.store(y + row, tl.maximum(tl.sum(acc, axis=0) / 3.5, -n))


def forward(x):
    if not x.dim() >= 2:
        raise RuntimeError("x must have 2 axes")
    x = x.contiguous()
    rows, n = x.shape
    y = torch.empty(rows, dtype=torch.float32)
    if x.dtype == torch.float32:
        total[(triton.cdiv(rows, 1),)](x, y, rows, n, BLOCK=128, num_warps=4)
    return y
'''
CUDA = """\
__device__ float larger(float a, float b) { return a > b ? a : b; }

template <int W>
__global__ void total(const float* __restrict__ x, float* y, int rows, int n) {
    __shared__ float part[32];
    int row = blockIdx.x;
    float acc = 0.0f;
#pragma unroll 4
    for (int i = threadIdx.x; i < n; i += blockDim.x) acc += x[row * n + i] * 2.5f;
    part[threadIdx.x] = fmaxf(acc, -1.0f);
    __syncthreads();
    if (threadIdx.x == 0) y[row] = larger(acc, part[0]) + static_cast<float>(W);
}

void launch(const float* x, float* y, int rows, int n) {
    int blocks = rows;
    total<4><<<blocks, 32>>>(x, y, rows, n);
}
"""
EVERY = {
    "triton": (TRITON, python_mutations.mutations, frozenset(Kind)),
    "maca": (CUDA, cpp_mutations.mutations, frozenset(Kind) - {Kind.MASK, Kind.DTYPE}),
}


@pytest.fixture(params=EVERY)
def port(request):
    return EVERY[request.param]


def test_every_kind_is_found(port):
    text, mutations, kinds = port
    assert {mutation.kind for mutation in mutations(text)} == kinds


def test_a_mutation_changes_its_place_and_nothing_else(port):
    text, mutations, _ = port
    for mutation in mutations(text):
        mutant = mutation.applied(text)
        assert mutant != text
        assert mutant.startswith(text[: mutation.start])
        assert mutant.endswith(text[mutation.end :])
        assert len(mutant) == len(text) - (mutation.end - mutation.start) + len(mutation.replacement)


def test_no_two_mutations_give_the_same_text(port):
    text, mutations, _ = port
    mutants = [mutation.applied(text) for mutation in mutations(text)]
    assert len(mutants) == len(set(mutants))


def test_mutants_of_a_module_parse_and_mean_something_else():
    original = ast.dump(ast.parse(TRITON))
    for mutation in python_mutations.mutations(TRITON):
        assert ast.dump(ast.parse(mutation.applied(TRITON))) != original, mutation


def test_mutants_of_a_source_parse():
    assert not root_of(CUDA).has_error
    for mutation in cpp_mutations.mutations(CUDA):
        assert not root_of(mutation.applied(CUDA)).has_error, mutation


def test_the_same_text_has_the_same_mutations(port):
    text, mutations, _ = port
    assert mutations(text) == mutations(text)


def replaced(text: str, mutations: tuple[Mutation, ...]) -> set[tuple[str, str]]:
    return {(text[m.start : m.end], m.replacement) for m in mutations}


@pytest.mark.parametrize(
    "change",
    [
        ("+", "-"), ("<", "<="), ("maximum", "minimum"), ("3.5", "7.0"), ("n", "(n) - 1"), ("-n", "(n)"),
        ("x + row * n + i", "(x + row * n)"), ("x + row * n + i", "x + row * n + i + 1"),
        ("inside & (row < rows)", "None"), ("inside & (row < rows)", "(inside)"), ("tl.float32", "tl.float16"),
        ("torch.float32", "torch.float16"), ("triton.cdiv(rows, 1)", "max(1, (triton.cdiv(rows, 1)) - 1)"),
        ("x = x.contiguous()", "pass"), ("v, 0.0", "0.0, v"), ("rows, n", "n, rows"), ("128", "256"),
        ("x.dtype == torch.float32", "False"),
    ],
)  # fmt: skip
def test_a_module_can_go_wrong_like_this(change):
    assert change in replaced(TRITON, python_mutations.mutations(TRITON))


@pytest.mark.parametrize(
    "change",
    [
        ("*", "+"), ("+=", "-="), ("<", "<="), ("fmaxf", "fminf"), ("2.5f", "5.0f"), ("n", "(n) - 1"),
        ("-1.0f", "(1.0f)"), ("row * n + i", "(row * n)"), ("threadIdx.x", "threadIdx.x + 1"),
        ("__syncthreads();", ";"), ("a : b", "b : a"), ("(threadIdx.x == 0)", "(false)"),
        ("blocks", "std::max<long long>(1, static_cast<long long>(blocks) - 1)"),
    ],
)  # fmt: skip
def test_a_source_can_go_wrong_like_this(change):
    assert change in replaced(CUDA, cpp_mutations.mutations(CUDA))


def test_what_no_answer_can_tell_is_left_alone():
    places = ('"""', "num_warps=4", "x.dim() >= 2", "x must have 2 axes", "(0, BLOCK)", "[BLOCK]", "rows: tl.int32")
    extents = [(TRITON.index(place), TRITON.index(place) + len(place)) for place in places]
    for mutation in python_mutations.mutations(TRITON):
        assert not any(start <= mutation.start and mutation.end <= end for start, end in extents), mutation


def test_extents_and_template_arguments_are_left_alone():
    assert not any(CUDA[m.start : m.end] in {"32", "4"} for m in cpp_mutations.mutations(CUDA))


def test_host_functions_of_a_source_change_in_their_launches_alone():
    host = CUDA.index("void launch")
    assert {m.kind for m in cpp_mutations.mutations(CUDA) if m.start > host} == {Kind.GRID}


def test_a_grid_that_cannot_be_too_small_is_left_alone():
    strided = TRITON.replace("row = tl.program_id(0)", "row = tl.program_id(0) % tl.num_programs(0)")
    assert Kind.GRID in {
        m.kind for m in python_mutations.mutations(TRITON) if m.replacement.startswith("max(1, (triton")
    }
    assert not any(m.replacement.startswith("max(1, (triton") for m in python_mutations.mutations(strided))
    strided = CUDA.replace("row = blockIdx.x", "row = blockIdx.x % gridDim.x")
    assert Kind.GRID not in {m.kind for m in cpp_mutations.mutations(strided)}
    by_macro = "#define ROW \\\n  (blockIdx.x % gridDim.x)\n" + CUDA.replace("row = blockIdx.x", "row = ROW")
    assert Kind.GRID not in {m.kind for m in cpp_mutations.mutations(by_macro)}


def test_kinds_take_turns():
    every = python_mutations.mutations(TRITON)
    kinds = len({m.kind for m in every})
    assert len({m.kind for m in chosen(every, "seed", kinds)}) == kinds


def test_the_choice_depends_on_the_seed_alone():
    every = python_mutations.mutations(TRITON)
    assert chosen(every, "1", 9) == chosen(reversed(every), "1", 9)
    assert chosen(every, "1", 9) != chosen(every, "2", 9)
    assert chosen(every, "1", 9) == chosen(every, "1", 12)[:9]
    assert sorted(chosen(every, "1", 10_000)) == list(every)


def test_a_change_is_shown_with_its_line():
    at = CUDA.index("acc += x")
    shown = Mutation(at + 4, at + 6, "-=", Kind.OPERATOR).shown(CUDA)
    line = CUDA[:at].count("\n") + 1
    assert shown.splitlines() == [
        f"@@ line {line}",
        "-    for (int i = threadIdx.x; i < n; i += blockDim.x) acc += x[row * n + i] * 2.5f;",
        "+    for (int i = threadIdx.x; i < n; i += blockDim.x) acc -= x[row * n + i] * 2.5f;",
    ]


def test_porters_own_operators_have_mutations_of_their_sources():
    kernel = Path(__file__).parents[3] / "op_suites/kernelbench/norm/rms_norm/kernel.cu"
    assert len(cpp_mutations.mutations(kernel.read_text())) > 20
