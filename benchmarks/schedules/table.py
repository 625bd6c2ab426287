"""Make a table that can be learnt from: operators with what is known of their nests, and the times of their schedules.

    python -m benchmarks.schedules.table LIFTED RESULTS.jsonl... --commit C > TABLE

LIFTED is what `prepare.py lift` wrote, RESULTS what `measure.py` found. A schedule that did not run has no time,
and says why; one that was begun and never ended says that. `order` has the places of the schedules that
`porter.schedule.space` gives, its first one first.
"""

from __future__ import annotations

import argparse
import json
import math
import pickle
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.schedules.lifted import Lifted
from porter.evaluate.formula.scheduled import Sizes
from porter.learn.records import plain
from porter.learn.table import schedule_of
from porter.schedule.description import described
from porter.schedule.nests import nests
from porter.schedule.space import extent, schedules

_HOW = (
    "microseconds: the median of 12 calls by CUDA events around each, of 2 where a schedule is 1.5 times as slow as the"
    " best so far; a result is compared with PyTorch's to 1e-3, of large outputs at 4 million elements. No verdict,"
    " and not porter's own clock. Several devices of one host at once. copy_bytes_per_us: bytes read and written of a"
    " copy of 1 GiB"
)
Row = Mapping[str, Any]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lifted", type=Path)
    parser.add_argument("results", type=Path, nargs="+")
    parser.add_argument("--commit", required=True)
    arguments = parser.parse_args()
    rows = [json.loads(line) for path in arguments.results for line in path.read_text().splitlines()]
    baselines = {row["operator"]: row for row in rows if "torch_us" in row}
    first = next(iter(baselines.values()))
    about = {name: first[name] for name in ("device", "torch", "triton")} | {"commit": arguments.commit, "how": _HOW}
    found: Sequence[Lifted] = pickle.loads(arguments.lifted.read_bytes())
    operators = []
    for one in found:
        own = [row for row in rows if row["operator"] == one.key.replace("/", "+") and "number" in row]
        if own:
            operators.append(_text(_operator(one, baselines[own[0]["operator"]], own)))
    print(f'{{"about": {json.dumps(about)},\n"operators": [')
    print(",\n".join(operators))
    print("]}")


def _text(operator: Mapping[str, Any]) -> str:
    """Returns an operator with a line for each schedule."""
    head = json.dumps({name: value for name, value in operator.items() if name != "schedules"})
    schedules_ = ",\n  ".join(map(json.dumps, operator["schedules"]))
    return f'{head[:-1]}, "schedules": [\n  {schedules_}]}}'


def _operator(one: Lifted, baseline: Row, rows: Sequence[Row]) -> dict[str, Any]:
    ended = {row["number"]: row for row in rows if "begun" not in row}
    measured = [_schedule(row, ended) for row in rows if row.get("begun")]
    sizes, found = Sizes.of(one.program, one.contract), nests(one.program)
    largest = max(found, key=lambda nest: extent((*nest.rows, *nest.columns), sizes))
    known = [schedule_of(each["schedule"]) for each in measured]
    return {
        "name": one.key,
        "category": one.key.split("/")[1],
        "nests": [plain(described(nest, sizes)) for nest in found],
        "order": [known.index(each) for each in schedules(largest, sizes) if each in known],
        "baselines": {
            "eager_us": round(baseline["torch_us"], 1),
            "torch_compile_us": round(baseline["compile_us"], 1),
            "copy_bytes_per_us": round(baseline["copy_bytes_per_us"]),
        },
        "schedules": measured,
    }


def _schedule(begun: Row, ended: Mapping[int, Row]) -> dict[str, Any]:
    row = ended.get(begun["number"])
    told: dict[str, Any] = {"schedule": begun["schedule"], "microseconds": None}
    if row is None:
        return told | {"because": "it never ended"}
    if not row.get("equal", True):
        return told | {"because": "its result is not PyTorch's"}
    if "us" not in row or not math.isfinite(row["us"]):
        return told | {"because": row.get("error", "")}
    return told | {"microseconds": round(row["us"], 2)}


if __name__ == "__main__":
    main()
