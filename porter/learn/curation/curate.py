"""From folders of Python to tasks: read classes, try them, leave out what repeats, write the rest.

Each stage leaves a file with its records, from which the same command goes on: `classes.jsonl`, `trials.jsonl`,
`tasks.jsonl`, and then the tasks themselves.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from porter.errors import InputError, unwritable
from porter.learn.curation.extraction import read_classes
from porter.learn.curation.holding_out import HeldOut
from porter.learn.curation.layouts import write_layouts
from porter.learn.curation.record_files import Appending, read_records, write_records
from porter.learn.curation.records import Curated, Reached, ReadClass, Trial
from porter.learn.curation.sorting_out import sorted_out
from porter.learn.curation.sources import Repository, read_repository
from porter.learn.curation.trials import tried
from porter.learn.curation.writing import write_tasks
from porter.suite.lock import locked
from porter.whole_file import whole_file

Progress = Callable[[str], None]
_ABOUT, _CLASSES, _TRIALS, _TASKS = "about.json", "classes.jsonl", "trials.jsonl", "tasks.jsonl"
_FORMAT = "porter curation 1"


@dataclass(frozen=True, slots=True)
class Curation:
    """The result: how many were left after each stage, tasks by family, and how many were refused for which reason.

    `suite` is the folder of the tasks.
    """

    suite: Path
    counts: Mapping[str, int]
    families: Mapping[str, int]
    refusals: Mapping[str, int]
    misfits: Mapping[str, int]


def curate(roots: Sequence[Path], out: Path, held_out: HeldOut, workers: int, step: Progress) -> Curation:
    """Makes tasks of the classes in the folders `roots`, or goes on where that was broken off in `out`.

    Raises `InputError` for what is no such folder, and where `out` is about others, and `UsageError` where another
    process works in it.
    """
    repositories = [read_repository(root) for root in roots]
    with locked(out):
        return _curated(repositories, out, held_out, workers, step)


def _curated(
    repositories: Sequence[Repository], out: Path, held_out: HeldOut, workers: int, step: Progress
) -> Curation:
    _begin(out, repositories)
    read = _read(repositories, out, step)
    trials = _try(_different(read), out, workers, step)
    step("comparing what ran")
    sorted_tasks = sorted_out(read, trials, held_out)
    write_records(sorted_tasks, out / _TASKS)
    kept = [one for one in sorted_tasks if not one.same_as]
    step(f"writing {len(kept)} tasks")
    tasks = write_tasks(kept, read, trials, out / "suite")
    write_layouts(tasks, out)
    return _summary(repositories, read, trials, sorted_tasks, out)


def _begin(out: Path, repositories: Sequence[Repository]) -> None:
    about = {
        "format": _FORMAT,
        "repositories": [
            {"name": one.root.name, "commit": one.commit, "files": len(one.files)} for one in repositories
        ],
    }
    text = json.dumps(about, indent=1, sort_keys=True) + "\n"
    file = out / _ABOUT
    try:
        if file.exists():
            if file.read_text("utf-8") != text:
                raise InputError(f"{out}: holds a curation of other repositories", "name another --out")
            return
        if any(not path.name.startswith(".") for path in out.iterdir()):
            raise InputError(f"{out}: holds files that are not a curation", "name another --out")
        with whole_file(file) as fresh:
            fresh.write_text(text, "utf-8")
    except OSError as error:
        raise unwritable(out, error) from error


def _read(repositories: Sequence[Repository], out: Path, step: Progress) -> list[ReadClass]:
    file = out / _CLASSES
    if not file.exists():
        found: list[ReadClass] = []
        for repository in repositories:
            step(f"reading {repository.root.name}")
            found += read_classes(repository)
        write_records(found, file)
    return read_records(ReadClass, file)


def _different(read: Sequence[ReadClass]) -> list[ReadClass]:
    """Returns those that stand alone, the first of each code."""
    first: dict[str, ReadClass] = {}
    for one in read:
        if one.code:
            first.setdefault(one.digest, one)
    return list(first.values())


def _try(classes: Sequence[ReadClass], out: Path, workers: int, step: Progress) -> list[Trial]:
    digests = {one.key: one.digest for one in classes}
    tried_before = read_records(Trial, out / _TRIALS)
    held = {one.key: one for one in tried_before if digests.get(one.key) == one.digest}
    file = Appending(out / _TRIALS, held.values())
    waiting = [one for one in classes if one.key not in held]

    def one_trial(one: ReadClass) -> None:
        trial = tried(one)
        held[one.key] = trial
        file.add(trial)
        step(f"tried {len(held)} of {len(classes)} classes")

    with ThreadPoolExecutor(workers) as pool:
        for _ in pool.map(one_trial, waiting):
            pass
    return [held[one.key] for one in classes]


def _summary(
    repositories: Sequence[Repository],
    read: Sequence[ReadClass],
    trials: Sequence[Trial],
    tasks: Sequence[Curated],
    out: Path,
) -> Curation:
    reached = Counter(one.reached for one in trials)
    fit, ran, built = reached[Reached.FIT], reached[Reached.RAN], reached[Reached.BUILT]
    repeated = Counter(one.because for one in tasks)
    kept = [one for one in tasks if not one.same_as]
    counts = {
        "files read": sum(len(one.files) for one in repositories),
        "classes read": len(read),
        "stand alone": sum(bool(one.code) for one in read),
        "of different code": len(trials),
        "built": built + ran + fit,
        "ran": ran + fit,
        "answer as a task does": fit,
        "not held out": fit - repeated["held out"],
        "of different graphs": fit - repeated["held out"] - repeated["graph"],
        "tasks: not nearly the same code": len(kept),
        "of these at sizes worth timing": sum(
            one.scaled is not None for one in trials if one.key in {task.key for task in kept}
        ),
        "clusters": len({one.cluster for one in kept}),
    }
    return Curation(
        out / "suite",
        counts,
        dict(Counter(one.family for one in kept).most_common()),
        dict(Counter(one.refusal for one in read if not one.code).most_common()),
        dict(Counter(one.error for one in trials if one.reached is Reached.RAN).most_common()),
    )
