"""Which rules apply to which kernels, and which kernels are left alone."""

from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source.text import Source
from porter.syntax.read import read_unit
from porter_triton.lift import RULES, lift
from tests.pure.triton.lift_sources import BLOCK_MAX, LEFT_ALONE, LIFTED, source
from tests.pure.triton.pointed_sources import FOLD, ROWS
from tests.pure.triton.pointed_sources import LEFT_ALONE as LEFT_BY_POINTERS


def lifted(before, body, block=(128, 1, 1)):
    unit = read_unit(parse(Source(Path("k.cu"), source(before, body))))
    (kernel,) = unit.kernels
    return lift(unit, kernel, block), kernel


@pytest.mark.parametrize(("name", "rules", "before", "body"), LIFTED, ids=lambda v: v if isinstance(v, str) else "")
def test_a_spelling_is_recognised(name, rules, before, body):
    found, kernel = lifted(before, body)
    assert [applied.rule for applied in found.applied] == rules, name
    assert found.kernel is not kernel or before


@pytest.mark.parametrize(("name", "before", "body"), LEFT_ALONE, ids=[name for name, _, _ in LEFT_ALONE])
def test_what_is_not_certain_is_left_alone(name, before, body):
    found, kernel = lifted(before, body)
    assert found.applied == (), name
    assert found.kernel is kernel


@pytest.mark.parametrize(("name", "before", "body"), LEFT_BY_POINTERS, ids=[n for n, _, _ in LEFT_BY_POINTERS])
def test_what_a_pointer_leads_to_is_left_alone_where_it_is_not_certain(name, before, body):
    found, kernel = lifted(before, body)
    assert not [applied for applied in found.applied if applied.function == "k"], name
    assert found.kernel is kernel


def test_every_rule_has_a_case():
    assert {rule.name for rule in RULES} == {rule for _, rules, _, _ in LIFTED for rule in rules}


@pytest.mark.parametrize("block", [(96, 1, 1), (128, 2, 1), (None, 1, 1)])
def test_a_tree_is_lifted_only_for_a_known_power_of_two(block):
    (_, _, before, body) = LIFTED[0]
    assert lifted(before, body, block)[0].applied == ()


def test_the_lines_of_what_was_lifted_are_told():
    text = (
        "int t = threadIdx.x;\nfloat v = x[t];\nfor (int m = 16; m > 0; m >>= 1)\n  v += __shfl_xor_sync(~0u, v, m);\n"
    )
    (applied,) = lifted("", text + "out[t] = v;")[0].applied
    assert (applied.function, applied.first, applied.last) == ("k", 4, 5)


def of_sizes(sizes, before=ROWS):
    unit = read_unit(parse(Source(Path("k.cu"), source(before, SUMS))))
    found = lift(unit, unit.kernels[0], (None, 1, 1), sizes=sizes)
    return [applied.rule for applied in found.applied if applied.function == "k"]


SUMS = """
    int t = threadIdx.x;
    float a[2] = {x[t], 1.0f};
    block_rows<float, 2>(a);
    if (t == 0) out[blockIdx.x] = a[0] + a[1];
"""


@pytest.mark.parametrize("sizes", [tuple(range(32, 1025, 32)), (32, 48, 64)])
def test_a_reduction_is_told_for_all_sizes_that_a_block_may_have(sizes):
    assert of_sizes(sizes) == [FOLD]


def test_no_reduction_is_told_where_one_size_is_none():
    assert of_sizes((64, 2048)) == []
    assert of_sizes((32, 48, 64), ROWS.replace("32.f", "32")) == []


def test_blocks_of_any_size_are_whole_warps_where_all_threads_exchange_first():
    assert of_sizes(()) == of_sizes((), ROWS.replace("32.f", "32")) == [FOLD]


@pytest.mark.parametrize(
    "condition", ["if (blockDim.x % 32 == 0)", "if (threadIdx.x < 32)", "for (int i = 0; i < 1; ++i)"]
)
def test_where_only_some_exchange_first_a_block_may_have_any_size(condition):
    first = ROWS.replace("    warp_rows<T, N>(v);\n    if", f"    {condition} warp_rows<T, N>(v);\n    if")
    assert first != ROWS
    assert of_sizes((), first) == []


def kernel_of(sizes):
    body = "float v = x[threadIdx.x]; out[threadIdx.x] = block_max(v);"
    unit = read_unit(parse(Source(Path("k.cu"), source(BLOCK_MAX, body))))
    return repr(lift(unit, unit.kernels[0], (None, 1, 1), sizes=sizes).kernel.body)


def test_a_block_without_idle_lanes_has_none_of_what_they_have():
    assert "block_max" in kernel_of((512,))
    assert "Choice" not in kernel_of((512,))
    assert "Choice" in kernel_of((512, 1024))
    assert "block_max" in kernel_of((1024,))
    assert "-1e+20" not in kernel_of((1024,))
