"""half_refused.cu in Triton, lowered by porter 0.1.0 (source 2183a2e69fd24d34)."""

import triton
import triton.language as tl


@triton.jit
def doubled(x, n: tl.int32, BLOCK_SIZE: tl.constexpr):
    tid = tl.arange(0, BLOCK_SIZE)
    i = tl.program_id(0) * BLOCK_SIZE + tid
    mask = i < n
    value = tl.load(x + i, mask=mask)
    tl.store(x + i, value * 2.0, mask=mask)


def launch_doubled(x, n):
    # half_refused.cu:11
    doubled[(triton.cdiv(n, 64),)](x, n, BLOCK_SIZE=64, num_warps=1)
