"""Batch normalisation in training mode: it updates the running statistics."""

import torch


def reference(
    x: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor,
    running_mean: torch.Tensor,
    running_var: torch.Tensor,
    momentum: float,
    eps: float,
) -> torch.Tensor:
    return torch.nn.functional.batch_norm(x, running_mean, running_var, weight, bias, True, momentum, eps)
