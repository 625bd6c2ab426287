"""A softmax of each row up to its diagonal."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, scores):
        size = scores.shape[-1]
        place = torch.arange(size, device=scores.device)
        future = place[None, :] > place[:, None]
        return torch.softmax(scores.masked_fill(future, float("-inf")), dim=-1)


def get_inputs():
    return [torch.randn(64, 12, 256, 256)]


def get_init_inputs():
    return []
