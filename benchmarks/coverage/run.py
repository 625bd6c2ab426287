"""Run `porter migrate` over the public CUDA named in corpus.toml and write the outcome of every entry.

    python benchmarks/coverage/run.py CHECKOUTS [--target NAME] [--only WORD] [--missing] [--failed] [--jobs N]
        [--keep FOLDER] [--output FILE] [--commit HASH]

CHECKOUTS holds one folder a repository, named `owner+name`, at the commit of corpus.toml. Each file is migrated by a
process of its own with a time limit; FILE (`<target>.json` beside this script) gets a record an entry, in corpus order,
after every file, with the commit of porter it was made at: that of the tree this script stands in, or `--commit`.
`--missing` runs the files without a record, `--failed` those with an entry that is not verified; with both, either.
With `--keep` the ports stay.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path

HERE = Path(__file__).parent
FILE_LIMIT_S = 600.0


@dataclass(frozen=True)
class Item:
    repository: str
    commit: str
    family: str
    path: str
    include_dirs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Record:
    """What came of one entry at commit `porter`.

    `seconds` is the whole file's, `launched` names the kernels that a workload launched.
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


def read_corpus(only: str) -> list[Item]:
    corpus = tomllib.loads((HERE / "corpus.toml").read_text())
    items = [
        Item(
            repository["name"],
            repository["commit"],
            file["family"],
            file["path"],
            tuple(repository.get("include_dirs", ())),
        )
        for repository in corpus["repository"]
        for file in repository["files"]
    ]
    return [item for item in items if only in f"{item.repository}/{item.path}"]


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


def migrate(item: Item, target: str, root: Path, keep: Path | None) -> list[Record]:
    with tempfile.TemporaryDirectory() as scratch:
        path = checkout(item, root, Path(scratch))
        command = [
            sys.executable,
            "-m",
            "porter",
            "migrate",
            str(path),
            "--target",
            target,
            "--json",
            "-o",
            str(keep / kept_name(item.repository, item.path) if keep else Path(scratch, "out")),
            *(f"--include-dir={folder(item, root) / name}" for name in item.include_dirs),
        ]
        start = time.monotonic()
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=FILE_LIMIT_S, check=False)
        except subprocess.TimeoutExpired:
            return [failed(item, "timeout", f"no answer in {FILE_LIMIT_S:.0f} s", FILE_LIMIT_S)]
        seconds = round(time.monotonic() - start, 1)
    try:
        document = json.loads(done.stdout)
    except json.JSONDecodeError:
        return [failed(item, "crash", (done.stderr.strip().splitlines() or ["no output"])[-1], seconds)]
    if "error" in document:
        return [failed(item, "error", document["error"]["message"], seconds)]
    return [
        record(item, entry, migration, seconds)
        for migration in document.get("migrations", [document])
        for entry in migration["entries"]
    ] or [without_entries(item, document, seconds)]


def kept_name(repository: str, path: str) -> str:
    """The folder a file's port is kept in."""
    return re.sub(r"[^\w.+-]", "+", f"{repository}+{path}")


def record(item: Item, entry: dict, migration: dict, seconds: float) -> Record:
    codes = Counter(finding["code"] for finding in migration["findings"])
    return Record(
        item.repository, item.path, item.family, entry["name"], entry["kind"], len(entry["kernels"]),
        entry["outcome"], entry["because"], sorted(codes), seconds, entry["launched"],
    )  # fmt: skip


def without_entries(item: Item, document: dict, seconds: float) -> Record:
    found = [f"{finding['code']}: {finding['message']}" for finding in document.get("findings", ())]
    return failed(item, document.get("outcome", "none"), "; ".join(["no entries", *found]), seconds)


def failed(item: Item, outcome: str, because: str, seconds: float) -> Record:
    return Record(item.repository, item.path, item.family, "", "", 0, outcome, because, [], seconds, [])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("--target", default="maca")
    parser.add_argument("--only", default="")
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("--failed", action="store_true")
    parser.add_argument("--commit", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    output = arguments.output or HERE / f"{arguments.target}.json"
    items = read_corpus(arguments.only)
    if arguments.missing or arguments.failed:
        chosen = wanted(items, recorded(output), missing=arguments.missing, failed=arguments.failed)
        items = [item for item in items if (item.repository, item.path) in chosen]
    commit = arguments.commit or own_commit()
    outcomes: Counter[str] = Counter()
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for found in pool.map(lambda item: migrate(item, arguments.target, arguments.checkouts, arguments.keep), items):
            write(output, [asdict(replace(r, porter=commit)) for r in found])
            outcomes.update(r.outcome for r in found)
            for r in found:
                print(f"{r.outcome:13} {r.repository}/{r.path} {r.entry} [{r.seconds} s] {r.because[:150]}", flush=True)
    print(outcomes)


def own_commit() -> str:
    """The commit of the tree this script stands in."""
    command = ["git", "-C", str(HERE), "rev-parse", "--short", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit("this is no git checkout: name the commit of porter with --commit")
    return done.stdout.strip()


def wanted(items: list[Item], records: list[dict], *, missing: bool, failed: bool) -> set[tuple[str, str]]:
    """The files, by repository and path, that have no record, or one that is not verified."""
    done = {(r["repository"], r["path"]) for r in records}
    fell_short = {(r["repository"], r["path"]) for r in records if r["outcome"] != "verified"}
    unknown = {(item.repository, item.path) for item in items} - done
    return (unknown if missing else set()) | (fell_short if failed else set())


def recorded(path: Path) -> list[dict]:
    return json.loads(path.read_text()) if path.exists() else []


def write(path: Path, fresh: list[dict]) -> None:
    """Replaces the records of the files that were run and keeps those of all others; folders of this machine go."""
    for record in fresh:
        record["because"] = re.sub(r"(/[^/:,;()'`]+)+/(?=[^/\s:]+:)", "", record["because"])
    run = {(r["repository"], r["path"]) for r in fresh}
    records = [*(r for r in recorded(path) if (r["repository"], r["path"]) not in run), *fresh]
    order = {(item.repository, item.path): n for n, item in enumerate(read_corpus(""))}
    records.sort(key=lambda r: order[r["repository"], r["path"]])
    path.write_text(json.dumps(records, indent=1) + "\n")


if __name__ == "__main__":
    main()
