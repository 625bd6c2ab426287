"""Write docs/coverage.md from the records of run.py: what came of every entry, and the shares by family and repository.

python benchmarks/coverage/table.py > docs/coverage.md
"""

from __future__ import annotations

import json
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

HERE = Path(__file__).parent
# What counts as verified, by target.
TARGETS = {
    "maca": "executed at 64 and at 32 lanes on the CPU, and equal to the original at 32",
    "triton": "executed by Triton's interpreter on the CPU, equal to the original, and compiled for sm_90 and gfx942",
}
# Outcomes that say the source, not the port, is at fault, by how their reason begins.
SOURCE_AT_FAULT = "the original itself cannot be believed"
ABOUT = """\
What `porter migrate` makes of CUDA that nobody wrote for it: the files of `benchmarks/coverage/corpus.toml`, chosen by
family before anything was run. Every row is an entry: a host function, a kernel without one, or a whole program.
A *sound* entry is one whose original porter did not see break its own rules (a race, an index out of bounds, an answer
that depends on memory never written) for which nothing that porter chose, a size or a value, could be the reason; the
share among those stands beside the share of all. A kernel is verified when
a workload of a verified entry launched it; the instances of a template are not counted by themselves. No speed was
measured.
Regenerate with `benchmarks/coverage/run.py` and `table.py`.
"""

Record = dict[str, str]


def main() -> None:
    corpus = tomllib.loads((HERE / "corpus.toml").read_text())["repository"]
    results = {t: json.loads((HERE / f"{t}.json").read_text()) for t in TARGETS if (HERE / f"{t}.json").exists()}
    print(f"# Coverage on public CUDA\n\n{ABOUT}")
    for target, records in results.items():
        print(f"## {target}\n\nVerified means {TARGETS[target]}.\n")
        commits(records)
        not_run(records, corpus)
        summary("Family", records, lambda r: r["family"])
        summary("Repository", records, lambda r: r["repository"])
        reasons(records)
        if target == "triton":
            scratch(json.loads((HERE / "scratch.json").read_text()))
    for repository in corpus:
        name = repository["name"]
        print(f"## {name}\n\nat `{repository['commit']}`\n")
        for target, records in results.items():
            print(f"{target}:\n")
            rows = [row(r) for r in records if r["repository"] == name]
            table(("path", "entry", "kernels", "outcome", "why not"), rows)


def scratch(files: list[dict]) -> None:
    """How many kernels keep a shared array in global memory, by scratch.py."""
    kernels, using = sum(f["kernels"] for f in files), [name for f in files for name in f["scratch"]]
    share, names = f"{len(using)} ({len(using) / kernels:.1%})", ", ".join(f"`{name}`" for name in using) or "none"
    print(
        f"Of {kernels} kernels that launchers of the ports call, {share} keep a shared array in global memory: "
        f"{names}. The others hold it in registers (`benchmarks/coverage/scratch.py`).\n"
    )


def commits(records: list[Record]) -> None:
    """At which commits of porter the files were run, as far as they are recorded."""
    files = {(r["repository"], r["path"]): r.get("porter") or "an unrecorded commit" for r in records}
    counted = Counter(files.values()).most_common()
    print(f"Run at {', '.join(f'{commit} ({count} files)' for commit, count in counted)} of porter.\n")


def not_run(records: list[Record], corpus: list[dict]) -> None:
    run = {(r["repository"], r["path"]) for r in records}
    missing = [f["path"] for r in corpus for f in r["files"] if (r["name"], f["path"]) not in run]
    if missing:
        print(f"{len(missing)} of {len(run) + len(missing)} files were not run yet; they are in no number below.\n")


def grouped(records: list[Record], key: Callable[[Record], str]) -> dict[str, list[Record]]:
    groups: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        groups[key(record)].append(record)
    return groups


def summary(title: str, records: list[Record], key: Callable[[Record], str]) -> None:
    rows = [counts(name, group) for name, group in grouped(records, key).items()]
    head = (title, "entries", "verified", "share", "share of sound", "kernels", "verified", "share")
    table(head, [*rows, counts("all", records)])


def counts(name: str, records: list[Record]) -> tuple[str, ...]:
    good = [r for r in records if r["outcome"] == "verified"]
    sound = [r for r in records if not r["because"].startswith(SOURCE_AT_FAULT)]
    kernels, verified = sum(int(r["kernels"]) for r in records), sum(launched(r) for r in good)
    return (
        name, str(len(records)), str(len(good)), share(len(good), len(records)), share(len(good), len(sound)),
        str(kernels), str(verified), share(verified, kernels),
    )  # fmt: skip


def launched(record: Record) -> int:
    """How many of an entry's kernels were compared; a record without a list is from before launches were recorded."""
    return len(record["launched"]) if "launched" in record else int(record["kernels"])


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "-"


def reasons(records: list[Record]) -> None:
    print("What the others end in:\n")
    kinds = Counter(reason(r) for r in records if r["outcome"] != "verified")
    table(("reason", "entries"), [(text, str(count)) for text, count in kinds.most_common()])


def reason(record: Record) -> str:
    because = record["because"]
    if because.startswith(SOURCE_AT_FAULT):
        return f"the source itself: {because.split(':')[1].split(' in ')[0].strip()}"
    return f"{record['outcome'].replace('_', ' ')}: {because.split(':')[0]}"[:100]


def row(record: Record) -> tuple[str, ...]:
    verified = record["outcome"] == "verified"
    because = "" if verified else record["because"].replace("|", "\\|").replace("\n", " ")
    return (
        f"`{record['path']}`", f"`{record['entry']}`" if record["entry"] else "-", kernels(record),
        record["outcome"].replace("_", " "), because[:260],
    )  # fmt: skip


def kernels(record: Record) -> str:
    """`2 of 5` where workloads launched two of five."""
    whole = str(record["kernels"])
    return whole if launched(record) == int(whole) else f"{launched(record)} of {whole}"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> None:
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for cells in rows:
        print("| " + " | ".join(cells) + " |")
    print()


if __name__ == "__main__":
    main()
