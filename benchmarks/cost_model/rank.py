"""Measures how well modelled costs rank ports by the times that a device has measured: no device is needed.

    python benchmarks/cost_model/rank.py triton OUT.json
    python benchmarks/cost_model/rank.py maca OUT.json [OPERATOR ...]

The ports of op_suites/kernelbench, written as they are now, at the workloads that were timed on an H200. Their times
are those of `benchmarks/results/suite_{triton,maca}_h200.json`, whose ports may be older. Ports to MACA were timed
through nvcc: they are modelled at its 32 lanes, on the numbers of an H200, and once more as written from the formula,
which `maca_times_h200.jsonl` has times of. Costs and times are compared as they are, and over the bytes that an
operator has to move, which leaves what a port makes of them; and for MACA, by what factor the two ports of an operator
differ.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from porter.backend import Port, Target
from porter.contract.model.contract import Contract
from porter.contract.model.toml import loads
from porter.errors import PorterError
from porter.evaluate.formula.scheduled import formula_of
from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.problem.bench import Bench, bench
from porter.registry import find_backend
from porter.schedule.polynomial import NotSchedulableError
from porter.source.parse import parse
from porter.source_text import Source
from porter.translation_unit import original_unit

_ROOT = Path(__file__).parents[2]
_RESULTS = _ROOT / "benchmarks/results"
_CLOSE = 1.25


@dataclass(frozen=True)
class Row:
    """A port of an operator, with its measured time and its cost by the model."""

    operator: str
    road: str
    median_us: float
    bytes: int
    cost: float


def rows_of(backend: str, operators: Sequence[str]) -> Iterator[Row]:
    """Yields a row for each port that has both a time and a cost; says why others have none."""
    measured = json.loads((_RESULTS / f"suite_{backend}_h200.json").read_text("utf-8"))["operators"]
    formulas = formula_times() if backend == "maca" else {}
    target = target_of(backend)
    with tempfile.TemporaryDirectory() as cache, bench(Path(cache), 20.0) as place:
        for name, (found, *_) in measured.items():
            path = _ROOT / "op_suites" / name / "kernel.cu"
            if not path.exists() or "timing" not in found or (operators and name not in operators):
                continue
            times = {"kernels": found["timing"]["median_us"]}
            if name in formulas:
                times["formula"] = formulas[name]
            for road, median_us in times.items():
                cost = cost_of(backend, path, target, road, found["workload"], place)
                print(name, road, median_us, cost, flush=True)
                if not isinstance(cost, str):
                    yield Row(name, road, median_us, found["bytes"], round(cost, 3))


def target_of(backend: str) -> Target:
    """The target that was timed: of MACA an H200 stood in."""
    own = find_backend(backend).targets()[0]
    if backend == "triton":
        return own
    return replace(own, warp_size=32, chip=find_backend("triton").targets()[0].chip)


def formula_times() -> Mapping[str, float]:
    """Medians of the ports to MACA from the formula, at the bench sizes in float32."""
    lines = map(json.loads, (_RESULTS / "maca_times_h200.jsonl").read_text("utf-8").splitlines())
    return {
        line["operator"]: statistics.median(line["samples_us"]["maca"])
        for line in lines
        if (line["part"], line["dtype"]) == (1, "float32") and "maca" in line["samples_us"]
    }


def cost_of(  # noqa: PLR0917 - a port, and where it is modelled
    backend: str, path: Path, target: Target, road: str, named: str, place: Bench
) -> float | str:
    """The modelled cost of one port, or why there is none."""
    source = Source(path, path.read_text("utf-8"))
    program = parse(source)
    contract: Contract = loads((path.parent / "contract.toml").read_text("utf-8"), path)[0]
    workload = next(w for w in contract.workloads if w.name == named)
    try:
        port = port_of(backend, source, target, road)
    except (NotSchedulableError, PorterError) as error:
        return f"no port: {error}"
    cost = find_backend(backend).cost(port, original_unit(program, (), ()), contract, workload, target, place)
    return cost if isinstance(cost, str) else cost.units


def port_of(backend: str, source: Source, target: Target, road: str) -> Port:
    """The port by one of the two roads. Raises `NotSchedulableError` where the source has no formula."""
    if road == "kernels":
        return find_backend(backend).port(parse(source), (), target)
    options = MigrateOptions(backend, Path(tempfile.gettempdir()) / "porter-rank", environment=dict(os.environ))
    given = replace(options, contract=source.path.parent / "contract.toml")
    own = find_backend(backend).targets()[0]
    return formula_of(source, own, given, lambda _: None).port()


def summary(rows: Sequence[Row]) -> dict[str, float | int]:
    """The correlations."""
    costs, times = [row.cost for row in rows], [row.median_us for row in rows]
    logs = [math.log(cost / time) for cost, time in zip(costs, times, strict=True)]
    found: dict[str, float | int] = {
        "ports": len(rows),
        "rank_correlation": round(ranked(costs, times), 3),
        "rank_correlation_over_bytes": round(
            ranked([row.cost / row.bytes for row in rows], [row.median_us / row.bytes for row in rows]), 3
        ),
        "median_cost_over_time": round(math.exp(statistics.median(logs)), 3),
        "within_25_percent": sum(abs(one) < math.log(_CLOSE) for one in logs),
    }
    pairs = list(ratios(rows))
    if pairs:
        apart = [pair for pair in pairs if abs(math.log(pair[1])) > math.log(_CLOSE)]
        found["pairs"] = len(pairs)
        found["pairs_rank_correlation"] = round(ranked(*zip(*pairs, strict=True)), 3)
        found["pairs_that_differ_by_25_percent"] = len(apart)
        found["of_these_ordered_rightly"] = sum((cost > 1) == (time > 1) for cost, time in apart)
    return found


def ratios(rows: Sequence[Row]) -> Iterator[tuple[float, float]]:
    """Yields for each operator with two ports the cost and the time of that of the kernels over the formula's."""
    by_road = {(row.operator, row.road): row for row in rows}
    for row in rows:
        other = by_road.get((row.operator, "formula"))
        if row.road == "kernels" and other is not None:
            yield row.cost / other.cost, row.median_us / other.median_us


def ranked(first: Sequence[float], second: Sequence[float]) -> float:
    """Spearman's correlation of ranks."""
    return statistics.correlation(ranks(first), ranks(second))


def ranks(values: Sequence[float]) -> list[float]:
    """The places of the values in order."""
    places = {value: place for place, value in enumerate(sorted(values))}
    return [float(places[value]) for value in values]


def main() -> None:
    """Writes a row for each port, and the correlations."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("backend", choices=("triton", "maca"))
    parser.add_argument("out", type=Path)
    parser.add_argument("operators", nargs="*")
    given = parser.parse_args()
    rows = list(rows_of(given.backend, given.operators))
    with suppress(statistics.StatisticsError):
        print(summary(rows))
        written = {"summary": summary(rows), "rows": [vars(row) for row in rows]}
        given.out.write_text(json.dumps(written, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
