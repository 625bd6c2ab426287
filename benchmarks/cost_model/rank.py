"""Measures how well modelled costs rank operators by the times that a device has measured: no device is needed.

python benchmarks/cost_model/rank.py [SUITE_RESULTS] [OUT]

The ports of op_suites/kernelbench, lowered as they are now, at the workloads that were timed; their times are those of
`benchmarks/results/suite_triton_h200.json`, whose ports may be older. Costs and times are compared as they are, and
over the bytes that an operator has to move, which leaves what a port makes of them.
"""

from __future__ import annotations

import json
import math
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from porter.contract.contract import Contract
from porter.contract.toml import loads
from porter.evaluate.bench import bench
from porter.evaluate.side import original_side
from porter.registry import find_backend
from porter.source.parse import parse
from porter.source.text import Source

_ROOT = Path(__file__).parents[2]
_RESULTS = _ROOT / "benchmarks/results"


def main(timed: Path, out: Path) -> None:
    """Writes a row for each operator, and the correlations."""
    measured = json.loads(timed.read_text("utf-8"))["operators"]
    backend = find_backend("triton")
    target = backend.targets()[0]
    rows = []
    with tempfile.TemporaryDirectory() as cache, bench(Path(cache), 20.0) as place:
        for name, (found, *_) in measured.items():
            path = _ROOT / "op_suites" / name / "kernel.cu"
            if not path.exists() or "timing" not in found:
                continue
            program = parse(Source(path, path.read_text("utf-8")))
            contract: Contract = loads((path.parent / "contract.toml").read_text("utf-8"), path)[0]
            workload = next(w for w in contract.workloads if w.name == found["workload"])
            side, port = original_side(program, (), ()), backend.port(program, (), target)
            cost = backend.cost(port, side, contract, workload, target, place)
            row = {"operator": name, "median_us": found["timing"]["median_us"], "bytes": found["bytes"]}
            rows.append({**row, "without": cost} if isinstance(cost, str) else {**row, "cost": round(cost.units, 3)})
            print(rows[-1], flush=True)
    known = [row for row in rows if "cost" in row]
    costs, times = ([row[key] for row in known] for key in ("cost", "median_us"))
    by_byte = [[value / row["bytes"] for value, row in zip(values, known, strict=True)] for values in (costs, times)]
    logs = [math.log(cost / time) for cost, time in zip(costs, times, strict=True)]
    summary = {
        "operators": len(known),
        "rank_correlation": round(_ranked(costs, times), 3),
        "rank_correlation_over_bytes": round(_ranked(*by_byte), 3),
        "median_cost_over_time": round(math.exp(statistics.median(logs)), 3),
        "within_25_percent": sum(abs(one) < math.log(1.25) for one in logs),
    }
    print(summary)
    out.write_text(json.dumps({"summary": summary, "rows": rows}, indent=1) + "\n", "utf-8")


def _ranked(first: Sequence[float], second: Sequence[float]) -> float:
    """Spearman's."""
    return statistics.correlation(_ranks(first), _ranks(second))


def _ranks(values: Sequence[float]) -> list[float]:
    places = {value: place for place, value in enumerate(sorted(values))}
    return [float(places[value]) for value in values]


if __name__ == "__main__":
    given = [Path(argument) for argument in sys.argv[1:]]
    main(*(given + [_RESULTS / "suite_triton_h200.json", _RESULTS / "cost_model_h200.json"][len(given) :]))
