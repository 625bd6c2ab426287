import pytest


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('asm("mov.u32 %0, %%laneid;" : "=r"(lane));', "lane = warp32::lane();"),
        ('asm volatile("mov.u32 %0, %laneid;" : "=r"(lane));', "lane = warp32::lane();"),
        ('asm("mov.u32 %0, %%lanemask_lt;" : "=r"(m));', "m = (1u << warp32::lane()) - 1;"),
        ('asm("mov.u32 %0, %%lanemask_ge;\\n" : "=r"(m));', "m = ~0u << warp32::lane();"),
        ('asm volatile("activemask.b32 %0;" : "=r"(m));', "m = warp32::bits(__activemask());"),
        ('asm volatile("bar.warp.sync %0;" :: "r"(m) : "memory");', "__syncwarp(warp32::lanes(m));"),
        (
            'asm("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(y) : "r"(x), "r"(o));',
            "y = __shfl_xor_sync(warp32::lanes(0xffffffff), x, o, 32);",
        ),
        (
            'asm("redux.sync.max.s32 %0, %1, %2;" : "=r"(y) : "r"(x), "r"(mask));',
            "y = __reduce_max_sync(warp32::lanes(mask), x);",
        ),
    ],
)
def test_ptx_of_the_warp_is_said_for_32_lanes(before, after, ported):
    assert ported(f"__device__ void f() {{ {before} }}") == f"__device__ void f() {{ {after} }}"


@pytest.mark.parametrize(
    "text",
    [
        'asm("mov.u32 %0, %%smid;" : "=r"(x));',
        'asm("{ .reg .pred p; shfl.sync.up.b32 %0|p, %1, %2, 0, -1; @p add.u32 %0, %0, %1; }" : "=r"(y) : "r"(x));',
        'asm("shfl.sync.idx.b32 %0, %1, 0, 0x181f, -1;" : "=r"(y) : "r"(x));',
        'asm("redux.sync.max.u32 %0, %1, -1;" : "=r"(y) : "r"(f(warpSize)));',
    ],
)
def test_other_ptx_is_left_to_the_rules_for_ptx(text, ported):
    assert 'asm("' in ported(f"__device__ void f() {{ {text} }}")
