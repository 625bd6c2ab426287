"""Write docs/coverage.md from results.json: what came of every entry, and the shares by family and repository.

python benchmarks/coverage/table.py [RESULTS] > docs/coverage.md
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

HERE = Path(__file__).parent
# Outcomes that say the source, not the port, is at fault, by how their reason begins.
SOURCE_AT_FAULT = "the original itself cannot be believed"


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "results.json"
    records = json.loads(path.read_text())
    corpus = tomllib.loads((HERE / "corpus.toml").read_text())["repository"]
    commits = {r["name"]: r["commit"] for r in corpus}
    run = {(r["repository"], r["path"]) for r in records}
    missing = [f"{r['name']}/{f['path']}" for r in corpus for f in r["files"] if (r["name"], f["path"]) not in run]
    print("# Coverage on public CUDA\n")
    print(
        "What `porter migrate --target maca` makes of CUDA that nobody wrote for it: the files of "
        "`benchmarks/coverage/corpus.toml`, chosen by family before anything was run. Every row is an entry: a host "
        "function, a kernel without one, or a whole program. Verified means executed at 64 and at 32 lanes on the CPU "
        "and equal to the original at 32; no speed was measured. Regenerate with `benchmarks/coverage/run.py` and "
        "`table.py`.\n"
    )
    if missing:
        print(f"{len(missing)} of {len(run) + len(missing)} files were not run yet; they are in no number below.\n")
    summary("Family", records, lambda r: r["family"])
    summary("Repository", records, lambda r: r["repository"])
    reasons(records)
    for repository, rows in grouped(records, lambda r: r["repository"]).items():
        print(f"## {repository}\n\nat `{commits[repository]}`\n")
        table(("path", "entry", "kernels", "outcome", "why not"), map(row, rows))
    if missing:
        print("## Not run yet\n")
        print("\n".join(f"- `{path}`" for path in missing))


def grouped(records: list[dict], key) -> dict[str, list[dict]]:
    groups: dict[str, list[dict]] = defaultdict(list)
    for record in records:
        groups[key(record)].append(record)
    return groups


def summary(title: str, records: list[dict], key) -> None:
    print(f"## By {title.lower()}\n")
    rows = [counts(name, group) for name, group in grouped(records, key).items()]
    table((title, "entries", "verified", "share", "kernels", "verified", "share"), [*rows, counts("all", records)])


def counts(name: str, records: list[dict]) -> tuple[str, ...]:
    good = [r for r in records if r["outcome"] == "verified"]
    kernels, sound = sum(r["kernels"] for r in records), sum(r["kernels"] for r in good)
    return (
        name, str(len(records)), str(len(good)), share(len(good), len(records)), str(kernels), str(sound),
        share(sound, kernels),
    )  # fmt: skip


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "-"


def reasons(records: list[dict]) -> None:
    print("## What the others end in\n")
    kinds = Counter(reason(r) for r in records if r["outcome"] != "verified")
    table(("reason", "entries"), [(text, str(count)) for text, count in kinds.most_common()])


def reason(record: dict) -> str:
    because = record["because"]
    if because.startswith(SOURCE_AT_FAULT):
        return f"the source itself: {because.split(':')[1].split(' in ')[0].strip()}"
    return f"{record['outcome'].replace('_', ' ')}: {because.split(':')[0]}"[:100]


def row(record: dict) -> tuple[str, ...]:
    verified = record["outcome"] == "verified"
    because = "" if verified else record["because"].replace("|", "\\|").replace("\n", " ")
    return (
        f"`{record['path']}`", f"`{record['entry']}`" if record["entry"] else "-", str(record["kernels"]),
        record["outcome"].replace("_", " "), because[:260],
    )  # fmt: skip


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> None:
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for cells in rows:
        print("| " + " | ".join(cells) + " |")
    print()


if __name__ == "__main__":
    main()
