"""Write docs/coverage.md from the records of run.py: shares by family and repository, and why the others fell short.

python benchmarks/coverage/table.py > docs/coverage.md
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from remarks import REMARKS
from run import HERE, TARGETS, records_file

# Outcomes that say the source, not the port, is at fault, by how their reason begins; the first until 2026-11-23.
SOURCE_AT_FAULT = ("the original itself cannot be believed", "the original's own result is unreliable")
VERIFIED = ("verified", "kernels_verified")
OUTCOMES = (*VERIFIED, "not_verified", "refused", "wrong", "crashed", "timeout", "not_built", "error")
# Why entries fell short, by outcome and reason; the first that fits.
SHORTFALLS = {
    "refused: host code (PORT1801)": ("refused", "PORT1801"),
    "refused: a kernel (PORT1800)": ("refused", "PORT1800"),
    "time: porter's limit, none for the file, or the original is too slow": (
        "timeout|not_verified",
        r"no answer in|limit of \d+ s.*was over|too slow here|uses up the limit",
    ),
    "the CUDA source does not compile here": ("not_built|not_verified", "does not compile"),
    "the original's own result is unreliable": ("not_verified", "|".join(SOURCE_AT_FAULT)),
    "the contract asks a question": ("not_verified", "the contract is open"),
}
SHOWN_REASONS = 12
ABOUT = """\
What `porter migrate` makes of CUDA that nobody wrote for it, an entry at a time: a host function, a kernel without one,
or a whole program. Verified means, for maca, executed at 64 and at 32 lanes on the CPU and equal to the original at 32;
for triton, executed by Triton's interpreter on the CPU, equal to the original, and compiled for sm_90 and gfx942. A
*sound* entry is one whose original porter did not see break its own rules (a race, an index out of bounds, an answer
that depends on memory never written) for which nothing that porter chose, a size or a value, could be the reason. A
kernel is verified when a workload of a verified entry launched it; the instances of a template are not counted by
themselves. *Kernels alone* are entries of which the kernels are equal and the host code could not be compared. No speed
was measured. Every entry, with its reason, is in the JSON beside `benchmarks/coverage/run.py`; this page is written by
`table.py` there.
"""
UNSEEN = """\
Files of `benchmarks/coverage/{name}`, chosen by path and family and frozen before porter was run on any of
them. The numbers are of the first try of each file, with default options and within a limit of wall time on a busy
machine; nothing was mended in between, and which files were run a seed decided.
"""
KNOWN = """\
The files of `benchmarks/coverage/corpus.toml`, chosen by family before anything was run. porter was mended by what came
of them, so that these numbers say what works, and not what a new file may expect.
"""

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Measured:
    """The results of a list of files, by target, as far as they were run at the same commits of porter."""

    title: str
    about: str
    files: int
    results: Mapping[str, Sequence[Record]]


def main() -> None:
    unseen = sorted(HERE.glob("unseen_*.toml"), reverse=True)
    sections = [*(m for corpus in unseen for m in tries(corpus)), known(HERE / "corpus.toml")]
    parts = ["# Coverage on public CUDA\n", ABOUT, *(line for section in sections for line in shown(section))]
    parts += scratch(json.loads((HERE / "scratch.json").read_text()))
    parts += [
        line for path in sorted(HERE.parent.glob("results/mutation_*.json"), reverse=True) for line in mutants(path)
    ]
    print("\n".join(parts).rstrip())


def known(corpus: Path) -> Measured:
    """The list that porter was mended by."""
    return Measured("Known files", KNOWN, files_of(corpus), results_of(corpus))


def tries(corpus: Path) -> Iterator[Measured]:
    """First tries of a list, apart for each commit of porter that files were run at, the latest of them first."""
    date, results = corpus.stem.removeprefix("unseen_"), results_of(corpus)
    commits = dict.fromkeys(r["porter"] for records in results.values() for r in records)
    good = {t: sum(r["outcome"] == "verified" for r in records) for t, records in results.items()}
    about = UNSEEN.format(name=corpus.name) + "\n" + REMARKS.get(corpus.stem, "").format(**good)
    for commit in commits:
        first = {t: [r for r in rs if r["porter"] == commit and r["first_try"]] for t, rs in results.items()}
        yield Measured(f"Never seen before: {date}, porter {commit}", about, files_of(corpus), first)
        about = "Other files of the same list, under the same conditions.\n"


def results_of(corpus: Path) -> dict[str, list[Record]]:
    """The records of a list, by target."""
    paths = {target: records_file(corpus, target) for target in TARGETS}
    return {target: json.loads(path.read_text()) for target, path in paths.items() if path.exists()}


def files_of(corpus: Path) -> int:
    """Returns how many files the list names."""
    return sum(len(repository["files"]) for repository in tomllib.loads(corpus.read_text())["repository"])


def shown(measured: Measured) -> Iterator[str]:
    """A section of the page."""
    yield f"## {measured.title}\n"
    yield measured.about
    for target, records in measured.results.items():
        yield run_at(target, records, measured.files)
    yield ""
    yield from outcomes(measured.results)
    yield from shortfalls(measured.results)
    yield from summary("Family", measured.results, lambda r: r["family"])
    yield from summary("Repository", measured.results, lambda r: r["repository"])
    for target, records in measured.results.items():
        yield from reasons(target, records)


def run_at(target: str, records: Sequence[Record], files: int) -> str:
    """Returns how many of the files were run, and at which commits of porter, as far as these are recorded."""
    ran = {(r["repository"], r["path"]): r.get("porter") or "an unrecorded commit" for r in records}
    counted = ", ".join(f"{commit} ({count})" for commit, count in Counter(ran.values()).most_common())
    return f"- {target}: {len(ran)} of {files} files, {len(records)} entries, at {counted}"


def outcomes(results: Mapping[str, Sequence[Record]]) -> list[str]:
    """Returns how many entries came to each outcome, the targets side by side."""
    counted = {target: Counter(r["outcome"] for r in records) for target, records in results.items()}
    rows = [
        [o.replace("_", " "), *(str(c[o]) for c in counted.values())]
        for o in OUTCOMES
        if any(c[o] for c in counted.values())
    ]
    return table(["outcome", *results], rows)


def shortfalls(results: Mapping[str, Sequence[Record]]) -> list[str]:
    """Returns for how many entries there is which kind of reason why they are not verified."""
    short = {t: [r for r in records if r["outcome"] not in VERIFIED] for t, records in results.items()}
    counted = {target: Counter(map(shortfall, records)) for target, records in short.items()}
    rows = [[kind, *(str(c[kind]) for c in counted.values())] for kind in (*SHORTFALLS, "others")]
    return table(["fell short because", *results], rows)


def shortfall(record: Record) -> str:
    """Returns why an entry is not verified."""
    fits = (
        kind
        for kind, (outcomes, reason) in SHORTFALLS.items()
        if re.fullmatch(outcomes, record["outcome"]) and re.search(reason, record["because"])
    )
    return next(fits, "others")


def summary(title: str, results: Mapping[str, Sequence[Record]], key: Callable[[Record], str]) -> list[str]:
    """Shares by group, the targets side by side."""
    groups = {target: grouped(records, key) for target, records in results.items()}
    names = dict.fromkeys(name for of_target in groups.values() for name in of_target)
    head = [title, *(f"{target} {word}" for target in results for word in ("verified", "of sound", "kernels"))]
    rows = [[name, *(cell for target in results for cell in shares(groups[target].get(name, ())))] for name in names]
    return table(head, [*rows, ["all", *(cell for records in results.values() for cell in shares(records))]])


def grouped(records: Iterable[Record], key: Callable[[Record], str]) -> Mapping[str, list[Record]]:
    groups: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        groups[key(record)].append(record)
    return groups


def shares(records: Sequence[Record]) -> tuple[str, str, str]:
    """Entries verified, their share of those whose source is sound, and the kernels that were compared."""
    good = [r for r in records if r["outcome"] == "verified"]
    sound = [r for r in records if not r["because"].startswith(SOURCE_AT_FAULT)]
    alone = [r for r in records if r["outcome"] == "kernels_verified"]
    kernels = f"{sum(map(launched, good))} of {sum(r['kernels'] for r in records)}"
    if not records:
        return "-", "-", "-"
    besides = f" (and {len(alone)} kernels alone)" if alone else ""
    return f"{len(good)} of {len(records)}, {share(good, records)}{besides}", share(good, sound), kernels


def launched(record: Record) -> int:
    """Returns how many of an entry's kernels were compared; a record without a list is from before launches were
    recorded.
    """
    return len(record["launched"]) if "launched" in record else int(record["kernels"])


def share(part: Sequence[Record], whole: Sequence[Record]) -> str:
    return f"{100 * len(part) / len(whole):.0f} %" if whole else "-"


def reasons(target: str, records: Sequence[Record]) -> list[str]:
    """Returns what the entries that are not verified end in, the most frequent reasons by themselves."""
    kinds = Counter(reason(r) for r in records if r["outcome"] != "verified").most_common()
    rows = [[text, str(count)] for text, count in kinds[:SHOWN_REASONS]]
    rest = kinds[SHOWN_REASONS:]
    if rest:
        rows.append([f"{len(rest)} other reasons", str(sum(count for _, count in rest))])
    return table([f"{target}: not verified because", "entries"], rows) if rows else []


def reason(record: Record) -> str:
    """The kind of an entry's reason: what stands before its particulars."""
    because = record["because"]
    if because.startswith(SOURCE_AT_FAULT):
        return f"the source itself: {because.split(':')[1].split(' in ')[0].strip()}"
    if record["outcome"] == "kernels_verified":
        return "kernels verified, without their host code"
    plain = because.split(":")[0].split(" (")[0].replace("|", "\\|").replace("\n", " ")
    return f"{record['outcome'].replace('_', ' ')}: {plain}"[:100]


def scratch(files: Sequence[Record]) -> list[str]:
    """Returns how many kernels of the known files keep a shared array in global memory, by scratch.py."""
    kernels, using = sum(f["kernels"] for f in files), [name for f in files for name in f["scratch"]]
    share_of_all, named = f"{len(using)} ({len(using) / kernels:.1%})", ", ".join(f"`{name}`" for name in using)
    return [
        f"Of {kernels} kernels that launchers of these Triton ports call, {share_of_all} keep a shared array in global "
        f"memory: {named or 'none'}. The others hold it in registers (`benchmarks/coverage/scratch.py`)."
    ]


def mutants(path: Path) -> list[str]:
    """Returns what benchmarks/mutation found: how many single mutations of ports were still called verified, and
    why.
    """
    document = json.loads(path.read_text())
    killed, every = document["not_verified"], document["mutants"]
    verdicts = Counter(one["verdict"].split(":")[0] or "not looked at" for one in document["survivors"])
    told = killed / (every - sum(n for verdict, n in verdicts.items() if verdict.startswith("equivalent")))
    operators = ", ".join(f"of {n} operators for {target}" for target, n in document["operators"].items())
    return [
        f"\n## Mutants: {path.stem.removeprefix('mutation_')}\n",
        f"Of {every} single mutations of ports ({operators}), judged as `porter verify` judges, since 332a7b4 with "
        f"`--edges`, {killed} are not verified: {killed / every:.0%}, and {told:.0%} of those that are not equivalent. "
        f"They were judged at porter {', '.join(document['porter'])}. The others, by what a person says of each in "
        f"`benchmarks/results/{path.name}`; of those that are *named* the verdict says that the changed code was not "
        "executed, or that its answer is another one where no standard decides:\n",
        *table(["called verified, and", "mutants"], [[verdict, str(n)] for verdict, n in verdicts.most_common()]),
        *retried(document["survivors"]),
    ]


def retried(survivors: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yields what became of survivors that were judged again, by the commit at which that was."""
    by_commit: dict[str, Counter[str]] = defaultdict(Counter)
    for one in survivors:
        if again := one.get("retried"):
            by_commit[again["porter"]][f"{one['verdict'].split(':')[0]} → {again['outcome']}"] += 1
    for commit, outcomes in by_commit.items():
        counts = ", ".join(f"{n} {outcome}" for outcome, n in sorted(outcomes.items()))
        yield f"Judged again at porter {commit}: {counts}. The counts above are those of the first judgement.\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return [*(f"| {' | '.join(cells)} |" for cells in lines), ""]


if __name__ == "__main__":
    main()
