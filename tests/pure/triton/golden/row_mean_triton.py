"""row_mean.cu in Triton, lowered by porter 0.1.0 (source 22aedca72cd2ebb9)."""

import triton
import triton.language as tl


@triton.jit
def row_mean(in_, out, columns: tl.int32, BLOCK_SIZE: tl.constexpr):
    tid = tl.arange(0, BLOCK_SIZE)
    pid = tl.program_id(0)
    row = in_ + (pid * columns).to(tl.uint32)
    sum_rows = tl.zeros([4, BLOCK_SIZE], tl.float32)
    ahead = tl.arange(0, 4)[:, None] * BLOCK_SIZE
    # line 8: 4 iterations at a time
    for tile in range(0, columns, 4 * BLOCK_SIZE):
        start = tile + ahead
        i = start + tid
        mask = i < columns
        value = tl.load(row + i, mask=mask, other=0.0)
        sum_rows = sum_rows + value
    value_2 = tl.sum(sum_rows)
    tl.store(out + pid, tl.div_rn(value_2, columns.to(tl.float32)))


def launch_row_mean(in_, out, rows, columns, stream):
    # row_mean.cu:18-20
    row_mean[(rows,)](in_, out, columns, BLOCK_SIZE=128, num_warps=2)
