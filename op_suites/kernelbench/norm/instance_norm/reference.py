"""Every plane has mean 0 and variance 1."""

import torch


def reference(x: torch.Tensor, eps: float) -> torch.Tensor:
    return torch.nn.functional.instance_norm(x, eps=eps)
