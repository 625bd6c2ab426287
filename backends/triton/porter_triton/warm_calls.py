"""A call as candidates make them, which processes make before workers are forked from them.

Python 3.11 rewrites what it runs often for the types that it saw, and keeps what it looked up. What was run before a
birth workers share; each of them would write the same into copies of its own, page by page: of the
4,560 page faults of one that replays these calls leave 2,690. Nothing of a candidate is in this.
"""

from __future__ import annotations

from porter_triton.records import Builtin, KernelText, LanguageName

TIMES = 12  # from the eighth run on Python specialises a function, and after some more its contents
FUNCTION = "forward"
_HEAD = "def rows(x, y, cols, block: tl.constexpr):"
_BODY = """
    i = tl.arange(0, block)
    at = tl.program_id(0) * cols + i
    value = tl.load(x + at, mask=i < cols, other=-float("inf"))
    numerator = tl.exp(value - tl.max(value, axis=0))
    tl.store(y + at, numerator / tl.sum(numerator, axis=0), mask=i < cols)
"""
MODULE = f'''import math

import torch
import triton
import triton.language as tl


@triton.jit
{_HEAD}{_BODY}

def launch(x, y):
    """Launches it on each row."""
    columns = x.shape[-1]
    count = math.prod(x.shape[:-1])
    if count:
        rows[(count,)](x, y, columns, block=triton.next_power_of_2(columns), num_warps=4)
    return y


def {FUNCTION}(x):
    """Returns the softmax of each row."""
    return launch(x, torch.empty_like(x))
'''
KERNEL = KernelText(
    "rows", "rows", f"{_HEAD}{_BODY}", (("float", Builtin("float")), ("tl", LanguageName("tl"))), False, "warm.py", 1
)
