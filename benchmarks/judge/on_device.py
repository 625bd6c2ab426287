"""Judge the kept cheats and honest candidates on this machine's device, as `porter bench --fidelity native` does.

    python -m benchmarks.judge.on_device RESULTS.json [--processes N] [--honest-timed N] [--seconds S]
        [--family NAME]...

Every candidate of tests/toolchain/triton/candidates is held to a softmax of 16384 rows of 1024 in PyTorch: first by the
interpreter and then, where that found nothing, on the device, also at these sizes. What is verified of those that are
not honest is timed as well, and so are the first honest ones. RESULTS has what came of each; no cheat may be verified
but those of the family `named`, of whose verdicts the tests say what they have to name.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from porter.cache_folder import cache_folder
from porter.errors import PorterError
from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.model.outcome import Fidelity, Verified
from porter.evaluate.model.speed import Measured
from porter.evaluate.model.verdict import Verdict
from porter.evaluate.verify import verify
from porter.measure.environment import Environment
from porter.native.versions import commit
from tests.toolchain.triton.held_candidates import FAMILIES, pieces

REFERENCE = """
import torch

def reference(x):
    return torch.softmax(x, dim=-1)

def get_inputs():
    return [torch.randn(16384, 1024)]
"""
HONEST, NAMED = "honest", "named"
SEED = 20261123


def main() -> None:
    """Judges all, then times some, and writes what came of it."""
    arguments = parsed()
    deadline = time.monotonic() + arguments.seconds
    families = arguments.family or [*FAMILIES, NAMED, HONEST]
    every = [(family, piece.name, piece.text) for family in families for piece in pieces(family)]
    rows = judged(every, arguments.processes, deadline, timed=False)
    verified = {(r["family"], r["name"]) for r in rows if r["outcome"] == Verified.label}
    doubtful = [one for one in every if one[0] != HONEST and one[:2] in verified]
    honest = [one for one in every if one[0] == HONEST and one[:2] in verified][: arguments.honest_timed]
    times = judged([*doubtful, *honest], 4, deadline, timed=True)
    told = {
        "commit": commit() or os.environ.get("PORTER_COMMIT", ""),
        "device": next((row["device"] for row in times if row.get("device")), ""),
        "asked": len(every),
        "judged": len(rows),
        "outcomes": outcomes(rows),
        "cheats_verified": [r for r in rows if r["outcome"] == Verified.label and r["family"] not in (HONEST, NAMED)],
        "honest_not_verified": [r for r in rows if r["outcome"] != Verified.label and r["family"] == HONEST],
        "timed": times,
    }
    arguments.results.write_text(json.dumps(told, indent=1) + "\n")
    print(json.dumps({**told, "timed": len(times)}, indent=1))


def parsed() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    parser.add_argument("--processes", type=int, default=8)
    parser.add_argument("--honest-timed", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--family", action="append", choices=[*FAMILIES, NAMED, HONEST])
    return parser.parse_args()


def judged(every: list[tuple[str, str, str]], processes: int, deadline: float, *, timed: bool) -> list[dict]:
    """A row for each candidate that was judged before the deadline."""
    rows = []
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        waiting = [pool.submit(row, *one, timed) for one in every]
        try:
            for done in as_completed(waiting, max(0.0, deadline - time.monotonic())):
                rows.append(done.result())
                print(*rows[-1].values(), flush=True)
        except TimeoutError:
            print(f"{len(waiting) - len(rows)} were not judged in time", flush=True)
            pool.shutdown(wait=False, cancel_futures=True)
    return sorted(rows, key=lambda r: (r["family"], r["name"]))


def row(family: str, name: str, text: str, timed: bool) -> dict:
    """Returns what came of a candidate."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        candidate, against = Path(folder) / f"{name}.py", Path(folder) / "softmax_rows.py"
        candidate.write_text(text)
        against.write_text(REFERENCE)
        options = MigrateOptions(
            "triton", cache_folder(), seed=SEED, fidelity=Fidelity.NATIVE, entry="forward", timed=timed,
            environment=dict(os.environ),
        )  # fmt: skip
        try:
            found = verify(candidate, against, options, lambda _: None)
        except PorterError as error:
            return {"family": family, "name": name, "outcome": "error", "because": error.message}
    said = {"family": family, "name": name, "outcome": found.outcome.label, "fidelity": found.fidelity.value}
    because = getattr(found.outcome, "because", "") or getattr(found.outcome, "caveat", "")
    return {**said, "because": because[:300], **times_of(found), "seconds": round(time.monotonic() - began, 1)}


def times_of(found: Verdict) -> dict:
    """Returns how many times as fast as PyTorch a candidate is, or why that is not known; nothing if nobody asked."""
    for entry in found.entries:
        for speed in entry.speeds:
            if not isinstance(speed, Measured):
                return {"not_timed": speed.because}
            environment: Environment = speed.environment
            return {
                "median_us": round(speed.timing.median_us, 2),
                "faster": {b.name: round(1 / b.ratio.median, 3) for b in speed.baselines},
                "device": environment.device,
            }
    return {}


def outcomes(rows: list[dict]) -> dict[str, dict[str, int]]:
    """The outcomes of each family."""
    families = {row["family"]: None for row in rows}
    return {name: dict(Counter(r["outcome"] for r in rows if r["family"] == name)) for name in families}


if __name__ == "__main__":
    main()
