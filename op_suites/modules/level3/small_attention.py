"""One head of attention over short sequences."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, query, key, value):
        scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
        return torch.softmax(scores, dim=-1) @ value


def get_inputs():
    return [torch.randn(32, 64, 48), torch.randn(32, 64, 48), torch.randn(32, 64, 48)]


def get_init_inputs():
    return []
