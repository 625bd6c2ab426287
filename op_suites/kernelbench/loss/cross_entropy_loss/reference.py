"""The mean over the rows of the negative log-probability of the target class."""

import torch


def reference(predictions: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.cross_entropy(predictions, targets)
