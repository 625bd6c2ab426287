"""Tells which of an entry's kernels were compared: those that its workloads launched."""

from __future__ import annotations

from dataclasses import replace

from porter.contract.analysis.usage import Usage
from porter.contract.infer.entries import reach
from porter.contract.model.contract import Contract
from porter.evaluate.judge.prove import Proof, with_caveat
from porter.source.qualified import unqualified

_NOT_LAUNCHED = "no workload launches {}"


def with_kernels(proof: Proof, usage: Usage) -> tuple[Proof, ...]:
    """Returns the proof, and those of single choices, with the kernels each leads to and those that were launched.

    A verdict names the others. A kernel of a single choice does not count for the whole entry, unless that launched it.
    """
    kernels = _kernels(proof.entry.contract, usage)
    launched = _launched(kernels, frozenset(proof.entry.launched), usage)
    apart = [_launched(kernels, frozenset(part.entry.launched), usage) for part in proof.apart]
    elsewhere = {name for names in apart for name in names} - set(launched)
    own = tuple(k for k in kernels if k not in elsewhere)
    parts = [_with(part, names, names) for part, names in zip(proof.apart, apart, strict=True)]
    return (_with(replace(proof, apart=()), own, launched), *parts)


def _with(proof: Proof, kernels: tuple[str, ...], launched: tuple[str, ...]) -> Proof:
    missing = ", ".join(k for k in kernels if k not in launched)
    named = replace(proof, entry=replace(proof.entry, kernels=kernels, launched=launched))
    return with_caveat(named, _NOT_LAUNCHED.format(missing) if missing else "")


def _kernels(contract: Contract, usage: Usage) -> tuple[str, ...]:
    """Returns the kernels an entry leads to, in the order of the source."""
    kernels = (*usage.program.kernels, *usage.header_kernels)
    entry = [f for f in (*kernels, *usage.program.host_functions) if contract.entry.name in (f.qualified, f.name)]
    reached = {k for function in entry for k in reach(usage, function)}
    return tuple(dict.fromkeys(k.name for k in kernels if k in reached))


def _launched(kernels: tuple[str, ...], seen: frozenset[str], usage: Usage) -> tuple[str, ...]:
    """Returns those of `kernels` that were `seen`: a launch through a variable means all that no other launch names."""
    by_name = {unqualified(launch.kernel) for launch in usage.program.launches}
    through_variable = bool(seen - {k.name for k in (*usage.program.kernels, *usage.header_kernels)})
    return tuple(k for k in kernels if k in seen or (through_variable and k not in by_name))
