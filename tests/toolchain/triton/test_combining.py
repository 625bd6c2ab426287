"""What whole tiles are combined to is what Triton's interpreter finds element by element."""

import json
import subprocess
import sys

KERNEL = """
import json
import numpy as np, torch, triton, triton.language as tl
from porter_triton.device import combining

@triton.jit
def affine(a, b, c, d):
    return a * c, b * c + d

@triton.jit
def first(a, i, b, j):
    other = (b > a) | ((b == a) & (j < i))
    return tl.where(other, b, a), tl.where(other, j, i)

@triton.jit
def later(a, b):
    return b

@triton.jit
def branching(a, b):
    if a > b:
        return a
    return b

@triton.jit
def calling(a, b):
    return branching(a, b)

seen = []

@triton.jit
def kernel(x):
    column, row = tl.arange(0, 8)[:, None], tl.arange(0, 4)[None, :]
    tile = tl.load(x + column * 4 + row)
    place = (column * 4 + row).to(tl.int64)
    for axis in (0, 1, None):
        # Without an axis the interpreter itself takes no tuple, and keeps one dimension of all.
        for keep in (False,) if axis is None else (False, True):
            if axis is not None:
                seen.extend(tl.reduce((tile, place), axis, first, keep_dims=keep))
                seen.extend(tl.reduce((tile, place.to(tl.float32)), axis, affine, keep_dims=keep))
            seen.append(tl.reduce(place, axis, later, keep_dims=keep))
            seen.append(tl.reduce(tile, axis, calling, keep_dims=keep))
    for axis in (0, 1):
        for reverse in (False, True):
            seen.extend(tl.associative_scan((tile, place.to(tl.float32)), axis, affine, reverse=reverse))
            seen.append(tl.associative_scan(place, axis, later, reverse=reverse))
            seen.append(tl.associative_scan(tile, axis, calling, reverse=reverse))

@triton.jit
def running(x, sums, products):
    lanes = tl.arange(0, 1024)
    values = tl.load(x + lanes)
    tl.store(sums + lanes, tl.cumsum(values, axis=0, reverse=True))
    tl.store(products + lanes, tl.cumprod(values * 1.75, axis=0))

def largest_errors():
    x = torch.full((1024,), 0.584)
    sums, products = torch.empty_like(x), torch.empty_like(x)
    running[(1,)](x, sums, products)
    right = x.double().flip(0).cumsum(0).flip(0), (x * 1.75).double().cumprod(0)
    return [float(((a - b) / b).abs().max()) for a, b in zip((sums, products), right)]

def run():
    seen.clear()
    kernel[(1,)](torch.tensor([1., 2, 0.5, 2, -1, 1, 1, 0.25] * 4))
    return [[str(v.type), list(v.handle.data.shape), v.handle.data.astype(float).ravel().tolist()] for v in seen]

before = run()
combining.combine_tiles()
called = []
whole = combining._combined
combining._combined = lambda *given: called.append(1) or whole(*given)
after = run()
print(json.dumps([len(before), len(called), before == after, largest_errors()]))
"""


def test_results_are_those_of_triton_itself(tmp_path):
    script = tmp_path / "compared.py"
    script.write_text(KERNEL)
    environment = {"TRITON_INTERPRET": "1", "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    child = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=False)
    assert child.returncode == 0, child.stderr
    found, steps, same, (of_sums, of_products) = json.loads(child.stdout)
    assert (found, same) == (42, True)
    assert 0 < steps < 120
    assert of_sums < 1e-6  # from left to right, 1.5e-5
    assert of_products < 1e-4
