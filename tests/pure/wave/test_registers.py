import pytest


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('asm("mov.u32 %0, %%laneid;" : "=r"(lane));', "lane = warp32::lane();"),
        ('asm volatile("mov.u32 %0, %laneid;" : "=r"(lanes[i(2)]));', "lanes[i(2)] = warp32::lane();"),
        ('asm("mov.u32 %0, %%lanemask_lt;" : "=r"(m));', "m = (1u << warp32::lane()) - 1;"),
        ('__asm__ __volatile__("mov.u32 %0, %%lanemask_ge;\\n" : "=r" (m));', "m = ~0u << warp32::lane();"),
    ],
)
def test_register_of_the_warp_is_said_for_32_lanes(before, after, ported, codes):
    text = f"__device__ void f() {{ {before} }}"
    assert ported(text) == f"__device__ void f() {{ {after} }}"
    assert codes(text) == ["PORT1007"]


@pytest.mark.parametrize(
    "text",
    [
        'asm("mov.u32 %0, %%smid;" : "=r"(x));',
        'asm("mov.u32 %0, %1;" : "=r"(x) : "r"(y));',
        'asm("{ .reg .u32 l; mov.u32 l, %%laneid; add.u32 %0, l, 1; }" : "=r"(x));',
        'asm("shfl.sync.idx.b32 %0, %1, 0, 0x1f, -1;" : "=r"(y) : "r"(x));',
    ],
)
def test_other_ptx_is_left_to_the_table_of_instructions(text, ported):
    assert ported(f"__device__ void f() {{ {text} }}") == f"__device__ void f() {{ {text} }}"


def test_a_target_that_needs_the_rewrite_itself_does_not_clash(ported):
    text = '__device__ void f() { asm("mov.u32 %0, %%laneid;" : "=r"(x[t % warpSize])); }'
    assert ported(text) == text.replace("warpSize", "warp32::size")
