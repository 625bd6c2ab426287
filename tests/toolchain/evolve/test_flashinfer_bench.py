"""The winner of a search as a data set of flashinfer-bench: its reference and its solution give what CUDA gives."""

import json
import os
import subprocess
import sys

import pytest

from porter.cli.main import main
from porter.evolve.axis import Axis
from porter.evolve.budget import Budget
from porter.evolve.candidate import Candidate, File, Origin
from porter.evolve.replay import searching
from porter.evolve.scored import Measure, Score, Scored
from porter.evolve.settings import Settings
from tests.toolchain.serve.server_process import CONTRACT, PORT, SOURCE

BOTH = """
import json, sys, torch
sys.path.insert(0, ".")
from package.main import run
given = {}
exec(json.load(open("definition.json"))["reference"], given)
x = torch.randn(1003)
y = torch.empty_like(x)
run(x, y)
assert torch.equal(y, given["run"](x)) and torch.equal(y, 2 * x)
"""


class Nobody:
    """Proposes nothing."""

    name = "nobody"

    def propose(self, request):
        return []


def searched(folder, contract=CONTRACT, target="triton"):
    """A search that began with a right port of SOURCE, and ended there."""
    run = folder / "scale.search"
    (run / "original").mkdir(parents=True)
    (run / "original" / "scale.cu").write_text(SOURCE)
    (run / "original" / "contract.toml").write_text(contract)
    about = {"source": "scale.cu", "target": target, "arch": "", "contract": "user", "defines": "", "entry": ""}
    settings = Settings(1, (Axis("any", ("all",)),), ("nobody",), islands=1, batch=1, about=about)
    seed = Candidate((File("scale_triton.py", PORT),), Origin("seed"))
    with searching(run, settings, Budget(rounds=1), [Nobody()], [seed]) as search:
        while not search.ended:
            for known in search.ask(1):
                search.tell([Scored(known.digest, "verified", "", Score(Measure.MODELLED, 1.0, 1.0, 1.0), (0,))])
    return run


def export(run, out):
    return main(["export", str(run), "--as", "flashinfer-bench", "-o", str(out)])


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exported")
    assert export(searched(folder), folder / "set") == 0
    return folder / "set"


def test_reference_and_solution_give_what_cuda_gives(exported, tmp_path):
    definition = json.loads((exported / "definitions/elementwise/scale.json").read_text())
    assert definition["axes"] == {"n": {"type": "var"}}
    assert (list(definition["inputs"]), list(definition["outputs"])) == (["x"], ["y"])
    assert "ran on the CPU" in definition["description"]
    solution = json.loads((exported / "solutions/elementwise/scale/scale_porter.json").read_text())
    (workload,) = map(json.loads, (exported / "workloads/elementwise/scale.jsonl").read_text().splitlines())
    assert workload["workload"]["axes"] == {"n": 103}
    (tmp_path / "definition.json").write_text(json.dumps(definition))
    (tmp_path / "package").mkdir()
    for source in solution["sources"]:
        (tmp_path / "package" / source["path"]).write_text(source["content"])
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    subprocess.run([sys.executable, "-c", BOTH], cwd=tmp_path, env=environment, check=True)


def test_the_data_set_passes_the_packages_own_checks(exported):
    data = pytest.importorskip("flashinfer_bench.data", reason="flashinfer-bench is not installed")
    found = data.TraceSet.from_path(str(exported))
    assert found.definitions["scale"].get_axes_values([(103,)]) == {"n": 103}
    assert [one.name for one in found.solutions["scale"]] == ["scale_porter"]
    assert len(found.workloads["scale"]) == 1


FIRST = 'role = "in", dtype = "float32", shape = ["n"]'


@pytest.mark.parametrize(
    ("target", "before", "after", "said"),
    [
        ("triton", 'role = "out"', 'role = "inout"', "y is read and written"),
        ("triton", FIRST, FIRST.replace('"n"', '"n + 0"'), "no axis of an input is n"),
        ("maca", "", "", "no language for maca"),
    ],
)
def test_what_a_definition_cannot_say_is_refused_with_the_reason(tmp_path, capsys, target, before, after, said):
    run = searched(tmp_path, CONTRACT.replace(before, after) if before else CONTRACT, target)
    assert export(run, tmp_path / "set") == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "set").exists()
