"""x between `min_val` and `max_val`."""

import torch


def reference(x: torch.Tensor, min_val: float, max_val: float) -> torch.Tensor:
    return torch.clamp(x, min_val, max_val)
