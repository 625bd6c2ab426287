"""Evaluates what searches proposed on one and on two devices of a Ray cluster on this host, for as long on each.

    python -m benchmarks.serve.ray_devices RUN... [--arms 1:16 2:32 1:32] [--seconds S] [--out FILE]

in the root of the repository. RUN is the folder of a search; the candidates of all are shuffled and evaluated one after
the other, from the first to the last and again, as new questions: each is proven, and timed on the device beside the
seed. An arm `2:32` has two devices and 32 cores, which its devices share equally. An arm has a cluster, a process and a
copy of the cache of its own, and begins where the others did: all its devices have opened all problems, and nothing is
compiled. What ends within S seconds counts, from when as many have ended as are out at once.

Where there is no GPU each device is a node of the cluster, and a model scores.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from random import Random
from threading import Event, Lock, Thread

from porter.cache_folder import cache_folder
from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.problem.environment import environment, package_version
from porter.evolve.replay import replayed
from porter.evolve.scoring.evaluation import (
    Evaluation,
    EvaluationRequest,
    Program,
    content_of,
    digest_of,
    problem_of,
)
from porter.evolve.scoring.evaluator import port_of
from porter.evolve.scoring.subject import ORIGINAL, kept
from porter.native.place import missing_device
from porter.search.run import seed_of
from porter.serve.ray_cluster import AUTO, RayCluster, RayEvaluator

SEED, DEADLINE_S, OPENING_S = 7, 3600.0, 300.0
OUT_PER_CORE = 1.25  # questions that are out at once
STORE_BYTES = 256 << 20  # of a node, for answers
TWIN = "the same binary"  # as what an evaluation begins to say that has the times of another


@dataclass(frozen=True)
class Question:
    """A candidate, at the evaluator that knows its problem."""

    evaluator: RayEvaluator
    program: Program

    def asked(self, repetition: int) -> Evaluation:
        on = self.evaluator
        digest = digest_of(content_of(self.program))
        request = EvaluationRequest(on.problem, digest, SEED, on.fidelity, DEADLINE_S, repetition=repetition)
        return on.evaluate(self.program, request)


@dataclass
class Busy:
    """Says how busy this host was while it was watched: the share of its cores, and the percentage of each GPU."""

    began: list[int]
    gpus: list[list[int]] = field(default_factory=list)
    over: Event = field(default_factory=Event)

    @classmethod
    def begin(cls) -> Busy:
        one = cls(cls.ticks())
        Thread(target=one.watch, daemon=True).start()
        return one

    @staticmethod
    def ticks() -> list[int]:
        return [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]

    def watch(self) -> None:
        words = ["nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits"]
        while not (missing_device() or self.over.wait(1)):
            self.gpus.append([int(line) for line in subprocess.check_output(words, text=True).split()])

    def end(self) -> dict[str, object]:
        self.over.set()
        spent = [now - then for now, then in zip(self.ticks(), self.began, strict=True)]
        gpus = [round(statistics.fmean(each)) for each in zip(*self.gpus, strict=True)]
        return {"cores_busy": round(1 - (spent[3] + spent[4]) / sum(spent[:8]), 3), "gpus_percent": gpus}


@contextmanager
def cluster(devices: int, cores: int) -> Iterator[None]:
    """A cluster of this host alone, to which this process is connected."""
    os.environ.update(RAY_USAGE_STATS_ENABLED="0", RAY_memory_monitor_refresh_ms="0")
    import ray  # noqa: PLC0415 - an extra, which reads its variables when it is imported
    from ray.cluster_utils import Cluster  # noqa: PLC0415

    nodes = [{"num_cpus": cores, "num_gpus": devices}]
    if missing_device():
        nodes = [{"num_cpus": cores // devices}] * devices
    one = Cluster()
    try:
        for node in nodes:
            one.add_node(object_store_memory=STORE_BYTES, include_dashboard=False, **node)
        os.environ["RAY_ADDRESS"] = one.address
        yield
    finally:
        ray.shutdown()
        one.shutdown()


def questions_of(run: Path, cache: Path) -> list[Question]:
    """The candidates of a search, once the first device has opened its problem."""
    state = replayed(run).state
    options = MigrateOptions("", cache, seed=SEED, environment=dict(os.environ))
    subject = kept(run, state.settings.about, port_of(seed_of(state), run / ORIGINAL), options)
    evaluator = RayEvaluator(partial(Path, cache), content_of(problem_of(subject)), SEED)
    return [Question(evaluator, Program(member.candidate.files)) for member in state.members.values()]


@dataclass(frozen=True)
class Ended:
    """An evaluation that ended, so many seconds after the first began."""

    at_s: float
    evaluation: Evaluation

    @property
    def timed(self) -> bool:
        """Returns whether a device, or a model, scored this very candidate."""
        return self.evaluation.score is not None and not self.evaluation.said.startswith(TWIN)


def evaluated(questions: Sequence[Question], at_once: int, seconds: float) -> tuple[list[Ended], dict[str, object]]:
    """Holds what ended in so many seconds, from when `at_once` had ended, and how busy the host was then."""
    ended, numbers, lock, over = list[Ended](), count(), Lock(), Event()
    began = time.monotonic()

    def ask() -> None:
        while not over.is_set():
            with lock:
                again, number = divmod(next(numbers), len(questions))
            evaluation = questions[number].asked(again)
            ended.append(Ended(time.monotonic() - began, evaluation))

    with ThreadPoolExecutor(at_once) as pool:
        asking = [pool.submit(ask) for _ in range(at_once)]
        while len(ended) < at_once:
            time.sleep(0.05)
        first, busy = time.monotonic() - began, Busy.begin()
        time.sleep(seconds)
        was = busy.end()
        over.set()
        for one in asking:
            one.result()
    return [one for one in ended if first < one.at_s <= first + seconds], {"filled_after_s": round(first, 1), **was}


def arm_main(devices: int, cores: int, seconds: float, cache: Path, runs: Sequence[Path]) -> None:
    """Measures an arm, and prints it."""
    with cluster(devices, cores):
        RayCluster(AUTO, cache_folder).connect()
        began = time.monotonic()
        found = [questions_of(run, cache) for run in runs]
        while any(some[0].evaluator.devices < devices for some in found):
            if time.monotonic() - began > OPENING_S:
                raise SystemExit("not all devices have opened the problems")
            time.sleep(0.1)
        opened_s = round(time.monotonic() - began, 1)
        questions = [one for some in found for one in some]
        Random(SEED).shuffle(questions)
        at_once = round(OUT_PER_CORE * cores)
        ended, was = evaluated(questions, at_once, seconds)
    took = sorted(one.evaluation.seconds for one in ended)
    row = {
        "devices": devices,
        "cores": cores,
        "at_once": at_once,
        "candidates": len(questions),
        "opened_s": opened_s,
        "seconds": seconds,
        "evaluations": len(ended),
        "timed": sum(one.timed for one in ended),
        "evaluations_per_s": round(len(ended) / seconds, 3),
        "timed_per_s": round(sum(one.timed for one in ended) / seconds, 3),
        "evaluation_s_median": statistics.median(took) if took else None,
        "outcomes": dict(Counter(one.evaluation.outcome.label for one in ended)),
        "device": found[0][0].evaluator.device,
        **was,
    }
    print(json.dumps(row), flush=True)


def arm(devices: int, cores: int, seconds: float, runs: Sequence[Path]) -> dict[str, object]:
    """An arm, measured by a process with a copy of the cache."""
    with tempfile.TemporaryDirectory(prefix="porter-arm-") as name:
        cache = Path(name) / "cache"
        if cache_folder().exists():
            shutil.copytree(cache_folder(), cache, symlinks=True)
        words = map(str, ("arm", devices, cores, seconds, cache, *runs))
        command = [sys.executable, "-m", "benchmarks.serve.ray_devices", *words]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    print(done.stdout.splitlines()[-1], flush=True)
    return json.loads(done.stdout.splitlines()[-1])


def measured(arms: Sequence[tuple[int, int]], seconds: float, runs: Sequence[Path]) -> dict[str, object]:
    rows = [arm(devices, cores, seconds, runs) for devices, cores in arms]
    one = [row for row in rows if row["devices"] == 1]
    more = [row for row in rows if row["devices"] > 1]
    ratios = {
        f"{b['devices']} with {b['cores']} cores over 1 with {a['cores']}": round(
            b["evaluations_per_s"] / a["evaluations_per_s"], 3
        )
        for b in more
        for a in one
    }
    versions = {**environment(), "ray": package_version("ray")}
    return {"runs": [run.name for run in runs], "ratios": ratios, "arms": rows, "cores": os.cpu_count(), **versions,
            "system": platform.platform()}  # fmt: skip


def main() -> None:
    if sys.argv[1:2] == ["arm"]:
        devices, cores, seconds, cache, *runs = sys.argv[2:]
        arm_main(int(devices), int(cores), float(seconds), Path(cache), [Path(run) for run in runs])
        return
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("runs", type=Path, nargs="+")
    arguments.add_argument("--arms", nargs="+", default=("1:16", "2:32", "1:32"))
    arguments.add_argument("--seconds", type=float, default=60.0)
    arguments.add_argument("--out", type=Path)
    given = arguments.parse_args()
    arms = [(int(devices), int(cores)) for devices, cores in (one.split(":") for one in given.arms)]
    text = json.dumps(measured(arms, given.seconds, [run.resolve() for run in given.runs]), indent=1) + "\n"
    print(text, end="")
    if given.out:
        given.out.write_text(text)


if __name__ == "__main__":
    main()
