"""Counts the instances of a template as sides of a branch: one was executed, no workload took the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from porter.branch_coverage import CALLED, LAUNCHED, BranchCoverage, Branches, Side
from porter.contract.analysis.usage import Usage
from porter.contract.infer.instantiations import known_instances
from porter.contract.model.contract import Entry
from porter.evaluate.judge.prove import Proof, with_caveat
from porter.source.program import Function

_NOT_COUNTED = "it is not known which branches were executed: the original does not build where they are counted"


def with_instances(proof: Proof, usage: Usage) -> Proof:
    """Returns the proof, whose coverage lists the instances of its entry: the executed one and the others.

    Where no branch of the original was counted, the verdict says so.
    """
    if not proof.entry.branches.original.present:  # each kernel is one side at least
        proof = with_caveat(proof, _NOT_COUNTED)
    entry = proof.entry
    functions = (*usage.program.kernels, *usage.header_kernels, *usage.program.host_functions)
    contract = entry.contract.entry
    found = (f for f in functions if f.qualified == contract.name and len(f.template) == len(contract.template))
    function = next(found, None)
    if function is None or not contract.template:
        return proof
    taken, others = _side(function, usage, _instance(function, contract.template)), _others(function, contract, usage)
    left = frozenset(_side(function, usage, text) for text in others)
    own = BranchCoverage(left | {taken}, frozenset({taken}))
    branches = Branches(entry.branches.original | own, entry.branches.port)
    return replace(proof, entry=replace(entry, branches=branches))


def _others(function: Function, entry: Entry, usage: Usage) -> Iterator[str]:
    """Yields the names of the other instances; all but this where porter chose one that the source does not name."""
    known = known_instances(usage, function)
    others = [arguments for arguments in known if arguments != entry.template]
    yield from (_instance(function, arguments) for arguments in others)
    if not known:
        yield f"{function.name} other than {_instance(function, entry.template)}"


def _instance(function: Function, arguments: tuple[str, ...]) -> str:
    return f"{function.name}<{', '.join(arguments)}>"


def _side(function: Function, usage: Usage, text: str) -> Side:
    way = LAUNCHED if function.space == "global" else CALLED
    return Side(usage.file_of(function), function.header.line, 0, way, text)
