"""Comparisons are stored as the numbers that they are in C, whatever was compared. Floats become whole numbers as on a
device, also where the type does not hold them. Atomic operations take parts of tiles.
"""

import json
import subprocess
import sys

import pytest

KERNEL = """
import json
import torch, triton, triton.language as tl
from porter_triton.device.corrections import correct

@triton.jit
def positive(x, y, n: tl.int32, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(y + lanes, tl.load(x + lanes, mask=lanes < n) > 0, mask=lanes < n)

@triton.jit
def whole(x, y, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(y + lanes, tl.load(x + lanes).to(y.dtype.element_ty))

@triton.jit
def added(x, y, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    even, odd = tl.split(tl.load(x + 2 * lanes[:, None] + tl.arange(0, 2)[None, :]))
    tl.atomic_add(y + 2 * lanes, even)
    tl.atomic_cas(y + 2 * lanes + 1, odd, odd + 10)

def converted(given, kept):
    x = torch.tensor([-1.5, 300.0, 70000.0, 5e9, -5e9, 1e30, float("nan"), 7.9], dtype=given)
    y = torch.full((8,), 7, dtype=kept)
    whole[(1,)](x, y, BLOCK=8)
    return y.tolist()

def stored(given, kept):
    x, y = torch.tensor([1, -2, 3], dtype=given), torch.full((3,), 7, dtype=kept)
    positive[(1,)](x, y, 3, BLOCK=4)
    return y.tolist()

correct()
given = torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int32, torch.int64
kept = torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int32, torch.int64, torch.int8, torch.uint8
types = torch.uint8, torch.int8, torch.uint16, torch.int16, torch.uint32, torch.int32, torch.uint64, torch.int64
pairs, sums = torch.arange(8, dtype=torch.int32), torch.tensor([0, 1, 0, 3, 0, 5, 0, 7], dtype=torch.int32)
added[(1,)](pairs, sums, BLOCK=4)
print(json.dumps([
    {f"{a} as {b}": stored(a, b) for a in given for b in kept},
    {f"{a} as {b}".replace("torch.", ""): converted(a, b) for a in (torch.float32, torch.float64) for b in types},
    sums.tolist(),
]))
"""
LEAST, MOST = -(2**31), 2**31 - 1
# What `cvt` makes of these numbers with as many bits as Triton's compiler asks for: 16 for 8 of them.
CONVERTED = {
    "uint8": [0, 44, 255, 255, 0, 255, 0, 7],
    "int8": [-1, 44, -1, -1, 0, -1, 0, 7],
    "uint16": [0, 300, 65535, 65535, 0, 65535, 0, 7],
    "int16": [-1, 300, 32767, 32767, -32768, 32767, 0, 7],
    "uint32": [0, 300, 70000, 2**32 - 1, 0, 2**32 - 1, 0, 7],
    "int32": [-1, 300, 70000, MOST, LEAST, MOST, 0, 7],
    "uint64": [0, 300, 70000, 5 * 10**9, 0, 2**64 - 1, 2**63, 7],
    "int64": [-1, 300, 70000, 5 * 10**9, -5 * 10**9, 2**63 - 1, -(2**63), 7],
}
OF_A_DOUBLE = {"uint8": 0, "int8": 0, "uint16": 2**15, "int16": -(2**15), "uint32": 2**31, "int32": LEAST}


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """Returns the numbers that the kernels stored: of comparisons, of conversions, and of atomic operations."""
    folder = tmp_path_factory.mktemp("corrections")
    script = folder / "stored.py"
    script.write_text(KERNEL)
    environment = {"TRITON_INTERPRET": "1", "PATH": "/usr/bin:/bin", "HOME": str(folder)}
    child = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=False)
    assert child.returncode == 0, child.stderr
    return json.loads(child.stdout)


def test_a_comparison_is_stored_as_the_number_that_it_is(printed):
    assert len(printed[0]) == 48
    assert {pair: numbers for pair, numbers in printed[0].items() if numbers != [1, 0, 1]} == {}


def test_floats_become_whole_numbers_as_on_a_device(printed):
    of_singles = {f"float32 as {name}": numbers for name, numbers in CONVERTED.items()}
    of_doubles = {
        f"float64 as {name}": [*numbers[:6], OF_A_DOUBLE.get(name, numbers[6]), 7]
        for name, numbers in CONVERTED.items()
    }
    assert printed[1] == of_singles | of_doubles


def test_atomic_operations_on_a_part_of_a_tile_take_its_own_elements(printed):
    assert printed[2] == [0, 11, 2, 13, 4, 15, 6, 17]
