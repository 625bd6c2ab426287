"""What `porter export` writes really holds the port to its original; `porter steps` has the prompts of a search."""

import os
import subprocess
import sys

import pytest

from porter.agent.question import Answer
from porter.agent.reply import read_reply
from porter.agent.splice import splice
from porter.cli.main import main
from porter.errors import InputError
from porter.evolve.axis import Axis
from porter.evolve.budget import Budget
from porter.evolve.candidate import Candidate, File, Origin
from porter.evolve.replay import searching
from porter.evolve.scored import Measure, Score, Scored
from porter.evolve.settings import Settings
from porter.learn.step_files import read_steps
from porter.learn.steps import Work
from porter.report.search.course import course
from porter.report.search.source_patch import Proof, patch_of

SOURCE = """\
#include "twice.h"
__global__ void scale_kernel(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = twice(x[i]) + OFFSET;
}
void scale(const float* x, float* y, int n) { scale_kernel<<<(n + 127) / 128, 128>>>(x, y, n); }
"""
HEADER = "__device__ inline float twice(float x) { return 2.0f * x; }\n"
CONTRACT = """\
[[contract]]
name = "scale"
category = "elementwise"
symbols = ["n"]
conditions = []
entry = { kind = "pointer", name = "scale" }
argument = [
    { tensor = "x", role = "in", dtype = "float32", shape = ["n"], values = "normal" },
    { tensor = "y", role = "out", dtype = "float32", shape = ["n"], values = "normal" },
    { scalar = "n", type = "int", value = "n" },
]
workload = [{ name = "odd", sizes = { n = 1003 }, seed = 1 }]
tolerance = { float32 = { rtol = 1e-5, atol = 1e-6 } }
"""


class Remark:
    """Proposes the seed with a remark."""

    name = "remark"

    def propose(self, request):
        parent = request.parents[0].candidate
        first, *others = parent.files
        files = (File(first.name, f"// {request.round}\n{first.text}"), *others)
        return [Candidate(files, Origin(self.name, (parent.digest,), "said something"))]


@pytest.fixture
def run(tmp_path):
    """A search that began with a right port of SOURCE."""
    run = tmp_path / "scale.maca.search"
    (run / "original").mkdir(parents=True)
    for name, text in {"scale.cu": SOURCE, "twice.h": HEADER, "contract.toml": CONTRACT}.items():
        (run / "original" / name).write_text(text)
    port = File("scale.maca.cpp", f"#include <mc_runtime.h>\n{SOURCE}")
    seed = Candidate((port, File("twice.h", HEADER)), Origin("seed"))
    about = {
        "source": "scale.cu",
        "target": "maca",
        "arch": "",
        "contract": "porter",
        "defines": "OFFSET=1.0f",
        "entry": "scale",
    }
    settings = Settings(1, (Axis("any", ("all",)),), ("remark",), islands=1, batch=1, about=about)
    with searching(run, settings, Budget(rounds=1), [Remark()], [seed]) as search:
        while not search.ended:
            for known in search.ask(1):
                worth = float(len(known.files[0].text))
                score = Score(Measure.MODELLED, worth, worth, worth)
                search.tell([Scored(known.digest, "verified", "", score, (0,))])
    return run


@pytest.fixture
def exported(run, tmp_path):
    """The folder that is exported of the search."""
    assert main(["export", str(run), "--out", str(tmp_path / "to")]) == 0
    return tmp_path / "to"


def test_the_exported_test_passes_and_fails_where_the_port_is_wrong(exported, build_cache, monkeypatch):
    monkeypatch.setenv("PORTER_CACHE_DIR", str(build_cache))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(exported / "test_port.py")]
    right = subprocess.run(command, capture_output=True, text=True, check=False)
    assert right.returncode == 0, right.stdout
    (port,) = (path for path in exported.rglob("scale*") if path.is_file() and path.read_text().startswith("// 1"))
    port.write_text(port.read_text().replace("+ OFFSET", "- OFFSET"))
    wrong = subprocess.run(command, capture_output=True, text=True, check=False)
    assert wrong.returncode == 1
    assert "wrong" in wrong.stdout


def test_a_step_has_the_prompt_with_which_a_model_would_have_been_asked(run, tmp_path, build_cache, monkeypatch):
    monkeypatch.setenv("PORTER_CACHE_DIR", str(build_cache))
    assert main(["steps", str(run), "--out", str(tmp_path / "steps.jsonl")]) == 0
    (step,) = read_steps(tmp_path / "steps.jsonl")
    system, user = step.situation.prompt
    assert (system.role, user.role) == ("system", "user")
    assert "scale_kernel<<<" in user.text
    assert step.situation.parent.files[0].text in user.text
    assert step.work == Work(step.work.run, "scale.cu", "elementwise", "maca", "", SOURCE)
    changes = read_reply(Answer(step.action.edit)).changes
    assert splice(step.situation.parent.files, changes) == step.action.files


@pytest.fixture
def repository(tmp_path):
    """A repository that has the source of `run`, beside which lies another of that name."""
    place = tmp_path / "library"
    (place / "csrc" / "old").mkdir(parents=True)
    (place / "csrc" / "scale.cu").write_text(SOURCE.replace("\n", "\r\n"), newline="")
    (place / "csrc" / "old" / "scale.cu").write_text(f"// old\n{SOURCE}")
    (place / "csrc" / "twice.h").write_text(HEADER)
    git(place, "init", "-q")
    git(place, "add", "-A")
    git(place, "commit", "-qm", "first")
    return place


def git(place, *words):
    user = ("-c", "user.name=somebody", "-c", "user.email=somebody@localhost", "-c", "core.autocrlf=false")
    return subprocess.run(["git", "-C", str(place), *user, *words], check=True, capture_output=True, text=True).stdout


def test_a_patch_puts_the_port_beside_its_source_and_says_what_was_verified(run, repository, tmp_path):
    before = git(repository, "count-objects")
    assert main(["export", str(run), "--patch", str(repository), "-o", str(tmp_path / "patch")]) == 0
    (patch,) = (tmp_path / "patch").iterdir()
    assert (git(repository, "status", "--porcelain"), git(repository, "count-objects")) == ("", before)
    git(repository, "am", str(patch))
    assert git(repository, "show", "--name-status", "--format=").split() == ["A", "csrc/scale.maca.cpp"]
    assert (repository / "csrc" / "scale.maca.cpp").read_text().startswith("// 1")
    message = " ".join(git(repository, "show", "-s", "--format=%B").split())
    assert message.startswith("Port scale.cu to maca ")
    assert "Held to csrc/scale.cu by `porter verify`: ran and gave the original's results" in message
    assert "nothing was timed" in message
    assert "Versions: porter " in message


def test_a_patch_takes_the_place_of_the_source_and_of_nothing_else(run, repository):
    proof = Proof("ran", ("odd",), 7, {"porter": "0"})

    def patched(**options):
        return patch_of(course(run), proof, repository, os.environ, **{"at": "", "in_place": False, **options})

    (patch,) = patched(in_place=True, at="csrc/scale.cu").values()
    subprocess.run(["git", "-C", str(repository), "apply", "-"], input=patch, check=True)
    assert (repository / "csrc" / "scale.cu").read_text().startswith("// 1")
    git(repository, "commit", "-qam", "ported")
    with pytest.raises(InputError, match=r"csrc/old/scale\.cu is not what was ported"):
        patched()
    git(repository, "reset", "-q", "--hard", "HEAD~1")
    (repository / "csrc" / "twice.h").write_text("// another\n")
    git(repository, "commit", "-qam", "other helpers")
    with pytest.raises(InputError, match=r"csrc/twice\.h is there already"):
        patched()
    with pytest.raises(InputError, match="not a git repository"):
        patch_of(
            course(run), proof, run, {**os.environ, "GIT_CEILING_DIRECTORIES": str(run.parent)}, at="", in_place=False
        )
