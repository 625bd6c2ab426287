"""Means of windows over the last axis; padding counts as zeros."""

import torch


def reference(x: torch.Tensor, kernel_size: int, stride: int, padding: int) -> torch.Tensor:
    return torch.nn.functional.avg_pool1d(x, kernel_size, stride, padding)
