"""Random kernels with nested branches, loops, early exits and calls give what each thread alone would compute."""

import json
import subprocess
import sys
from pathlib import Path
from random import Random

from porter.source.parse import parse
from porter.source_text import Source
from porter.syntax.read import read_unit
from porter_triton.kernel_records import Dimension, LaunchInfo
from porter_triton.thread_level.kernel import prepared_kernel, print_kernel

sys.path.insert(0, str(Path(__file__).parent))
from random_programs import Program, run

PROGRAMS = 16
THREADS = 32
CHILD = """
import json, sys, torch
sys.path.insert(0, sys.argv[1])
import programs
x = torch.tensor(json.loads(sys.argv[2]), dtype=torch.int32)
found = {}
for name in json.loads(sys.argv[3]):
    y = torch.zeros_like(x)
    getattr(programs, name)[(1,)](x, y, 3, BLOCK_SIZE=len(x))
    found[name] = y.tolist()
print(json.dumps(found))
"""


def test_random_programs_agree_with_their_threads_run_one_by_one(tmp_path):
    programs = {f"program{i}": Program(f"program{i}", i) for i in range(PROGRAMS)}
    path = tmp_path / "programs.cu"
    path.write_text("\n".join(p.cuda for p in programs.values()), "utf-8")
    unit = read_unit(parse(Source(path, path.read_text("utf-8"))))
    info = LaunchInfo((Dimension(THREADS, "BLOCK_SIZE"), Dimension(1), Dimension(1)))
    texts = [print_kernel(prepared_kernel(unit, kernel, info)).text for kernel in unit.kernels]
    (tmp_path / "programs.py").write_text("import triton\nimport triton.language as tl\n\n\n" + "\n\n".join(texts))
    random = Random(1)
    x = [random.randint(-20, 60) for _ in range(THREADS)]
    child = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CHILD, str(tmp_path), json.dumps(x), json.dumps(list(programs))],
        env={"TRITON_INTERPRET": "1", "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.returncode == 0, child.stderr
    found = json.loads(child.stdout)
    assert found == {name: run(program, name, x, 3) for name, program in programs.items()}
