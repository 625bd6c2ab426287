"""Defines the result of running a draft: the contract it became, and its restrictions."""

from __future__ import annotations

from dataclasses import dataclass

from porter.contract.model.contract import Contract


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The contract as far as running could complete it, how many runs that took, and what broke.

    `inferred` are the contract's conditions that no source states: the original breaks without them, `mended` says how.
    `limits` are such conditions for single choices of arguments that only select. Running the original once on each
    workload takes `once_s` seconds of processor time, as far as its sizes were run before. Data decide how far accesses
    of the tensors `enlarged` go: these have more elements than all runs touched. The original leaves its memory in the
    workloads `without`, whose inputs are scaled, and not with usual ones of the same sizes.
    """

    contract: Contract
    runs: int
    trouble: str = ""
    inferred: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()
    mended: str = ""
    once_s: float = 0.0
    enlarged: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
