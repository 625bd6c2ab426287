"""A group norm and a mish."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, groups, channels):
        super().__init__()
        self.norm = nn.GroupNorm(groups, channels)

    def forward(self, x):
        return nn.functional.mish(self.norm(x))


def get_inputs():
    return [torch.randn(32, 64, 56, 48)]


def get_init_inputs():
    return [8, 64]
