# ruff: noqa: ANN001, ANN201 - Triton reads annotations as its own
# mypy: ignore-errors
"""What atomic operations give back, where the threads of a block act on an array of their own one after the other."""

import triton
import triton.language as tl


@triton.jit
def earlier_sum(index, value, active):
    """For each thread the sum of the values of the active threads before it that have the same index."""
    threads: tl.constexpr = index.shape[0]
    order = tl.arange(0, threads)
    before = (index[:, None] == index[None, :]) & (order[None, :] < order[:, None]) & active[None, :]
    return tl.sum(tl.where(before, value[None, :], 0).to(value.dtype), 1).to(value.dtype)
