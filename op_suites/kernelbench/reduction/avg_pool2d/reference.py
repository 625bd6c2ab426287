"""Means of square windows that do not overlap."""

import torch


def reference(x: torch.Tensor, kernel_size: int) -> torch.Tensor:
    return torch.nn.functional.avg_pool2d(x, kernel_size)
