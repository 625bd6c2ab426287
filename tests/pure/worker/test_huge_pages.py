"""Large pages for what a process has allocated: the memory is the same."""

import subprocess
import sys
from pathlib import Path

import pytest

KEPT = """
import hashlib
from pathlib import Path
from porter.worker.huge_pages import share_by_huge_pages

def large():
    told = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in told if line.startswith("AnonHugePages:"))

kept = [hashlib.sha256(str(n).encode()).digest() for n in range(300_000)]
whole, before = hashlib.sha256(b"".join(kept)).digest(), large()
share_by_huge_pages()
assert hashlib.sha256(b"".join(kept)).digest() == whole
print(large() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="the system does not tell of its pages")
def test_what_was_allocated_lies_in_large_pages_where_the_system_has_them():
    done = subprocess.run([sys.executable, "-c", KEPT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    if not int(done.stdout):
        pytest.skip("this system makes no large pages")
    assert int(done.stdout) >= 2 << 10
