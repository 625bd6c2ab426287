"""`porter export --at path.py:function`: the port answers for a function of another repository."""

import os
import subprocess
import sys

import pytest

from porter.cli.main import main
from porter.errors import InputError
from porter.evolve.axis import Axis
from porter.evolve.budget import Budget
from porter.evolve.candidate import Candidate, File, Origin
from porter.evolve.replay import searching
from porter.evolve.scored import Measure, Score, Scored
from porter.evolve.settings import Settings
from porter.report.search.course import course
from porter.report.search.function_patch import function_changes
from porter.report.search.git import apart

SOURCE = """\
#include <torch/extension.h>
__global__ void scale_kernel(const float* x, float* y, int n, float by) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = by * x[i];
}
torch::Tensor scale(torch::Tensor x, double by) {
    TORCH_CHECK(x.is_contiguous() && x.dim() == 2 && x.scalar_type() == at::kFloat);
    auto y = torch::empty_like(x);
    const int n = x.numel();
    if (n > 0) scale_kernel<<<(n + 127) / 128, 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), n, by);
    return y;
}
"""
CONTRACT = """\
[[contract]]
name = "scale"
category = "elementwise"
symbols = ["rows", "columns"]
conditions = ["columns >= 1"]
entry = { kind = "torch", name = "scale" }
argument = [
    { tensor = "x", role = "in", dtype = "float32", shape = ["rows", "columns"], values = "normal" },
    { scalar = "by", type = "double", value = "2.5" },
]
workload = [{ name = "odd", sizes = { rows = 3, columns = 103 }, seed = 1 }]
tolerance = { float32 = { rtol = 1e-5, atol = 1e-6 } }
"""
PORT = """\
import torch
import triton
import triton.language as tl


@triton.jit
def scale_kernel(x_ptr, y_ptr, n, by, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, by * tl.load(x_ptr + i, mask=i < n, other=0.0), mask=i < n)


def scale(x, by):
    y = torch.empty_like(x)
    if x.numel() > 0:
        scale_kernel[(triton.cdiv(x.numel(), 128),)](x, y, x.numel(), by, BLOCK=128)
    return y
"""
MODULE = '''\
"""Things that are done to tensors."""
import torch


def scaled(x, by=2.5, *, out=None):
    """Scales x."""
    found = x * by
    return found if out is None else out.copy_(found)
'''


class Nothing:
    """Proposes nothing."""

    name = "nothing"

    def propose(self, request):
        return []


@pytest.fixture
def run(tmp_path):
    """A search that began with a right port of SOURCE, and found nothing else."""
    run = tmp_path / "scale.triton.search"
    (run / "original").mkdir(parents=True)
    (run / "original" / "scale.cu").write_text(SOURCE)
    (run / "original" / "contract.toml").write_text(CONTRACT)
    seed = Candidate((File("scale_triton.py", PORT),), Origin("seed"))
    about = {"source": "scale.cu", "target": "triton", "arch": "", "contract": "user", "defines": "", "entry": ""}
    settings = Settings(1, (Axis("any", ("all",)),), ("nothing",), islands=1, batch=1, about=about)
    with searching(run, settings, Budget(rounds=1, evaluations=1), [Nothing()], [seed]) as search:
        while not search.ended:
            for known in search.ask(1):
                search.tell([Scored(known.digest, "verified", "", Score(Measure.MODELLED, 1.0, 1.0, 1.0), (0,))])
    return run


@pytest.fixture
def repository(tmp_path):
    """A package with a function that scales, and a test of it."""
    place = tmp_path / "library"
    files = {
        "pyproject.toml": "[tool.ruff]\nline-length = 100\n",
        "src/library/__init__.py": "",
        "src/library/ops.py": MODULE,
        "test/ops/test_scaled.py": "from library.ops import scaled\n",
    }
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    git(place, "init", "-q")
    git(place, "add", "-A")
    git(place, "commit", "-qm", "first")
    return place


def git(place, *words):
    user = ("-c", "user.name=somebody", "-c", "user.email=somebody@localhost", "-c", "core.autocrlf=false")
    return subprocess.run(["git", "-C", str(place), *user, *words], check=True, capture_output=True, text=True).stdout


def pytest_says(repository):
    """The end of pytest, on the test that the patch adds, by Triton's interpreter."""
    environment = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": str(repository / "src")}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test/ops/test_scaled_port.py"]
    return subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True, check=False)


def test_the_patch_applies_and_its_test_passes_and_fails_where_the_port_is_wrong(
    run, repository, tmp_path, build_cache, monkeypatch
):
    monkeypatch.setenv("PORTER_CACHE_DIR", str(build_cache))
    words = ["export", str(run), "--patch", str(repository), "--at", "src/library/ops.py:scaled"]
    assert main([*words, "-o", str(tmp_path / "patch")]) == 0
    (patch,) = (tmp_path / "patch").iterdir()
    git(repository, "am", str(patch))
    assert git(repository, "show", "--name-status", "--format=").split() == [
        "A", "benchmarks/benchmark_scaled_port.py", "M", "src/library/ops.py", "A", "src/library/scaled_port.py",
        "A", "test/ops/test_scaled_port.py",
    ]  # fmt: skip
    assert git(repository, "show", "-s", "--format=%s") == "Let scale.cu for triton answer for scaled\n"
    passed = pytest_says(repository)
    assert passed.returncode == 0, passed.stdout
    port = repository / "src" / "library" / "scaled_port.py"
    port.write_text(port.read_text().replace("by * tl.load", "1.0 + by * tl.load"))
    failed = pytest_says(repository)
    assert failed.returncode == 1, failed.stdout
    assert "Mismatched elements" in failed.stdout


@pytest.mark.parametrize(
    ("before", "after", "because"),
    [
        ("by=2.5", "by, axis", r"scaled\(x, by, axis, out\) does not take what the port does: \(x, by\)"),
        ("*, out=None", "*out", "takes any number of arguments"),
        ("out=None", "out=torch.empty(0)", "has no out, and its default is no constant"),
        ("def scaled", "def other", "no function scaled"),
    ],
)
def test_a_function_that_the_port_cannot_answer_for_is_refused(run, repository, before, after, because):
    (repository / "src" / "library" / "ops.py").write_text(MODULE.replace(before, after))
    git(repository, "commit", "-qam", "second")
    with apart(repository, os.environ) as within, pytest.raises(InputError, match=because):
        function_changes(within, course(run), ("odd",), "src/library/ops.py:scaled")


def test_the_guard_holds_what_was_executed(run, repository):
    with apart(repository, os.environ) as within:
        changes = function_changes(within, course(run), ("odd", "one row"), "src/library/ops.py:scaled")
    assert "    if out is None and scaled_port.fits(x, by):\n" in changes["src/library/ops.py"]
    guard = changes["src/library/scaled_port.py"]
    assert guard.startswith(PORT.replace("import torch", "import os\nimport torch", 1))
    (condition,) = (line for line in guard.splitlines() if line.lstrip().startswith("rows >= "))
    assert condition.strip() == "rows >= 1"
    for part in ("columns >= 103", "x.shape == (rows, columns)", "(columns >= 1)", "(by == 2.5)"):
        assert f"and {part}\n" in guard
