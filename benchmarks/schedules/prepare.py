"""Lift operators of a suite and write a module for each schedule that is worth a try at their bench sizes.

    python -m benchmarks.schedules.prepare FOLDER [--only WORD] [--most N]

FOLDER gets a folder for each operator: its modules, numbered, the PyTorch reference, and `about.json` with the
schedules in words and the arguments of a call. Of several nests the one with most points is varied, the others keep
their first schedule. No device is needed; `measure.py` needs nothing but the folder, PyTorch and Triton.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from porter.cli.options import cache_folder
from porter.contract.contract import Argument, Contract, TensorArg
from porter.contract.expressions import evaluate, number
from porter.evaluate.lift import lift
from porter.evaluate.migration import MigrateOptions
from porter.evaluate.outcome import Equal
from porter.evaluate.scheduled import BENCH, Sizes
from porter.ir.tensor.program import TensorProgram
from porter.ir.tile.program import Operator
from porter.schedule.nests import Nest, nests
from porter.schedule.operator import operator
from porter.schedule.polynomial import NotSchedulableError
from porter.schedule.schedule import Schedule
from porter.schedule.space import extent, schedules
from porter.source.load import read_sources
from porter.suite.operators import operators
from porter_triton.tiles.module import module

SUITE = Path(__file__).parents[2] / "op_suites" / "kernelbench"


def main() -> None:
    """Writes all folders."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--most", type=int, default=14)
    arguments = parser.parse_args()
    for one in operators(SUITE):
        if arguments.only in one.key:
            source = read_sources(one.kernel)[0]
            options = MigrateOptions("", cache_folder(), contract=one.contract)
            (lifted,) = lift(source, options, lambda _: None)
            if not isinstance(lifted.outcome, Equal) or len(lifted.programs) != 1:
                print(f"{one.key}: not lifted: {lifted.outcome}")
                continue
            folder = arguments.folder / one.key.replace("/", "+")
            folder.mkdir(parents=True)
            shutil.copy(one.kernel.parent / "reference.py", folder)
            contract = lifted.entry.contract
            words = []
            for schedule, made in variants(lifted.programs[0], contract, arguments.most):
                (folder / f"{len(words)}.py").write_text(module([(made, contract)], source).text)
                words.append(str(schedule))
            (folder / "about.json").write_text(json.dumps({"schedules": words, **calls(contract)}))
            print(f"{one.key}: {len(words)} schedules")


def variants(program: TensorProgram, contract: Contract, most: int) -> Iterator[tuple[Schedule, Operator]]:
    """Yields schedules of the nest with most points, and the operator with each."""
    sizes = Sizes.of(program, contract)
    found = nests(program)
    largest = max(found, key=lambda nest: extent((*nest.rows, *nest.columns), sizes))
    names = tuple(argument.name for argument in contract.arguments)
    for schedule in schedules(largest, sizes)[:most]:

        def choose(nest: Nest, own: Schedule = schedule) -> Schedule:
            return own if nest == largest else schedules(nest, sizes)[0]

        try:
            yield schedule, operator(program, names, choose)
        except NotSchedulableError as error:
            print(f"  {schedule}: {error}")


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
