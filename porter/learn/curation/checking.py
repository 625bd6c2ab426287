"""Decides whether a module that ran makes a task: its answer is floats that depend on its inputs alone."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from porter.learn.curation.tracing import Tracing, tensors


def misfit(
    model: torch.nn.Module, inputs: Sequence[object], others: Sequence[Sequence[object]], answer: object, trace: Tracing
) -> str:
    """Returns why a module that gave `answer` to `inputs` makes no task; empty where it does.

    `others` are the same inputs once more, and different ones.
    """
    results = tensors(answer)
    again, different = others
    if because := _unfit_answer(results, trace):
        return because
    if not _same(tensors(inputs), tensors(again)):
        return "it changes its inputs"
    if any(_is_input(result, tensors(inputs)) for result in results):
        return "it gives an input back"
    if not _same(results, tensors(model(*again))):
        return "it answers the same question in different ways"
    if _same(results, tensors(model(*different))):
        return "its answer does not depend on its inputs"
    return ""


def _unfit_answer(results: Sequence[torch.Tensor], trace: Tracing) -> str:
    if not results:
        return "it returns no tensor"
    if not all(result.is_floating_point() for result in results):
        return "it returns what is not of floats"
    if trace.is_random:
        return "it draws random numbers"
    if all(one.is_view for one in trace.operations):
        return "it computes nothing"
    if not all(bool(result.isfinite().all()) for result in results):
        return "its answer is not finite"
    return "" if all(result.numel() for result in results) else "its answer is empty"


def _same(some: Sequence[torch.Tensor], others: Sequence[torch.Tensor]) -> bool:
    return len(some) == len(others) and all(map(torch.equal, some, others))


def _is_input(result: torch.Tensor, inputs: Sequence[torch.Tensor]) -> bool:
    return any(result.shape == one.shape and torch.equal(result, one) for one in inputs)
