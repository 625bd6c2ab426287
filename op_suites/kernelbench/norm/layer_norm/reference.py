"""Normalised over all dimensions but the first, with a weight and a bias for every element."""

import torch


def reference(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, eps: float) -> torch.Tensor:
    return torch.nn.functional.layer_norm(x, weight.shape, weight, bias, eps)
