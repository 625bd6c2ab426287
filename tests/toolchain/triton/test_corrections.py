"""A comparison is stored as the number that it is in C, whatever was compared and whatever it is stored as."""

import json
import subprocess
import sys

KERNEL = """
import json
import torch, triton, triton.language as tl
from porter_triton.device.corrections import correct

@triton.jit
def positive(x, y, n: tl.int32, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(y + lanes, tl.load(x + lanes, mask=lanes < n) > 0, mask=lanes < n)

def stored(given, kept):
    x, y = torch.tensor([1, -2, 3], dtype=given), torch.full((3,), 7, dtype=kept)
    positive[(1,)](x, y, 3, BLOCK=4)
    return y.tolist()

correct()
given = torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int32, torch.int64
kept = torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int32, torch.int64, torch.int8, torch.uint8
print(json.dumps({f"{a} as {b}": stored(a, b) for a in given for b in kept}))
"""


def test_a_comparison_is_stored_as_the_number_that_it_is(tmp_path):
    script = tmp_path / "stored.py"
    script.write_text(KERNEL)
    environment = {"TRITON_INTERPRET": "1", "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    child = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=False)
    assert child.returncode == 0, child.stderr
    found = json.loads(child.stdout)
    assert len(found) == 48
    assert {pair: numbers for pair, numbers in found.items() if numbers != [1, 0, 1]} == {}
