"""Finds workloads for sides of the original's branches that no other workload takes: other types, numbers and sizes.

Runs of the original show which sides are missing (`porter/branch_coverage.py`) and which inputs take them, so no
condition has to be understood: a dtype of a dispatch, the code for whole vectors and the tail of a loop are all found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from porter.branch_coverage import BranchCoverage, Side, united
from porter.contract.model.contract import (
    Contract,
    Distribution,
    EntryKind,
    Role,
    ScalarArg,
    TensorArg,
    Values,
    Workload,
)
from porter.contract.model.dtype import DType
from porter.contract.model.selections import Selection, selected
from porter.contract.model.validate import satisfies
from porter.contract.probe.trials import SLOW_S, Trials, endless, troubled
from porter.contract.workload.materialise import retyped, shape_of
from porter.contract.workload.probing import probe_sizes
from porter.contract.workload.workloads import MAX_ELEMENTS
from porter.execution.job import Run
from porter.source.arithmetic_types import Kind, arithmetic

_MOST_RUNS, _MOST_COMBINED, _MOST_FOUND = 60, 24, 8
_SEED = 20_018
_FLOATS = (DType.FLOAT32, DType.FLOAT64, DType.FLOAT16, DType.BFLOAT16)
_INTEGERS = (DType.INT32, DType.INT64, DType.INT16, DType.INT8, DType.UINT8)
_INDICES = (DType.INT64, DType.INT32)  # which hold any index that a workload has
_NUMBERS = (0, 1, -1, 2)
_EXTENTS = (1, 4, 64, 33, 257, 1024, 1025, 0)  # one, vectors, warps, blocks and their tails, nothing
# Probabilities that are 0, indices that a source guards against, and what it may tell from any other number.
_CONTENTS = {
    Values.PROBABILITY: (Distribution.SURE,),
    Values.INDEX: (Distribution.AT_BOUND, Distribution.BELOW_ZERO),
    Values.NORMAL: (Distribution.ZEROS, Distribution.ROUND),
}
_OF_SPECIALS = re.compile(r"(?i:is_?(?:nan|inf|finite|normal)|\bnan\b|infinity)")
_NUMBER = re.compile(r"\b\d+\b")
_LARGEST = 1 << 16

Sizes = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Trial:
    """A workload to try; `contract` is the one that holds in it."""

    workload: Workload
    contract: Contract


def branch_workloads(contract: Contract, trials: Trials, fixed: Sizes) -> tuple[Workload, ...]:
    """Returns workloads in which the original is clean and takes sides that `contract` leaves out; `fixed` sizes stay.

    Each names its side in `takes`.
    """
    if contract.entry.kind is EntryKind.PROGRAM or not contract.workloads:
        return ()
    covered = united(_exact(trials, _of(contract, w)).coverage for w in contract.workloads if not w.device_only)
    found, covered = _taking(_trials(contract, fixed, covered), trials, covered, _MOST_RUNS)
    more, _ = _taking(_combined(contract, found), trials, covered, _MOST_COMBINED)
    return (*found, *more)


def _taking(
    tried: Iterable[_Trial], trials: Trials, covered: BranchCoverage, most_runs: int
) -> tuple[tuple[Workload, ...], BranchCoverage]:
    """Returns the workloads among those `tried` that take missing sides, and what is covered with them."""
    found: list[Workload] = []
    before, slow = trials.runs, list[Sizes]()
    for trial in tried:
        if not covered.missing or len(found) == _MOST_FOUND or trials.runs - before > most_runs:
            break
        if any(_is_as_large(trial.workload.sizes, sizes) for sizes in slow):
            continue
        run = _exact(trials, trial)
        if run.seconds > SLOW_S or endless(run):
            slow.append(trial.workload.sizes)
        taken = [side for side in covered.missing if side in run.coverage.taken]
        if taken and _is_clean(trials, trial, run) and _is_ordered(trials, trial, taken):
            found.append(replace(trial.workload, takes=taken[0].described.replace("never ", "")))
            covered |= run.coverage
    return tuple(found), covered


def _of(contract: Contract, workload: Workload) -> _Trial:
    """Returns a workload of the contract's own."""
    changed = retyped(contract, workload)
    for name, value in workload.scalars.items():
        changed = selected(changed, Selection(name, value))
    return _Trial(workload, replace(changed, workloads=(replace(workload, scalars={}, dtypes={}, takes=""),)))


def _is_as_large(sizes: Sizes, others: Sizes) -> bool:
    return all(sizes[symbol] >= size for symbol, size in others.items())


def _exact(trials: Trials, trial: _Trial) -> Run:
    return trials.exact(trial.contract, trial.workload.sizes, contents=trial.workload.distribution)


def _is_clean(trials: Trials, trial: _Trial, run: Run) -> bool:
    """Returns whether there is an answer that a port can be compared with; for empty inputs an early return is one."""
    if troubled(run) or endless(run):
        return False
    empty = 0 in trial.workload.sizes.values()
    return empty or (
        bool(run.launches) and trials.clean(trial.contract, trial.workload.sizes, trial.workload.distribution)
    )


def _is_ordered(trials: Trials, trial: _Trial, taken: Sequence[Side]) -> bool:
    """Returns whether the order of blocks is nothing to the answer, where several run for the first time."""
    workload = trial.workload
    return not any(side.is_of_blocks for side in taken) or trials.ordered(
        trial.contract, workload.sizes, workload.distribution
    )


def _trials(contract: Contract, fixed: Sizes, covered: BranchCoverage) -> Iterator[_Trial]:
    """Yields what may take a missing side, the likeliest first."""
    sizes = probe_sizes(contract, frozenset(), fixed, 1, 0) or contract.workloads[0].sizes
    for contents in (*_contents(contract), *_specials(contract, covered)):
        yield _of(contract, Workload(contents.value, sizes, _SEED, distribution=contents))
    for name, types in _types(contract):
        yield _of(contract, Workload(name, sizes, _SEED, dtypes=types))
    for name, value in other_numbers(contract):
        yield _of(contract, Workload(f"{name} = {value}", sizes, _SEED, scalars={name: value}))
    for other in _sizes(contract, fixed, covered):
        changed = ", ".join(f"{s} = {n}" for s, n in other.items() if n != contract.workloads[0].sizes[s])
        yield _of(contract, Workload(changed, other, _SEED))


def _combined(contract: Contract, found: Sequence[Workload]) -> Iterator[_Trial]:
    """Yields each workload that took a missing side again, at each other choice: a flag may only be asked for there.

    A flag may also be asked for only behind another choice: two choices at a time are tried, too.
    """
    chosen = [w for w in contract.workloads if w.scalars and not w.device_only]
    for base in (*found, *chosen):
        for argument in contract.arguments:
            if isinstance(argument, ScalarArg) and argument.name not in base.scalars:
                for choice in argument.choices:
                    if choice != argument.value:
                        name = f"{base.name}, {argument.name} = {choice}"
                        scalars = {**base.scalars, argument.name: int(choice)}
                        yield _of(contract, replace(base, name=name, seed=_SEED, scalars=scalars, takes=""))


def _contents(contract: Contract) -> list[Distribution]:
    """Returns what may stand in the inputs that the contract has."""
    read = {tensor.values for tensor in contract.parts if tensor.role is not Role.OUT}
    return [contents for values, some in _CONTENTS.items() if values in read for contents in some]


def _specials(contract: Contract, covered: BranchCoverage) -> tuple[Distribution, ...]:
    """Returns special values, NaN or infinite, where floats are read and a missing side asks for them."""
    read = any(t.dtype.is_float and t.values is Values.NORMAL and t.role is not Role.OUT for t in contract.parts)
    return (Distribution.SPECIALS,) if read and any(_OF_SPECIALS.search(side.text) for side in covered.missing) else ()


def _types(contract: Contract) -> Iterator[tuple[str, dict[str, DType]]]:
    """Yields other element types, each choice with its name.

    They are tried for all tensors of the same type, for indices, for both, as integers for floats, and for some
    neighbours alone, since an operator's statistics often keep their type. Those of pointers are in the source.
    """
    if contract.entry.kind is not EntryKind.TORCH:
        return
    families = [list(_of_family(contract, family, family)) for family in (_FLOATS, _INTEGERS)]
    indices = list(_of_indices(contract))
    yield from (_named(types) for found in (*families, indices) for types in found)
    yield from (_named({**types, **others}) for found in families for types in found for others in indices)
    yield from map(_named, _of_family(contract, _FLOATS, _INTEGERS))
    for types in (types for found in families for types in found):
        names = list(types)
        for names_kept in (names[i:j] for j in range(len(names), 0, -1) for i in range(j) if 0 < j - i < len(names)):
            name, some = _named({n: types[n] for n in names_kept})
            yield f"{name} in {', '.join(names_kept)}", some


def _named(types: dict[str, DType]) -> tuple[str, dict[str, DType]]:
    return ", ".join(dict.fromkeys(dtype.value for dtype in types.values())), types


def _of_family(contract: Contract, family: tuple[DType, ...], others: tuple[DType, ...]) -> Iterator[dict[str, DType]]:
    """Yields each of the `others` for the tensors of the first type of `family` that there is."""
    main = next((t.dtype for t in contract.tensors if t.dtype in family), None)
    names = [t.name for t in contract.tensors if t.dtype is main and _is_plain(t)]
    yield from (dict.fromkeys(names, other) for other in others if other is not main and names)


def _of_indices(contract: Contract) -> Iterator[dict[str, DType]]:
    for wide, narrow in (_INDICES, _INDICES[::-1]):
        if names := [t.name for t in contract.tensors if t.dtype is wide and t.bound]:
            yield dict.fromkeys(names, narrow)


def _is_plain(tensor: TensorArg) -> bool:
    return not (tensor.elements or tensor.bound)


def other_numbers(contract: Contract) -> Iterator[tuple[str, int]]:
    """Yields other values of whole numbers that are not sizes."""
    known = {(name, value) for w in contract.workloads for name, value in w.scalars.items()}
    for argument in contract.arguments:
        if isinstance(argument, ScalarArg) and re.fullmatch(r"-?\d+", argument.value):
            own = int(argument.value)
            wanted = (0, 1) if argument.type == "bool" else (*_NUMBERS, own + 1)
            held = [n for n in wanted if n >= 0 or not _is_unsigned(argument.type)]
            yield from ((argument.name, n) for n in held if n != own and (argument.name, n) not in known)


def _is_unsigned(type_: str) -> bool:
    """Returns whether a type has no negative numbers: for CUDA -1 is its largest one, and a caller passes none."""
    number = arithmetic(type_)
    return number is not None and number.kind is Kind.UNSIGNED


def _sizes(contract: Contract, fixed: Sizes, covered: BranchCoverage) -> Iterator[dict[str, int]]:
    """Yields the smallest sizes with one symbol, then all, at numbers in missing conditions, and at usual extents."""
    usual = contract.workloads[0].sizes
    free = [s for s in contract.symbols if s not in fixed]
    named = {int(n) for side in covered.missing for n in _NUMBER.findall(side.text)}
    known = (n for c in sorted(named) for n in (c, c + 1) if 0 < n <= _LARGEST)
    extents = dict.fromkeys([*known, *_behind_first_blocks(contract, covered), *_EXTENTS])
    for extent in extents:
        for changed in (*([s] for s in free), free):
            sizes = {**usual, **dict.fromkeys(changed, extent)}
            if sizes != usual and satisfies(contract, sizes) and _is_small(contract, sizes):
                yield sizes


def _behind_first_blocks(contract: Contract, covered: BranchCoverage) -> Iterator[int]:
    """Yields sizes one above what a launch leaves to a block, where only the first block of a kernel ever ran."""
    launch = contract.entry.launch
    if launch is not None and any(side.is_of_blocks for side in covered.missing):
        yield from (int(n) + 1 for extent in launch.grid for n in _NUMBER.findall(extent))


def _is_small(contract: Contract, sizes: Sizes) -> bool:
    workload = Workload("", sizes, _SEED)
    return all(prod(shape_of(tensor, workload)) <= MAX_ELEMENTS for tensor in contract.tensors)
