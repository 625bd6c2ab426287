"""Port the operators of `kernelbench`, prove the ports, and keep them for `time_ports.py`.

    python -m benchmarks.schedules.ports FOLDER [--only WORD] [--limit S] [--schedules N] [--unproven] [--maca]

FOLDER gets a folder for each operator: `formula_float32.py` and `kernels_float32.py` are its ports, from what its CUDA
computes and from its kernels, `formula_float16.py` and `formula_bfloat16.py` are written from the same formula. The
sources take no floats of 16 bits, so that these two are proven by nobody; what is timed is compared with PyTorch.
`reference.py` is PyTorch's own, `about.json` has verdicts and the arguments of a call at the bench sizes, at a tenth
and at a hundredth of them. Every port has the schedule that is first at the bench sizes. Those with the next ones, N in
all, are called `schedule_1_float32.py` and so on, and `about.json` has them in words. With `--unproven` nothing is
proven, which takes most of the time: ports are only compared with PyTorch then, where they are timed. With `--maca`
each folder has its port in MACA C++, too, with headers that nvcc compiles it with. What FOLDER has already stays.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.schedules.prepare import SUITES, argument
from porter.backend import Follow, Port
from porter.cache_folder import cache_folder
from porter.contract.model.contract import Contract, Workload
from porter.contract.model.dtype import DType
from porter.contract.workload.materialise import retyped
from porter.evaluate.formula.scheduled import BENCH, Entry, Formula, formula_of
from porter.evaluate.migrate import migrate, ported
from porter.evaluate.model.migration import MigrateOptions, Migration
from porter.evaluate.problem.original import read_original
from porter.ir.tensor.retyped import retyped as program_of_types
from porter.measure.deadline import Deadline
from porter.registry import find_backend, find_target
from porter.schedule.polynomial import NotSchedulableError
from porter.source.load import load
from porter.suite.operators import Operator, operators
from porter_maca.proxy import port_headers

_SHORT = (DType.FLOAT16, DType.BFLOAT16)
_PARTS = (1, 10, 100)
_MULTIPLE = 8  # that divided sizes are of


def main() -> None:
    """Writes the folders one after the other, and a line of each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="kernelbench/")
    parser.add_argument("--limit", type=float, default=300.0)
    parser.add_argument("--schedules", type=int, default=1)
    parser.add_argument("--unproven", action="store_true")
    parser.add_argument("--maca", action="store_true")
    arguments = parser.parse_args()
    for one in operators(SUITES):
        own = arguments.folder / one.key.replace("/", "+")
        if arguments.only in one.key and not (own / "about.json").exists():
            begin = time.monotonic()
            told = _written(one, own, arguments)
            print(f"{one.key}: {told} ({time.monotonic() - begin:.0f} s)", flush=True)


def _written(one: Operator, folder: Path, arguments: argparse.Namespace) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    options = MigrateOptions("triton", cache_folder(), contract=one.contract, deadline=Deadline(arguments.limit))
    (source,) = load(one.kernel).sources
    target = find_target(find_backend("triton"), "")
    about: dict[str, Any] = {"outcome": "not proven"}
    if not arguments.unproven:
        (migration,) = migrate(one.kernel, replace(options, follow=Follow.FORMULA), lambda _: None)
        about = _verdict(migration)
    kernels = ported(read_original(source, options), target, lambda _: None)
    _keep(kernels, folder / "kernels_float32.py")
    (folder / "reference.py").write_text(one.reference.read_text())
    try:
        formula = formula_of(source, target, options, lambda _: None)
        about |= {"calls": _calls(formula.entries[0].contract), "schedules": _scheduled(formula, folder, arguments)}
        if arguments.maca:
            _keep_maca(formula, folder / "maca")
    except NotSchedulableError as error:
        return f"not written: {error}"
    (folder / "about.json").write_text(json.dumps(about, indent=1))
    return ", ".join(str(about[key]) for key in ("outcome", "follows", "because") if key in about)


def _scheduled(formula: Formula, folder: Path, arguments: argparse.Namespace) -> Mapping[str, Sequence[str]]:
    """Writes the ports of a formula; returns their schedules in words, by element type."""
    told = {}
    for dtype, own in _of_types(formula):
        schedules = own.schedules[: arguments.schedules]
        for number, schedule in enumerate(schedules):
            name = f"schedule_{number}" if number else "formula"
            _keep(own.port(schedule), folder / f"{name}_{dtype}.py")
        told[str(dtype)] = list(map(str, schedules))
    return told


def _keep(port: Port, path: Path) -> None:
    (file,) = port.files
    path.write_text(file.text)


def _keep_maca(formula: Formula, folder: Path) -> None:
    """Writes the port for MACA as `kernel.cu`, and the headers that stand in for MACA's into a folder beside it."""
    port = replace(formula, target=find_target(find_backend("maca"), "")).port()
    for name, text in {"kernel.cu": port.files[0].text, **_under("include", port_headers(port))}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _under(folder: str, texts: Mapping[str, str]) -> Mapping[str, str]:
    return {f"{folder}/{name}": text for name, text in texts.items()}


def _verdict(migration: Migration) -> dict[str, object]:
    followed = migration.followed
    return {
        "outcome": migration.outcome.label,
        "follows": str(followed.what) if followed else "",
        "because": followed.because if followed else "",
        "proof_s": round(migration.seconds, 1),
    }


def _of_types(formula: Formula) -> Iterator[tuple[DType, Formula]]:
    """Yields the formula for floats of 32 bits, then those for 16, with the type."""
    (entry, *_) = formula.entries
    yield DType.FLOAT32, Formula(formula.source, formula.target, (entry,))
    floats = [one.name for one in entry.contract.tensors if one.dtype is DType.FLOAT32]
    for dtype in _SHORT:
        types = dict.fromkeys(floats, dtype)
        contract = retyped(entry.contract, replace(entry.contract.workloads[0], dtypes=types))
        own = Entry(contract, program_of_types(entry.program, types))
        yield dtype, Formula(formula.source, formula.target, (own,))


def _calls(contract: Contract) -> list[Mapping[str, object]]:
    """Returns the arguments of a call at each of the sizes."""
    bench = next(workload for workload in contract.workloads if workload.name == BENCH)
    return [
        {"part": part, "sizes": sizes, "arguments": [argument(one, sizes) for one in contract.arguments]}
        for part, sizes in _sizes(bench)
    ]


def _sizes(bench: Workload) -> Iterator[tuple[int, Mapping[str, int]]]:
    """Yields the bench sizes, then the same with the largest of them a tenth, which is done again and again."""
    sizes = dict(bench.sizes)
    for part in _PARTS:
        yield part, dict(sizes)
        largest = max(sizes, key=lambda name: sizes[name])
        sizes[largest] = sizes[largest] // 10 // _MULTIPLE * _MULTIPLE


if __name__ == "__main__":
    main()
