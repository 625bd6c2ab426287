"""Searches whose scores are times. Of a device all is here but the device: what it computes comes of Triton's
interpreter, how long it takes of a formula over the module's text."""

from __future__ import annotations

import json
import re
import secrets
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from porter.cli.main import main
from porter.evaluate.problem.bench import limits
from porter.evaluate.timing.answers import NativeAnswers
from porter.evaluate.timing.baselines import CUDA, Baselines
from porter.evolve.journal import NAME
from porter.execution.job import TensorValue
from porter.launch_plan.steps import Launch, Scalar
from porter.measure.environment import DeviceState
from porter.measure.lock import DeviceLock
from porter.native.place import Place
from porter.native.requests import PlanEntry
from porter.native.session import DeviceFacts, Prepared, Replayed
from porter.native.timed import Timed
from porter_triton.native import entry_of
from porter_triton.planned_calls import Function
from porter_triton.processes import ReplayProcess
from porter_triton.proof import calls_of
from porter_triton.requests import ReplayRequest

SOURCE = """\
__global__ void scale_kernel(const float* x, float* y, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i];
}
void scale(const float* x, float* y, float a, int n) {
    scale_kernel<<<(n + 127) / 128, 128>>>(x, y, a, n);
}
"""
CONTRACT = """\
[[contract]]
name = "scale"
symbols = ["n"]

[contract.entry]
kind = "pointer"
name = "scale"

[[contract.argument]]
tensor = "x"
role = "in"
dtype = "float32"
shape = ["n"]
values = "normal"

[[contract.argument]]
tensor = "y"
role = "out"
dtype = "float32"
shape = ["n"]

[[contract.argument]]
scalar = "a"
type = "float"
value = "1.5"

[[contract.argument]]
scalar = "n"
type = "int"
value = "n"

[[contract.workload]]
name = "small"
sizes = { n = 1003 }
seed = 3
"""
IDLE = DeviceState(1980, 3201, 300.0, 40, (), 0)


def microseconds(entry: PlanEntry) -> float:
    """Returns what a plan would take: the best has wide tiles and eight warps."""
    (launch,) = (step for step in entry.steps if isinstance(step, Launch))
    constants = [a.value for name, a in launch.arguments if isinstance(a, Scalar) and name.isupper()]
    text = " ".join(kernel.text for kernel in entry.kernels if kernel.key == launch.kernel)
    warps = int(dict(launch.options).get("num_warps", Scalar(4)).value)
    width = max((*constants, *map(int, re.findall(r"tl\.arange\(0, (\d+)", text))), default=128)
    return 100.0 * (1 + abs(warps - 8) / 16) * (1 + 128 / width)


class Simulated:
    """A session on a device that is not there, as `porter.native.session.Session` is asked."""

    facts = DeviceFacts("Simulated", "GPU-0", 132, 1 << 20, 1 << 34, "2", "3", "13", (9, 0))
    is_ready = True

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._arms: list[PlanEntry] = []
        self._blocks = 0

    def start(self) -> None:
        """There is no process."""

    def run(self, entry, job, _host=frozenset()):
        for name in ("kernels", "work"):
            (self._folder / name).mkdir(parents=True, exist_ok=True)
        replaying = ReplayProcess(self._folder / "kernels", self._folder / "work", limits(20.0))
        tensors = tuple((i, v) for i, v in enumerate(job.arguments) if isinstance(v, TensorValue))
        asked = ReplayRequest((*entry.prepared, *entry.steps), entry.kernels, True, tensors, number=entry.returns)
        try:
            return replaying.carry_out(asked, job).run
        finally:
            replaying.close()

    def prepare(self, entry, _job, _host=frozenset()):
        self._arms.append(entry)
        return Prepared(len(self._arms) - 1, "", 1, ("scale_kernel",), (), "")

    def forget(self) -> None:
        self._arms.clear()

    def copy_bytes_per_s(self) -> float:
        return 4e12

    def sample(self, order, *, captured):
        assert captured
        self._blocks += 1
        drift = 1 + 0.001 * (self._blocks % 7)
        return [drift * microseconds(self._arms[arm]) for arm in order]

    def replay(self, arm, job, _index):
        took = microseconds(self._arms[arm])
        return Replayed(self.run(self._arms[arm], job), took, took)

    def keep(self, arm, _launches):
        took = microseconds(self._arms[arm])
        return took, took


@pytest.fixture(autouse=True)
def device(tmp_path, monkeypatch):
    """A simulated device, on which porter searches from here on."""
    management = SimpleNamespace(
        name="Simulated", uuid="GPU-0", arch="sm_90", driver=lambda: "0", max_sm_clock_mhz=lambda: 1980,
        state=lambda: IDLE, memory_bytes=1 << 37,
    )  # fmt: skip

    class Here(Place):
        @contextmanager
        def session(self, content="", kernels=None):
            yield self.one or Simulated(tmp_path / secrets.token_hex(4))

        nvcc_version = "13"

    @contextmanager
    def place(cache, time_limit_s, environment):
        lock = DeviceLock("GPU-0", tmp_path, 60.0)
        yield Here(cache, limits(time_limit_s), environment, tmp_path, management, lock, b"secret")

    def of_cuda(original, _reference):
        """What knows the answers: the module that porter makes of the original."""
        path = tmp_path / "original.py"

        def meet(contracts, _place, session):
            from porter.registry import find_backend, find_target

            backend = find_backend("triton")
            path.write_text(backend.port(original.program, (), find_target(backend, "")).files[0].text)
            calls = opened.enter_context(calls_of(path, Path(tempfile.mkdtemp(dir=tmp_path)), limits(20.0)))

            def timed_for(contract):
                return Timed(session, lambda job: entry_of(calls, Function(contract.entry.name), job, session))

            timed = [timed_for(contract) for contract in contracts]
            return [Baselines(NativeAnswers(c, t), {CUDA: t}) for c, t in zip(contracts, timed, strict=True)]

        return meet

    opened = ExitStack()
    for module in ("evolve.scoring.timed", "evaluate.timing.speeds"):
        monkeypatch.setattr(f"porter.{module}.device_place", place)
    for module in ("evolve.scoring.timed", "search.finish"):
        monkeypatch.setattr(f"porter.{module}.of_cuda", of_cuda)
    for module in ("evolve.scoring.local.missing_device", "native.place.missing_device"):
        monkeypatch.setattr(f"porter.{module}", lambda: "")
    with opened:
        yield


@pytest.fixture
def search(tmp_path, capsys):
    """Searches on the device for so many rounds: what `porter migrate` says, and what was told of candidates."""
    (tmp_path / "scale.cu").write_text(SOURCE)
    (tmp_path / "scale.toml").write_text(CONTRACT)
    named = [str(tmp_path / "scale.cu"), "--contract", str(tmp_path / "scale.toml"), "-o", str(tmp_path / "out")]

    def searched(rounds: int, *options: str):
        assert (
            main(
                [
                    "migrate",
                    *named,
                    "--target",
                    "triton",
                    "--follow",
                    "kernels",
                    "--rounds",
                    str(rounds),
                    *options,
                    "--json",
                ]
            )
            == 0
        )
        journal = tmp_path / "out" / "scale.triton.search" / NAME
        lines = [json.loads(line) for line in journal.read_text().splitlines()]
        return json.loads(capsys.readouterr().out), [line for line in lines if line["event"] == "told"]

    return searched


def test_a_search_on_a_device_finds_what_is_fast_there(search, tmp_path):
    document, told = search(4, "--jobs", "2")
    found = document["search"]
    assert (found["measure"], found["rounds"]) == ("native", 4)
    assert found["factor"] > 1.1
    proven = [one["scored"] for one in told if one["scored"]["outcome"] == "verified"]
    slower = [one["scored"] for one in told if one["scored"]["outcome"] != "verified"]
    assert len(proven) > 1
    assert all(one["score"]["measure"] == "native" for one in proven)
    assert {one["because"] for one in slower} <= {"it is slower than the best so far, and was not proven"}
    # In the end it is timed beside the original, and beside the port that the search began with.
    beside = {one["name"]: one["speedup"] for one in document["times"][0]["baselines"]}
    assert beside.keys() == {"cuda", "seed"}
    assert beside["seed"] == pytest.approx(found["factor"], rel=0.01)
    assert main(["replay", str(tmp_path / "out" / "scale.triton.search")]) == 0


def test_a_port_from_a_formula_gets_the_fastest_of_some_schedules(tmp_path, capsys, monkeypatch):
    """All are timed in one hold of the device; the best is proven, and timed once more beside the first."""
    taken = []
    turn = DeviceLock.turn
    monkeypatch.setattr(DeviceLock, "turn", lambda self, slots: taken.append(True) or turn(self, slots))
    (tmp_path / "scale.cu").write_text(SOURCE)
    (tmp_path / "scale.toml").write_text(CONTRACT)
    named = [str(tmp_path / "scale.cu"), "--contract", str(tmp_path / "scale.toml"), "-o", str(tmp_path / "out")]
    assert main(["migrate", *named, "--target", "triton", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert "search" not in document
    beside = {one["name"]: one["speedup"] for one in document["times"][0]["baselines"]}
    assert beside.keys() == {"cuda", "seed"}
    assert beside["seed"] > 1
    said = re.fullmatch(
        r".*; its schedule, (.*), was (\d\.\d{3}) times as fast as its first", document["follows"]["because"]
    )
    assert said is not None
    assert float(said[2]) == pytest.approx(beside["seed"], abs=1e-3)
    assert f"# {said[1].split(',')[0]}" in (tmp_path / "out" / "scale_triton.py").read_text()
    assert len(taken) == 3
