"""row_mean.cu in Triton, lowered by porter 0.1.0 (source 22aedca72cd2ebb9)."""

import triton
import triton.language as tl


@triton.jit
def row_mean(
    in_,
    out,
    columns: tl.int32,
    BLOCK_SIZE: tl.constexpr,
):
    tid = tl.arange(0, BLOCK_SIZE)
    row = in_ + (tl.program_id(0) * columns).to(tl.uint32)
    sum_ = tl.zeros([BLOCK_SIZE], tl.float32)
    for i_base in range(0, columns, BLOCK_SIZE):
        i = i_base + tid
        mask = i < columns
        sum_ = tl.where(mask, sum_ + tl.load(row + i, mask=mask), sum_)
    partial = sum_
    half = BLOCK_SIZE // 2
    while half > 0:
        mask_2 = tid < half
        partial = tl.where(
            mask_2,
            partial
            + tl.gather(partial, tl.where(mask_2, (tid + half).to(tl.uint32).to(tl.int32), 0), 0),
            partial,
        )
        half = half // 2
    tl.store(
        out + tl.program_id(0),
        tl.sum(tl.gather(partial, tl.full([1], 0, tl.int32), 0), axis=0) / columns,
    )


def launch_row_mean(in_, out, rows, columns, stream):
    # row_mean.cu:18-20
    row_mean[(rows,)](in_, out, columns, BLOCK_SIZE=128, num_warps=2)
