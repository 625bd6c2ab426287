"""row_mean.cu in Triton, lowered by porter 0.1.0 (source 22aedca72cd2ebb9)."""

import triton
import triton.language as tl


@triton.jit
def row_mean(in_, out, columns: tl.int32, BLOCK_SIZE: tl.constexpr):
    # lifted: shared tree, lines 11-13
    tid = tl.arange(0, BLOCK_SIZE)
    # row_mean.cu:6-7
    row = in_ + (tl.program_id(0) * columns).to(tl.uint32)
    # row_mean.cu:8, 4 turns at a time
    ahead = tl.arange(0, 4)[:, None] * BLOCK_SIZE
    sum_turns = tl.zeros([4, BLOCK_SIZE], tl.float32)
    for i_tile in range(0, columns, 4 * BLOCK_SIZE):
        i_base = i_tile + ahead
        i = i_base + tid
        sum_turns = sum_turns + tl.load(row + i, mask=i < columns, other=0.0)
    # row_mean.cu:11-15
    partial_sum = tl.sum(sum_turns)
    tl.store(out + tl.program_id(0), tl.div_rn(partial_sum, columns.to(tl.float32)))


def launch_row_mean(in_, out, rows, columns, stream):
    # row_mean.cu:18-20
    row_mean[(rows,)](in_, out, columns, BLOCK_SIZE=128, num_warps=2)
