"""Sums over the middle axis, which stays as one."""

import torch


def reference(x: torch.Tensor) -> torch.Tensor:
    return torch.sum(x, dim=1, keepdim=True)
