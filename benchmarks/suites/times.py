"""The times of a suite's run on a device, with every sample, as one file: `python times.py RUN OUT.json`.

A run keeps a report for each operator, with texts and findings; this keeps what was measured, and on what.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main(run: Path, output: Path) -> None:
    operators = {}
    environment = None
    for report in sorted(run.glob("*/*/*/*.report.json")):
        document = json.loads(report.read_text())
        operators[report.parent.relative_to(run).as_posix()] = document["times"]
        environment = environment or document["device"]
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(times)}" for name, times in operators.items())
    output.write_text(f'{{"environment": {json.dumps(environment)},\n"operators": {{\n{lines}\n}}}}\n')


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
