"""Where the maxima over the middle axis are; of equal elements the first."""

import torch


def reference(x: torch.Tensor) -> torch.Tensor:
    return torch.argmax(x, dim=1)
