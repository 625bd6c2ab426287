"""Lift every operator of the suites to a tensor program, compare it with its source, and write what came of it.

    python -m benchmarks.lifting.run RESULTS.json [--folder FOLDER] [--only WORD] [--seconds S]

With `--folder` every `.cu` file of it in place of the suites: of `spellings`, say, 60 ways to write reductions and
scans by someone who had not read the compiler. RESULTS has a row for each contract of each operator: the verdict on the
program, why there is none, its text, and the seconds of wall time that building, lifting and comparing took together;
`lifting_s` are those of lifting alone, for all contracts of an operator. No operator is begun after `--seconds`; those
that were not are named.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from porter.cache_folder import cache_folder
from porter.errors import PorterError
from porter.evaluate.formula.lift import lift
from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.model.outcome import Verified
from porter.ir.tensor.printer import printed
from porter.measure.stages import Stage
from porter.native.versions import commit
from porter.source.load import read_sources
from porter.suite.operators import operators

SUITES = Path(__file__).parents[2] / "op_suites"
Row = dict[str, str | float]


@dataclass(frozen=True)
class Subject:
    """A source that is lifted; without a contract of its own one is drafted."""

    key: str
    kernel: Path
    contract: Path | None


def main() -> None:
    """Lifts all, then writes the rows and what they come to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=Path)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    arguments = parser.parse_args()
    deadline = time.monotonic() + arguments.seconds
    rows: list[Row] = []
    not_begun: list[str] = []
    for subject in (one for one in subjects(arguments.folder) if arguments.only in one.key):
        if time.monotonic() < deadline:
            rows += lifted(subject)
        else:
            not_begun.append(subject.key)
    verified = {row["operator"] for row in rows if row["outcome"] == Verified.label}
    told = {
        "commit": commit(),
        "python": platform.python_version(),
        "operators": len({row["operator"] for row in rows}),
        "verified": len(verified),
        "not_begun": not_begun,
        "outcomes": dict(Counter(str(row["outcome"]) for row in rows)),
        "rows": rows,
    }
    arguments.results.write_text(json.dumps(told, indent=1) + "\n")


def subjects(folder: Path | None) -> list[Subject]:
    """Returns the operators of the suites, or the files of `folder`."""
    if folder is None:
        return [Subject(one.key, one.kernel, one.contract) for one in operators(SUITES)]
    return [Subject(path.stem, path, None) for path in sorted(folder.glob("*.cu"))]


def lifted(operator: Subject) -> Iterator[Row]:
    """Yields a row for each contract of an operator."""
    options = MigrateOptions("", cache_folder(), contract=operator.contract)
    begin = time.monotonic()
    try:
        entries = lift(read_sources(operator.kernel)[0], options, lambda _: None)
    except PorterError as error:
        yield {
            "operator": operator.key,
            "outcome": "error",
            "because": error.message,
            "seconds": 0.0,
            "lifting_s": 0.0,
            "program": "",
        }
        return
    seconds = round(time.monotonic() - begin, 1)
    lifting_s = round(options.stages.seconds.get(Stage.LIFT, 0.0), 2)
    for entry in entries:
        because = str(getattr(entry.outcome, "because", ""))
        text = "\n".join(map(printed, entry.programs))
        print(f"{entry.outcome.label:13} {operator.key:45} [{seconds} s, {lifting_s} s] {because[:100]}", flush=True)
        yield {
            "operator": operator.key,
            "outcome": entry.outcome.label,
            "because": because,
            "seconds": seconds,
            "lifting_s": lifting_s,
            "program": text,
        }


if __name__ == "__main__":
    main()
