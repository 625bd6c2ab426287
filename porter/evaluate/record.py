"""Records the answers of a standard for machines that cannot run it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from porter.contract.model.contract import Contract
from porter.errors import InputError
from porter.evaluate.judge.entries import LOCKSTEP, contracts_of
from porter.evaluate.judge.standard_answers import answers
from porter.evaluate.model.migration import MigrateOptions, Progress
from porter.evaluate.model.outcome import Fidelity
from porter.evaluate.problem.bench import bench
from porter.evaluate.problem.environment import environment
from porter.evaluate.problem.original import read_original
from porter.evaluate.problem.standards import AgainstCuda, against_cuda, opened
from porter.evaluate.reference.doubt import unsound
from porter.evaluate.reference.judging import Judging
from porter.evaluate.reference.study import Originals, Unproven
from porter.execution.job import Built
from porter.oracle.golden_record import Golden
from porter.oracle.reference import Reference
from porter.rules.original import OwnCode
from porter.warp.explicit import with_warp_barriers

_UNSOUND = "nothing of it can be recorded: {}"


@dataclass(frozen=True, slots=True)
class _Found:
    """The answers to one contract, if there are any, and what was left out."""

    reference: Reference | None
    left_out: str


def record(against: Path, options: MigrateOptions, progress: Progress) -> Golden:
    """Returns the answers of the standard at `against`, at the seed of `options`, and all that shows how it rounds.

    Entries without sound answers are left out, and named. Raises `InputError` where that leaves none, and for a file
    that cannot be used.
    """
    source = against_cuda(against, options)
    if source is not None:
        found, own = _of_cuda(source, options, progress)
    else:
        with opened(against, options) as standard:
            progress(f"asking {against.name}")
            own = standard.own
            found = [_settled(c, *answers(standard, c, options)) for c in standard.contracts()]
    references = tuple(entry.reference for entry in found if entry.reference is not None)
    left_out = "; ".join(entry.left_out for entry in found if entry.left_out)
    if not references:
        raise InputError(
            f"{against}: {_UNSOUND.format(left_out or 'it has no entry')}", "`porter inspect` shows entries"
        )
    fidelity = Fidelity.EMULATED.value
    return Golden(against.name, references, options.seed or 0, fidelity, left_out, environment(), own)


def _of_cuda(against: AgainstCuda, options: MigrateOptions, progress: Progress) -> tuple[list[_Found], OwnCode]:
    options = replace(options, contract=against.contract)
    side = read_original(against.source, options)
    explicit = with_warp_barriers(side.program, [header for _, header in side.headers])
    contracts = contracts_of(side, options, whole_program=False)
    stated = options.contract is not None
    judging = Judging(options.seed or 0, options.sizes, edges=not stated)
    with bench(options.cache, options.time_limit_s) as place:
        originals = Originals(side.replaced(explicit), options.sizes, place, stated, judging)
        built = originals.begin(contracts).result() if contracts else ()
        pairs = zip(contracts, built, strict=True)
        found = [entry for pair in pairs for entry in _studied(originals, *pair, progress)]
    return [*found, *([_Found(None, LOCKSTEP)] if explicit else [])], side.own


def _studied(originals: Originals, contract: Contract, built: Built, progress: Progress) -> Iterator[_Found]:
    """Studies one entry; where random inputs round, it is studied on whole numbers too, whose sums are exact."""
    studied = originals.study(contract, built, progress)
    if isinstance(studied, Unproven):
        yield _Found(None, f"{contract.name}: {studied.because}")
        return
    reference = originals.with_habits(originals.measured(studied))
    yield _Found(_whole(reference), "; ".join(filter(None, studied.left_out)))
    if exact := originals.in_whole_numbers(reference, studied.execute):
        named = replace(exact.contract, name=f"{exact.contract.name} on whole numbers")
        yield _Found(_whole(replace(exact, contract=named)), "")


def _settled(contract: Contract, reference: Reference, left_out: str) -> _Found:
    because = unsound(reference)
    return _Found(None, f"{contract.name}: {because}") if because else _Found(_whole(reference), left_out)


def _whole(reference: Reference) -> Reference:
    """Returns `reference` with a contract of exactly the workloads it has answers to."""
    workloads = tuple(expected.workload for expected in reference.expected)
    return replace(reference, contract=replace(reference.contract, workloads=workloads, reference=""))
