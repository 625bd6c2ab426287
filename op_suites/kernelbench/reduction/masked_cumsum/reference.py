"""Running sums of rows over what `mask` selects."""

import torch


def reference(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return torch.cumsum(x * mask, dim=1)
