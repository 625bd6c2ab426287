"""Ports of one launcher, wrong in ways of their own but the first three: run by tests, never imported here."""

import torch
import triton
import triton.language as tl


@triton.jit
def smooth(x, y, n, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    inside = i < n
    before = tl.load(x + i - 1, mask=inside & (i > 0), other=0.0)
    tl.store(y + i, 2.0 * tl.load(x + i, mask=inside) + before, mask=inside)


@triton.jit
def smooth_without_other(x, y, n, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    inside = i < n
    before = tl.load(x + i - 1, mask=inside & (i > 0))
    tl.store(y + i, 2.0 * tl.load(x + i, mask=inside) + before, mask=inside)


@triton.jit
def smooth_without_mask(x, y, n, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    inside = i < n
    before = tl.where(i > 0, tl.load(x + i - 1, mask=inside), 0.0)
    tl.store(y + i, 2.0 * tl.load(x + i, mask=inside) + before, mask=inside)


@triton.jit
def smooth_through_memory(x, y, n, block: tl.constexpr):
    lane = tl.arange(0, block)
    i = tl.program_id(0) * block + lane
    inside = i < n
    tl.store(y + i, tl.load(x + i, mask=inside), mask=inside)
    before = tl.load(y + i - 1, mask=inside & (lane > 0), other=0.0)
    before += tl.load(x + i - 1, mask=inside & (i > 0) & (lane == 0), other=0.0)
    tl.debug_barrier()
    tl.store(y + i, 2.0 * tl.load(x + i, mask=inside) + before, mask=inside)


@triton.jit
def smooth_in_place(y, n, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    inside = i < n
    before = tl.load(y + i - 1, mask=inside & (i > 0), other=0.0)
    value = 2.0 * tl.load(y + i, mask=inside) + before
    tl.debug_barrier()
    tl.store(y + i, value, mask=inside)


@triton.jit
def smooth_added(x, y, n, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    inside = i < n
    before = tl.load(x + i - 1, mask=inside & (i > 0), other=0.0)
    tl.atomic_add(y + i, 2.0 * tl.load(x + i, mask=inside) + before, mask=inside)


@triton.jit
def smooth_in_turns(x, y, n: tl.uint64, block: tl.constexpr, down: tl.constexpr):
    step = tl.num_programs(0).to(tl.uint64) * block
    if down:
        step = -step
    for first in range(tl.program_id(0).to(tl.uint64) * block, n, step):
        i = first + tl.arange(0, block)
        inside = i < n
        before = tl.load(x + i - 1, mask=inside & (i > 0), other=0.0)
        tl.store(y + i, 2.0 * tl.load(x + i, mask=inside) + before, mask=inside)


@triton.jit
def smooth_in_a_list(x, y, n, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    inside = i < n
    parts = [2.0 * tl.load(x + i, mask=inside), tl.load(x + i - 1, mask=inside & (i > 0), other=0.0)]
    tl.store(y + i, sum(parts), mask=inside)


ANSWERS = {}


def right(x, y, n):
    smooth[(triton.cdiv(n, 512),)](x, y, n, block=512)


def right_in_blocks_of_another_size(x, y, n):
    smooth[(triton.cdiv(n, 256),)](x, y, n, block=256, num_warps=8)


def right_in_turns(x, y, n):
    smooth_in_turns[(2,)](x, y, n, block=64, down=False)


def a_loop_without_an_end(x, y, n):
    smooth_in_turns[(triton.cdiv(n, 64),)](x, y, n, block=64, down=True)


def dead_lanes_that_count(x, y, n):
    smooth_without_other[(triton.cdiv(n, 512),)](x, y, n, block=512)


def an_element_before_the_first(x, y, n):
    smooth_without_mask[(triton.cdiv(n, 512),)](x, y, n, block=512)


def lanes_in_an_order(x, y, n):
    smooth_through_memory[(triton.cdiv(n, 512),)](x, y, n, block=512)


def programs_in_an_order(x, y, n):
    y.copy_(x)
    smooth_in_place[(triton.cdiv(n, 512),)](y, n, block=512)


def fresh_memory_taken_for_zero(x, y, n):
    total = torch.empty_like(y)
    smooth_added[(triton.cdiv(n, 512),)](x, total, n, block=512)
    y.copy_(total)


def the_output_taken_for_zero(x, y, n):
    smooth_added[(triton.cdiv(n, 512),)](x, y, n, block=512)


def only_even_sizes(x, y, n):
    smooth[(triton.cdiv(n, 512),)](x, y, n - n % 2, block=512)


def only_one_block(x, y, n):
    smooth[(1,)](x, y, n, block=1024)


def only_whole_blocks(x, y, n):
    smooth[(max(1, n // 512),)](x, y, n, block=512)


def an_input_changed(x, y, n):
    smooth[(triton.cdiv(n, 512),)](x, y, n, block=512)
    x[0] = 0


def an_answer_kept(x, y, n):
    if n not in ANSWERS:
        smooth[(triton.cdiv(n, 512),)](x, y, n, block=512)
        ANSWERS[n] = y.clone()
    y.copy_(ANSWERS[n])


def half_the_precision(x, y, n):
    smooth[(triton.cdiv(n, 512),)](x, y, n, block=512)
    y.copy_(y.half())


def chance(x, y, n):
    smooth[(triton.cdiv(n, 512),)](x, y, n, block=512)
    y += torch.rand_like(y) * 1e-4


def an_empty_launch(x, y, n):
    smooth[(0,)](x, y, n, block=512)
    y.copy_(2 * x)
    y[1:] += x[:-1]


def a_tensor_of_the_host(x, y, n):
    smooth[(triton.cdiv(n, 512),)](x.cpu(), y, n, block=512)


def no_launch(x, y, n):
    y.copy_(2 * x)
    y[1:n] += x[: n - 1]


def three_warps(x, y, n):
    smooth[(triton.cdiv(n, 512),)](x, y, n, block=512, num_warps=3)


def python_in_a_kernel(x, y, n):
    smooth_in_a_list[(triton.cdiv(n, 512),)](x, y, n, block=512)


def the_end_of_the_process(x, y, n):
    smooth[(triton.cdiv(n, 512),)](x, y, n, block=512)
    raise SystemExit(0)
