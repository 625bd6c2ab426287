"""Puts a Python reference's answers in the places of a contract: it returns what is written, or changes arguments."""

from __future__ import annotations

from dataclasses import replace

from porter.contract.model.contract import Contract, Role
from porter.execution.job import Run


class NoAnswerError(Exception):
    """The reference gives nothing to compare with; the message says why."""


def positions(contract: Contract, *roles: Role) -> tuple[int, ...]:
    """Returns where among the arguments tensors of these roles are."""
    tensors = {t.name for t in contract.tensors if t.role in roles}
    return tuple(place for place, argument in enumerate(contract.arguments) if argument.name in tensors)


def placed(contract: Contract, run: Run, *, changed: bool) -> Run:
    """`run` of a reference with what is written in its place, and results behind.

    A reference that has `changed` arguments may return more, which are results; else it returns all that is written, in
    the contract's order. Raises `NoAnswerError` where it does neither.
    """
    written = [place for place, tensor in enumerate(contract.tensors) if tensor.role is not Role.IN]
    if changed or not written:
        return run
    if len(run.results) != len(written):
        names = ", ".join(contract.tensors[place].name for place in written)
        raise NoAnswerError(f"it has to return {names}, or to change them, and returns {len(run.results)} tensors")
    outputs = list(run.outputs)
    for place, result in zip(written, run.results, strict=True):
        outputs[place] = result
    return replace(run, outputs=tuple(outputs), results=())
