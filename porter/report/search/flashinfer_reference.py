"""Writes a reference in Python for a CUDA source: its formula, compared with the source, written on torch, and run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import torch

from porter.contract.model.contract import Contract, EntryKind, Workload
from porter.contract.workload.materialise import materialise
from porter.errors import InputError
from porter.evaluate.formula.lift import Lifted, lift
from porter.evaluate.formula.scheduled import is_of
from porter.evaluate.formula.tensor_run import Case, UnknownSizeError
from porter.evaluate.model.migration import MigrateOptions, Progress
from porter.evaluate.model.outcome import Equal
from porter.evolve.scoring.subject import CONTRACT, ORIGINAL
from porter.execution.job import TensorValue, Value
from porter.ir.tensor.program import TensorProgram
from porter.ir.tensor.torch_text import NotWritableError, torch_text
from porter.report.search.course import Course
from porter.report.search.flashinfer_bench import Interface, data_set
from porter.source.encoding import read_text
from porter.source_text import Source
from porter.worker.torch_types import TORCH_TYPES

_ULPS = 2  # of the output's type: both compute in double precision


def winner_data(course: Course, options: MigrateOptions, progress: Progress) -> Mapping[str, str]:
    """Returns the files of a data set for the winner of a search.

    Raises `InputError` where nothing was verified, where the target is not Triton, where the source was not lifted, and
    where flashinfer-bench has no words for its formula, its text or the contract.
    """
    best, about = course.state.best, course.about
    if best is None:
        raise InputError(f"{course.folder}: nothing was verified, so there is nothing to export")
    if about.get("target") != "triton":
        raise InputError(f"{course.folder}: flashinfer-bench has no language for {about.get('target')}")
    if len(best.candidate.files) > 1:
        raise InputError(f"{course.folder}: the best candidate has several files, which do not find each other there")
    found = _lifted(course, options, progress)
    face = Interface(found.entry.contract, _program(found))
    face.check()
    text = _text(face)
    checked = tuple(_checked(face, text))
    if not checked:
        raise InputError(f"{face.contract.name}: no workload shows that the reference is what the CUDA source computes")
    told = (
        f"{face.contract.name} of {about['source']}. The reference is the formula of the CUDA source; porter compared "
        f"the formula with the source, which ran on the CPU, and this text with the formula, on the workloads "
        f"{', '.join(checked)}."
    )
    if face.program.assumptions:
        told += f" It assumes: {'; '.join(face.program.assumptions)}."
    function = about.get("entry") or face.contract.entry.name.rsplit("::", 1)[-1]
    return data_set(face, text, best.candidate.files, function, told)


def _lifted(course: Course, options: MigrateOptions, progress: Progress) -> Lifted:
    """Returns the only entry of the source. Raises `InputError` where there are others, or its formula is unknown."""
    about, place = course.about, course.folder / ORIGINAL
    path = place / about["source"]
    if path.suffix not in (".cu", ".cuh"):
        raise InputError(f"{path}: is no CUDA source")
    known = replace(
        options, contract=Path(place, CONTRACT), include_dirs=(place,), entry=about.get("entry", ""),
        defines=tuple(filter(None, about.get("defines", "").split("\n"))),
    )  # fmt: skip
    found = lift(Source(path, read_text(path)), known, progress)
    if len(found) != 1:
        raise InputError(f"{path}: has {len(found)} entries, and a definition is of one", "search with --entry")
    (one,) = found
    if not isinstance(one.outcome, Equal):
        because = getattr(one.outcome, "because", one.outcome.label)
        raise InputError(f"{path}: no reference was shown to be what it computes: {because}")
    return one


def _program(found: Lifted) -> TensorProgram:
    contract = found.entry.contract
    if contract.entry.kind is EntryKind.KERNEL:
        raise InputError(f"{contract.name} is a kernel by itself, whose caller chooses the grid")
    own = [program for program in found.programs if is_of(program, contract)]
    if len(own) != 1:
        raise InputError(f"{contract.name} computes something else for each choice of its arguments")
    return own[0]


def _text(face: Interface) -> str:
    sizes = {name: face.sizes[name] for name in (*face.program.symbols, *face.program.parameters) if name in face.sizes}
    try:
        return torch_text(face.program, face.inputs, sizes)
    except NotWritableError as error:
        raise InputError(f"{face.contract.name}: its formula is not written in Python: {error}") from error


def _checked(face: Interface, text: str) -> Iterator[str]:
    """Yields the workloads on which the text gives what the formula does. Raises `InputError` where it does not."""
    space: dict[str, object] = {}
    exec(compile(text, "reference.py", "exec"), space)  # porter's own text: of a formula, not of a source
    case = Case(face.program, face.contract)
    for workload in face.contract.workloads:
        if workload.device_only or workload.dtypes or workload.layouts:
            continue
        arguments = materialise(face.contract, workload)
        try:
            wanted = {} if case.other(arguments) else case.told(arguments)
        except (UnknownSizeError, ArithmeticError, LookupError):
            continue
        if not wanted:
            continue
        given = dict(zip((one.name for one in face.contract.arguments), arguments, strict=True))
        got = space["run"](*(_given(given[name]) for name in face.inputs))  # type: ignore[operator]
        results = got if isinstance(got, tuple) else (got,)
        for output, result in zip(face.outputs, results, strict=True):
            _compare(face.contract, workload, output, result, _tensor(wanted[output]))
        yield workload.name


def _given(value: Value) -> torch.Tensor | float:
    return _tensor(value) if isinstance(value, TensorValue) else value.value


def _tensor(value: TensorValue) -> torch.Tensor:
    return torch.from_numpy(value.storage.copy()).view(TORCH_TYPES[value.dtype]).reshape(value.shape)


def _compare(contract: Contract, workload: Workload, name: str, got: torch.Tensor, want: torch.Tensor) -> None:
    want = want.reshape(got.shape) if want.numel() == got.numel() else want
    rtol = _ULPS * torch.finfo(want.dtype).eps if want.is_floating_point() else 0.0
    if got.dtype != want.dtype or got.shape != want.shape or not _close(got.double(), want.double(), rtol):
        raise InputError(f"{contract.name}: at {workload.name} the reference gives another {name} than the formula")


def _close(got: torch.Tensor, want: torch.Tensor, rtol: float) -> bool:
    return torch.allclose(got, want, rtol=rtol, atol=0.0, equal_nan=True)
