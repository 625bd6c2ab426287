"""Softmax over the keys that `mask` shows to a query; a query without any attends to nothing."""

import torch


def reference(scores: torch.Tensor, mask: torch.Tensor, scale: float) -> torch.Tensor:
    hidden = ~mask[:, None].expand_as(scores)
    scaled = (scores * scale).masked_fill(hidden, float("-inf"))
    return torch.softmax(scaled, dim=-1).nan_to_num(0.0)
