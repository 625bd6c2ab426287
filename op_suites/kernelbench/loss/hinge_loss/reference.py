"""The mean of what `predictions * targets` lacks to 1; a target belongs to a column."""

import torch


def reference(predictions: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return torch.mean(torch.clamp(1 - predictions * targets, min=0))
