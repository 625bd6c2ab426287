"""Search for better ports on this machine's GPU, and say where its time goes; keeps the runs of the searches.

    python benchmarks/evolve/on_device.py OUT --target triton --rounds 40 --seconds 60 OPERATOR...

OPERATOR is a folder with kernel.cu and contract.toml, or a CUDA source. All are searched at once, each by a process of
its own, as a suite's run does. Prints a row for each and what the device was asked; OUT.tar.gz holds what they wrote.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import subprocess
import sys
import tarfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from porter.cli.main import main as porter
from porter.evolve.scoring.evaluator import LocalEvaluator
from porter.evolve.scoring.timed import TimedScorer
from porter.measure.lock import DeviceLock
from porter.native.session import Session

SPENT: defaultdict[str, float] = defaultdict(float)
COUNTS: defaultdict[str, int] = defaultdict(int)


@contextmanager
def timed(name: str) -> Iterator[None]:
    """Adds what is done within to what is spent on `name`."""
    begin = time.monotonic()
    try:
        yield
    finally:
        SPENT[name] += time.monotonic() - begin
        COUNTS[name] += 1


def spending(name: str, method: Callable[..., object]) -> Callable[..., object]:
    """`method`, whose time is spent on `name`."""

    def called(*given: object) -> object:
        with timed(name):
            return method(*given)

    return called


def watched() -> None:
    """From here on every wait for the device, every turn there, and every question to a worker is timed."""
    turn, shared, ask = DeviceLock.turn, DeviceLock.shared, Session._ask

    def holding(name: str, take: Callable[..., contextlib.AbstractContextManager[object]]) -> object:
        @contextmanager
        def held(self: DeviceLock, *given: object) -> Iterator[object]:
            begin = time.monotonic()
            with take(self, *given) as taken:
                SPENT[f"wait {name}"] += time.monotonic() - begin
                COUNTS[f"wait {name}"] += 1
                with timed(name):
                    yield taken

        return held

    def asking(self: Session, question: object, *rest: object, **named: object) -> bytes:
        with timed(type(question).__name__.lower()):
            return ask(self, question, *rest, **named)  # type: ignore[arg-type]

    for name, kind, method in (("judge", LocalEvaluator, "evaluate"), ("plan", TimedScorer, "_planned")):
        setattr(kind, method, spending(name, getattr(kind, method)))
    DeviceLock.turn = holding("turn", turn)  # type: ignore[method-assign, assignment]
    DeviceLock.shared = holding("shared", shared)  # type: ignore[method-assign, assignment]
    Session._ask = asking  # type: ignore[method-assign, assignment]


def search(operator: Path, arguments: argparse.Namespace) -> dict[str, object]:
    """One operator, in this process."""
    watched()
    folder = operator if operator.is_dir() else operator.parent
    source = operator / "kernel.cu" if operator.is_dir() else operator
    out = arguments.out / (operator.name if operator.is_dir() else operator.stem)
    contract = ["--contract", str(folder / "contract.toml")] if operator.is_dir() else []
    reference = folder / "reference.py"
    beside = ["--reference", str(reference)] if operator.is_dir() and reference.is_file() else []
    spending = ["--rounds", str(arguments.rounds), "--seconds", str(arguments.seconds), "--jobs", str(arguments.jobs)]
    said, begin = io.StringIO(), time.monotonic()
    with contextlib.redirect_stdout(said):
        to = ["--target", arguments.target, "-o", str(out), "--force", "--json"]
        code = porter(["migrate", str(source), *contract, *beside, *spending, *to])
    seconds = time.monotonic() - begin
    out.mkdir(parents=True, exist_ok=True)
    (out / "migrate.json").write_text(said.getvalue())
    return {**_found(out / f"{source.stem}.search"), "code": code, "seconds": seconds, "spent": SPENT, "counts": COUNTS}


def _found(run: Path) -> dict[str, object]:
    """Returns what the journal says came of it."""
    journal = run / "journal.jsonl"
    lines = [json.loads(line) for line in journal.read_text().splitlines()] if journal.exists() else []
    told = [line for line in lines if line["event"] == "told"]
    if not told:
        return {"evaluations": 0}
    outcomes: defaultdict[str, int] = defaultdict(int)
    for line in told:
        outcomes[line["scored"]["outcome"] + ("" if line["scored"]["score"] else " without a score")] += 1
    scored = [line["scored"] for line in told if line["scored"]["score"]]
    best = max(scored, key=lambda one: one["score"]["low"], default=None)
    return {
        "evaluations": len(told),
        "rounds": sum(line["event"] == "closed" for line in lines) - 1,
        "searching": told[-1]["seconds"],
        "ended": next((line["because"] for line in lines if line["event"] == "ended"), "not ended"),
        "outcomes": outcomes,
        "built": len({one["built"] for one in scored if one["built"]}),
        "seed": told[0]["scored"]["feedback"],
        "best": best and best["feedback"],
        "factor": best and best["score"]["factor"],
    }


def main() -> int:
    """All operators at once."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("operators", type=Path, nargs="+")
    parser.add_argument("--target", default="triton")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--jobs", type=int, default=3)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(search(arguments.operators[0], arguments)))
        return 0
    own = ["--target", arguments.target, "--rounds", str(arguments.rounds), "--seconds", str(arguments.seconds)]
    command = [sys.executable, __file__, str(arguments.out), *own, "--jobs", str(arguments.jobs), "--one"]
    pairs = [(one, subprocess.Popen([*command, str(one)], stdout=subprocess.PIPE)) for one in arguments.operators]
    for operator, process in pairs:
        said, _ = process.communicate()
        _print(operator, json.loads(said) if process.returncode == 0 else {"code": process.returncode})
    with tarfile.open(f"{arguments.out}.tar.gz", "w:gz") as tar:
        tar.add(arguments.out, arguments.out.name)
    return 0


def _print(operator: Path, found: dict[str, object]) -> None:
    spent, counts = found.pop("spent", {}), found.pop("counts", {})
    print(f"== {operator}")
    for name, value in found.items():
        print(f"  {name}: {value}")
    assert isinstance(spent, dict)
    assert isinstance(counts, dict)
    for name, seconds in sorted(spent.items(), key=lambda item: -item[1]):
        print(f"  {seconds:8.2f} s  {counts[name]:5d} times  {1e3 * seconds / counts[name]:8.1f} ms  {name}")
    sys.stdout.flush()


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    raise SystemExit(main())
