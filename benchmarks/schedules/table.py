"""Make a table of measured schedules one that can be learnt from: with what is known of each operator's nests.

    python -m benchmarks.schedules.table MEASURED TABLE

MEASURED is JSON: {"about": {...}, "operators": [{"name": "kernelbench/norm/layer_norm", "category": "norm",
"schedules": [{"schedule": {"algorithm": "held", "warps": 8, ...}, "microseconds": 12.5, "samples": [...]}, ...],
"baselines": {"eager_us": ..., "torch_compile_us": ..., "limit_us": ...}}]}. Its names are those of `op_suites`. Each
operator is lifted again, which takes some seconds and no device, and gets `nests` (`porter.schedule.description`) at
its bench sizes, and `order`: the places of those schedules that `porter.schedule.space` gives, its first one first.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from porter.cli.options import cache_folder
from porter.evaluate.lift import lift
from porter.evaluate.migration import MigrateOptions
from porter.evaluate.scheduled import Sizes
from porter.learn.records import plain
from porter.learn.table import schedule_of
from porter.schedule.description import described
from porter.schedule.nests import nests
from porter.schedule.space import extent, schedules
from porter.source.load import read_sources
from porter.suite.operators import Operator, operators

SUITES = Path(__file__).parents[2] / "op_suites"


def main() -> None:
    """Writes the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("measured", type=Path)
    parser.add_argument("table", type=Path)
    arguments = parser.parse_args()
    document = json.loads(arguments.measured.read_text())
    known = {one.key: one for one in operators(SUITES)}
    for row in document["operators"]:
        row |= about_nests(known[row["name"]], row)  # noqa: PLW2901 - the document itself is completed
        print(f"{row['name']}: {len(row['schedules'])} schedules, {len(row['order'])} of them in order")
    arguments.table.write_text(json.dumps(document, separators=(",", ":")) + "\n")


def about_nests(one: Operator, row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns what is known of the nests of an operator, and the order of its schedules."""
    options = MigrateOptions("", cache_folder(), contract=one.contract)
    (lifted,) = lift(read_sources(one.kernel)[0], options, lambda _: None)
    (program,) = lifted.programs
    sizes, found = Sizes.of(program, lifted.entry.contract), nests(program)
    largest = max(found, key=lambda nest: extent((*nest.rows, *nest.columns), sizes))
    measured = [schedule_of(trial["schedule"]) for trial in row["schedules"]]
    order = dict.fromkeys(measured.index(each) for each in schedules(largest, sizes) if each in measured)
    return {"nests": [plain(described(nest, sizes)) for nest in found], "order": list(order)}


if __name__ == "__main__":
    main()
