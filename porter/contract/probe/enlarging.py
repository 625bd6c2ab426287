"""Gives tensors more elements where data decide how far accesses go: bins of a histogram, cells that particles lie in.

Probes of other inputs at the same sizes touch more or fewer of them; or all probes touched as many, and runs on other
inputs touch more. No size says how many there are, so that a round number is taken which holds what all runs touch, and
some more for other inputs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from porter.contract.model.contract import Contract, Role, TensorArg, Workload
from porter.contract.model.questions import extent_question
from porter.contract.probe.fit import Fit
from porter.contract.probe.probed import Probe, Probed
from porter.contract.probe.trials import Trials
from porter.execution.job import FaultKind, Run

_EXTENTS = (1 << 8, 1 << 12, 1 << 16, 1 << 20)
_OF_THREADS = frozenset((FaultKind.RACE, FaultKind.DEADLOCK))
_MARGIN = 8  # the largest of many thousand normal numbers is a few times that of a few
_BEYOND = re.compile(rf"^{FaultKind.OUT_OF_BOUNDS.value} .*`argument (\d+)` \(\d+ bytes\) at byte \d")


def decided_by_data(probed: Probed, trials: Trials) -> Mapping[str, int]:
    """Returns the tensors for whose extent no size is a form, and of which other inputs at the same sizes touch more.

    To each belong the most elements that were touched.
    """
    names = [name for name in probed.fits if any(probed.extents(name)) and not _has_form(probed.fits[name])]
    if not names:
        return {}
    sizes = max((probe.sizes for probe in probed.probes), key=lambda at: sum(at.values()))
    others = replace(probed, probes=tuple(Probe(sizes, r) for r in trials.on_other_inputs(probed.contract, sizes)))
    extents = {name: set(others.extents(name)) - {0} for name in names}
    return {name: max(*found, *probed.extents(name)) for name, found in extents.items() if len(found) > 1}


def _has_form(found: Fit | None) -> bool:
    """Returns whether sizes decide an extent; one that was the same in all probes may be the first of more."""
    return found is not None and found.exact and not found.text.isdigit()


def beyond_constant(contract: Contract, probed: Probed, broken: str) -> tuple[str, ...]:
    """Returns the tensors that had one extent in all probes.

    None of them where `broken`, which says what went wrong, is not that accesses went beyond one.
    """
    names = tuple(name for name, found in probed.fits.items() if found is not None and found.text.isdigit())
    beyond = _BEYOND.match(broken)
    return names if beyond is not None and contract.arguments[int(beyond[1])].name in names else ()


def roomy(contract: Contract, touched: Mapping[str, int]) -> Contract:
    """Returns the contract with room for so many elements of each tensor, and some more."""
    for name, seen in touched.items():
        contract = _with_extent(contract, (name,), max(_EXTENTS[0], 1 << (_MARGIN * seen - 1).bit_length()))
    return contract


def enlarged(contract: Contract, names: Collection[str], holds: Callable[[Contract], bool]) -> Contract | None:
    """Returns the contract with eight times the first number of elements of the tensors `names` at which it holds.

    None where it holds at none.
    """
    for extent in _EXTENTS:
        if holds(_with_extent(contract, names, extent)):
            return _with_extent(contract, names, _MARGIN * extent)
    return None


def leaving(contract: Contract, trials: Trials) -> list[Workload]:
    """Returns the workloads with scaled values in which the original leaves its memory, and does nothing else wrong.

    Values decide how far it goes where it is clean at the same sizes with usual ones: positions in a box, say.
    """
    scaled = (w for w in contract.workloads if w.scale != 1.0 and not w.scalars and not w.dtypes)
    return [w for w in scaled if _leaves(trials.exact(contract, w.sizes, scale=w.scale))]


def _leaves(run: Run) -> bool:
    kinds = {fault.kind for fault in run.faults}
    return FaultKind.OUT_OF_BOUNDS in kinds and not kinds & _OF_THREADS


def _with_extent(contract: Contract, names: Collection[str], extent: int) -> Contract:
    """Returns the contract with so many elements of these tensors; elements that nothing writes keep what they hold."""

    def changed(tensor: TensorArg) -> TensorArg:
        role = Role.INOUT if tensor.role is Role.OUT else tensor.role
        return replace(tensor, shape=(str(extent),), role=role) if tensor.name in names else tensor

    arguments = tuple(changed(a) if isinstance(a, TensorArg) else a for a in contract.arguments)
    answered = {extent_question(name) for name in names}
    questions = tuple(question for question in contract.questions if question not in answered)
    return replace(contract, arguments=arguments, questions=questions)
