"""Run `porter migrate` over the public CUDA that a list names and write the outcome of every entry.

    python benchmarks/coverage/run.py CHECKOUTS [--corpus FILE] [--target NAME]... [--only WORD] [--missing] [--failed]
        [--order SEED] [--take N] [--seconds S] [--limit S] [--porter-limit S] [--jobs N] [--keep FOLDER]
        [--commit HASH]

CHECKOUTS holds one folder a repository, named `owner+name`, at the commit of the list: `corpus.toml`, by whose files
porter was mended, or `unseen_<date>.toml`, chosen and frozen before anything of it was run. Each file is migrated with
default options by a process of its own within `--limit` seconds, of which porter's own limit is its default or, for a
machine that others keep busy, `--porter-limit`; `<list>_<target>.json` beside the list gets a record an entry, in the
order of the list, after every file, with the commit of porter it was made at: that of the tree this script stands in,
or `--commit`. A record says whether it is of the first try of its file.

`--missing` runs the files without a record, `--failed` those with an entry that is not verified; with both, either.
`--order` takes the files in a random order that SEED decides, and with `--take` the first N of that order alone, so
that a part of a list is a sample of it. No file is begun after `--seconds`, but those begun end: the whole takes
`--seconds` and `--limit` at most, and no file is left out because it was slow. With `--keep` the ports stay.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TARGETS = ("maca", "triton")


@dataclass(frozen=True)
class Item:
    repository: str
    commit: str
    family: str
    path: str
    include_dirs: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        """Returns what names the file among all."""
        return self.repository, self.path


@dataclass(frozen=True)
class Record:
    """The result of one entry at commit `porter`.

    `seconds` is the whole file's, `launched` names the kernels that a workload launched. On the `first_try` porter had
    not met the file before.
    """

    repository: str
    path: str
    family: str
    entry: str
    kind: str
    kernels: int
    outcome: str
    because: str
    findings: list[str]
    seconds: float
    launched: list[str]
    porter: str = ""
    first_try: bool = False


@dataclass(frozen=True)
class Runner:
    """Migrates files: from given checkouts, for one target, within so many seconds each."""

    checkouts: Path
    target: str
    limit_s: float
    keep: Path | None = None
    porter_limit_s: float | None = None

    def migrate(self, item: Item) -> list[Record]:
        """A record for each entry of the file, or one that says why it has none."""
        with tempfile.TemporaryDirectory() as scratch:
            start = time.monotonic()
            answer = self._answer(self._command(item, Path(scratch)))
        if answer is None:
            return [failed(item, "timeout", f"no answer in {self.limit_s:.0f} s", self.limit_s)]
        return records_of(item, *answer, round(time.monotonic() - start, 1))

    def _answer(self, command: list[str]) -> tuple[str, str] | None:
        """Returns what the command prints and complains of; None where it took too long, and all that it began is
        ended.
        """
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, start_new_session=True)
        try:
            return process.communicate(timeout=self.limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return None

    def _command(self, item: Item, scratch: Path) -> list[str]:
        out = self.keep / kept_name(*item.key) if self.keep else scratch / "out"
        path = checkout(item, self.checkouts, scratch)
        includes = (f"--include-dir={folder(item, self.checkouts) / name}" for name in item.include_dirs)
        porter = [sys.executable, "-m", "porter", "migrate", str(path), "--target", self.target, "--json"]
        limit = [f"--limit={self.porter_limit_s}"] if self.porter_limit_s else []
        return [*porter, "-o", str(out), *limit, *includes]


def read_corpus(only: str, corpus: Path = HERE / "corpus.toml") -> list[Item]:
    """The files that the list names, those with `only` in their repository and path."""
    items = [
        Item(r["name"], r["commit"], file["family"], file["path"], tuple(r.get("include_dirs", ())))
        for r in tomllib.loads(corpus.read_text())["repository"]
        for file in r["files"]
    ]
    return [item for item in items if only in f"{item.repository}/{item.path}"]


def sampled(items: list[Item], seed: int | None, take: int | None) -> list[Item]:
    """The first `take` of the files in the order that `seed` decides, or in that of the list without one.

    An order depends on nothing but the seed and the files, so that two parts of it never overlap.
    """
    if seed is not None:
        items = sorted(items, key=lambda item: item.key)
        random.Random(seed).shuffle(items)
    return items[:take]


def folder(item: Item, root: Path) -> Path:
    return root / item.repository.replace("/", "+")


def checkout(item: Item, root: Path, scratch: Path) -> Path:
    """The file on disk; a member of a JSON-lines collection is written out first."""
    if "#" not in item.path:
        return folder(item, root) / item.path
    name, key = item.path.split("#")
    level, task = key.split("/")
    rows = [json.loads(line) for line in (folder(item, root) / name).read_text().splitlines()]
    row = next(r for r in rows if (str(r["level_id"]), str(r["task_id"])) == (level, task))
    path = scratch / f"level{level}_{task}.py"
    path.write_text(row["custom_code"])
    return path


def kept_name(repository: str, path: str) -> str:
    """The folder a file's port is kept in."""
    return re.sub(r"[^\w.+-]", "+", f"{repository}+{path}")


def records_of(item: Item, printed: str, complaint: str, seconds: float) -> list[Record]:
    """Returns what `porter migrate --json` printed about the file, an entry at a time."""
    try:
        document = json.loads(printed)
    except json.JSONDecodeError:
        return [failed(item, "crash", (complaint.strip().splitlines() or ["no output"])[-1], seconds)]
    if "error" in document:
        return [failed(item, "error", document["error"]["message"], seconds)]
    return [
        record(item, entry, migration, seconds)
        for migration in document.get("migrations", [document])
        for entry in migration["entries"]
    ] or [without_entries(item, document, seconds)]


def record(item: Item, entry: dict[str, Any], migration: dict[str, Any], seconds: float) -> Record:
    codes = Counter(finding["code"] for finding in migration["findings"])
    return Record(
        item.repository, item.path, item.family, entry["name"], entry["kind"], len(entry["kernels"]),
        entry["outcome"], entry["because"], sorted(codes), seconds, entry["launched"],
    )  # fmt: skip


def without_entries(item: Item, document: dict[str, Any], seconds: float) -> Record:
    found = [f"{finding['code']}: {finding['message']}" for finding in document.get("findings", ())]
    return failed(item, document.get("outcome", "none"), "; ".join(["no entries", *found]), seconds)


def failed(item: Item, outcome: str, because: str, seconds: float) -> Record:
    return Record(item.repository, item.path, item.family, "", "", 0, outcome, because, [], seconds, [])


def wanted(items: list[Item], records: list[dict[str, Any]], *, missing: bool, failed: bool) -> list[Item]:
    """The files that have no record, those with one that is not verified, or all where neither is asked for."""
    if not missing and not failed:
        return items
    done = {(r["repository"], r["path"]) for r in records}
    fell_short = {(r["repository"], r["path"]) for r in records if r["outcome"] != "verified"}
    return [item for item in items if (missing and item.key not in done) or (failed and item.key in fell_short)]


def records_file(corpus: Path, target: str) -> Path:
    """Returns where the outcomes of a list are kept."""
    return corpus.with_name(f"{corpus.stem}_{target}.json")


def recorded(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_text()) if path.exists() else []


def write(path: Path, corpus: Path, fresh: Sequence[Record]) -> None:
    """Replaces the records of the files that were run and keeps those of all others; folders of this machine go.

    The file is replaced as a whole, so that a run which is killed leaves the records it had.
    """
    before, run = recorded(path), {(r.repository, r.path) for r in fresh}
    met = {(r["repository"], r["path"]) for r in before}
    rows = [asdict(replace(r, first_try=(r.repository, r.path) not in met)) for r in fresh]
    for row in rows:
        row["because"] = re.sub(r"(?<![\w.-])(/[^/:,;()'`]+)+/(?=[^/\s:]+:)", "", row["because"])
    records = [*(r for r in before if (r["repository"], r["path"]) not in run), *rows]
    order = {item.key: n for n, item in enumerate(read_corpus("", corpus))}
    records.sort(key=lambda r: order[r["repository"], r["path"]])
    whole = path.with_suffix(".part")
    whole.write_text(json.dumps(records, indent=1) + "\n")
    whole.replace(path)


def own_commit() -> str:
    """The commit of the tree this script stands in."""
    command = ["git", "-C", str(HERE), "rev-parse", "--short", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit("this is no git checkout: name the commit of porter with --commit")
    return done.stdout.strip()


def work(arguments: argparse.Namespace) -> list[tuple[Runner, Item]]:
    """Returns what is to be run: each file for every target before the next file, so that a cut run has both of what
    it has.
    """
    items = sampled(read_corpus(arguments.only, arguments.corpus), arguments.order, arguments.take)
    pairs = []
    for target in arguments.target or TARGETS[:1]:
        runner = Runner(arguments.checkouts, target, arguments.limit, arguments.keep, arguments.porter_limit)
        known = recorded(records_file(arguments.corpus, target))
        chosen = wanted(items, known, missing=arguments.missing, failed=arguments.failed)
        pairs += [(runner, item) for item in chosen]
    place = {item.key: n for n, item in enumerate(items)}
    return sorted(pairs, key=lambda pair: place[pair[1].key])


def until(deadline: float, pairs: Sequence[tuple[Runner, Item]]) -> Callable[[int], tuple[Runner, list[Record]]]:
    """A function that runs one of `pairs`, and none after the deadline."""

    def run(n: int) -> tuple[Runner, list[Record]]:
        runner, item = pairs[n]
        return runner, runner.migrate(item) if time.monotonic() < deadline else []

    return run


def outcomes_of(arguments: argparse.Namespace, commit: str) -> Iterator[Record]:
    """Yields the records as they come, each kept before the next; a slow file holds up the record of no other."""
    pairs = work(arguments)
    run = until(time.monotonic() + arguments.seconds, pairs)
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for done in as_completed([pool.submit(run, n) for n in range(len(pairs))]):
            runner, found = done.result()
            at_commit = [replace(r, porter=commit) for r in found]
            if at_commit:
                write(records_file(arguments.corpus, runner.target), arguments.corpus, at_commit)
            yield from at_commit


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("--corpus", type=Path, default=HERE / "corpus.toml")
    parser.add_argument("--target", action="append", choices=TARGETS)
    parser.add_argument("--only", default="")
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("--failed", action="store_true")
    parser.add_argument("--order", type=int)
    parser.add_argument("--take", type=int)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--limit", type=float, default=600.0)
    parser.add_argument("--porter-limit", type=float)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--commit", default="")
    arguments = parser.parse_args()
    outcomes: Counter[str] = Counter()
    for r in outcomes_of(arguments, arguments.commit or own_commit()):
        outcomes[r.outcome] += 1
        print(f"{r.outcome:13} {r.repository}/{r.path} {r.entry} [{r.seconds} s] {r.because[:150]}", flush=True)
    print(outcomes)


if __name__ == "__main__":
    main()
