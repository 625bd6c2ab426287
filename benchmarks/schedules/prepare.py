"""Lift operators of a suite, and write a module for each of many schedules at their bench sizes.

    python -m benchmarks.schedules.prepare lift FILE [--only WORD]
    python -m benchmarks.schedules.prepare write FILE FOLDER [--most N] [--jobs N]

The first lifts, which takes a C++ compiler, and keeps the programs in FILE. The second takes FILE alone: FOLDER gets
a folder for each operator with its modules, numbered, the PyTorch reference, and `about.json` with the schedules and
the arguments of a call. Of several nests the one with most points is varied, the others keep their first schedule.
There are N schedules: the first of `space.schedules`, then some that are drawn from `space.all_schedules`. No device
is needed; `compile.py` and `measure.py` need nothing but FOLDER, PyTorch and Triton.
"""

from __future__ import annotations

import argparse
import json
import pickle
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from functools import partial
from pathlib import Path
from random import Random

from benchmarks.schedules.lifted import Lifted
from porter.cache_folder import cache_folder
from porter.contract.model.contract import Argument, Contract, TensorArg
from porter.contract.model.expressions import evaluate, number
from porter.evaluate.formula.lift import lift
from porter.evaluate.formula.scheduled import BENCH, Sizes, is_of
from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.model.outcome import Equal
from porter.ir.tensor.program import TensorProgram
from porter.ir.tile.program import Operator
from porter.schedule.nests import Nest, nests
from porter.schedule.operator import operator
from porter.schedule.polynomial import NotSchedulableError
from porter.schedule.schedule import Schedule
from porter.schedule.space import all_schedules, extent, schedules
from porter.source.load import read_sources
from porter.suite.operators import operators
from porter_triton.tiles.module import module

SUITES = Path(__file__).parents[2] / "op_suites"


def main() -> None:
    """Lifts, or writes all folders."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("lift", "write"))
    parser.add_argument("file", type=Path)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--only", default="kernelbench/")
    parser.add_argument("--most", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.what == "lift":
        arguments.file.write_bytes(pickle.dumps(tuple(_lifted(arguments.only))))
        return
    found: Sequence[Lifted] = pickle.loads(arguments.file.read_bytes())
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for line in pool.map(partial(_written, folder=arguments.folder, most=arguments.most), found):
            print(line, flush=True)


def _lifted(only: str) -> Iterator[Lifted]:
    for one in operators(SUITES):
        if only in one.key:
            source = read_sources(one.kernel)[0]
            (found,) = lift(source, MigrateOptions("", cache_folder(), contract=one.contract), lambda _: None)
            own = [program for program in found.programs if is_of(program, found.entry.contract)]
            if isinstance(found.outcome, Equal) and len(own) == 1:
                yield Lifted(one.key, source, one.reference.read_text(), own[0], found.entry.contract)
                print(f"{one.key}: lifted", flush=True)
            else:
                print(f"{one.key}: not lifted: {found.outcome}", flush=True)


def _written(one: Lifted, folder: Path, most: int) -> str:
    own = folder / one.key.replace("/", "+")
    own.mkdir(parents=True)
    (own / "reference.py").write_text(one.reference)
    told = []
    for schedule, made in variants(one.program, one.contract, most, seed=one.key):
        (own / f"{len(told)}.py").write_text(module([(made, one.contract)], one.source).text)
        told.append(asdict(schedule))
    about = {"schedules": told, **calls(one.contract)}
    (own / "about.json").write_text(json.dumps(about))
    return f"{one.key}: {len(told)} schedules"


def variants(program: TensorProgram, contract: Contract, most: int, seed: str) -> Iterator[tuple[Schedule, Operator]]:
    """Yields schedules of the nest with most points, and the operator with each."""
    sizes = Sizes.of(program, contract)
    found = nests(program)
    largest = max(found, key=lambda nest: extent((*nest.rows, *nest.columns), sizes))
    names = tuple(argument.name for argument in contract.arguments)
    most = most if largest.columns else most // 2  # all schedules of points are much alike
    every = schedules(largest, sizes)
    others, promising = all_schedules(largest, sizes)[len(every) :], every[:most]
    drawn = Random(seed).sample(others, min(len(others), max(0, most - len(promising))))
    for schedule in (*promising, *drawn):

        def choose(nest: Nest, own: Schedule = schedule) -> Schedule:
            return own if nest == largest else schedules(nest, sizes)[0]

        try:
            yield schedule, operator(program, names, choose, is_fitted=True)
        except NotSchedulableError as error:
            print(f"  {schedule}: {error}", flush=True)


def calls(contract: Contract) -> Mapping[str, object]:
    """Returns the arguments of calls at the bench sizes, and at those of the first workload."""
    bench = next(workload for workload in contract.workloads if workload.name == BENCH)
    return {
        name: [argument(one, workload.sizes) for one in contract.arguments]
        for name, workload in (("bench", bench), ("first", contract.workloads[0]))
    }


def argument(one: Argument, sizes: Mapping[str, int]) -> Mapping[str, object]:
    """Returns how an argument is made."""
    if isinstance(one, TensorArg):
        return {
            "dtype": one.dtype.value,
            "shape": [evaluate(extent, sizes) for extent in one.shape],
            "values": one.values,
        }
    return {"value": number(one.value, sizes)}


if __name__ == "__main__":
    main()
