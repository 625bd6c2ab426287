"""What Triton's front end makes of operands is the same with what is remembered as without."""

import json
import subprocess
import sys

KERNEL = """
import itertools, json, operator
import numpy as np, torch, triton, triton.language as tl
from porter_triton.device import shortcuts

DTYPES = [tl.int1, tl.int8, tl.uint32, tl.int64, tl.float16, tl.float32]
SHAPES = [(), (1,), (4,), (4, 1), (1, 4), (4, 4)]
OPERATORS = "add sub mul truediv floordiv mod and_ or_ xor eq ne lt ge".split()
seen = []

def told(make):
    try:
        found = make()
    except Exception as error:
        return type(error.__cause__ or error).__name__
    shape = [int(extent) for extent in found.shape]
    return [str(found.type), shape, int(found.numel), found.handle.data.astype(float).ravel().tolist()]

@triton.jit
def kernel(x):
    tiles = [tl.full(s, 3, d) if s else tl.cast(3, d) for s in SHAPES for d in DTYPES]
    numbers = [2, -1, 0.5, 3000000000]
    for name in OPERATORS:
        act = getattr(operator, name)
        some = [p for i, p in enumerate(itertools.product(tiles, tiles)) if i % 7 == 0 or p[0] is p[1]]
        for left, right in [*itertools.product(tiles, numbers), *itertools.product(numbers, tiles), *some]:
            seen.append(told(lambda: act(left, right)))
    for left, right in itertools.product(tiles[::3], tiles):
        seen.append(told(lambda: tl.where(left == 3, right, left)))
        seen.append(bool(left.type == right.type))
    seen.append(told(lambda: tl.load(x + tl.arange(0, 4)[:, None] * tl.full([1, 2], 1, tl.int32))))
    seen.append(str((x + tl.arange(0, 4)).type))

def run():
    seen.clear()
    with np.errstate(all="ignore"):
        kernel[(1,)](torch.arange(8.0))
    return json.dumps(seen)

before = run()
shortcuts.remember()
after = run()
print(json.dumps([len(seen), before == after]))
"""


def test_types_shapes_and_values_are_those_of_triton_itself(tmp_path):
    script = tmp_path / "compared.py"
    script.write_text(KERNEL)
    environment = {"TRITON_INTERPRET": "1", "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    child = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=False)
    assert child.returncode == 0, child.stderr
    count, same = json.loads(child.stdout)
    assert count > 2000
    assert same
