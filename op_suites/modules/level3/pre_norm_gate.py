"""A layer norm, a gate of it, and the way around both."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.LayerNorm(features)
        self.gate = nn.Parameter(torch.randn(features))

    def forward(self, x):
        normed = self.norm(x)
        return x + normed * torch.sigmoid(normed * self.gate)


def get_inputs():
    return [torch.randn(4096, 2048)]


def get_init_inputs():
    return [2048]
