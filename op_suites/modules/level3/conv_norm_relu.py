"""A convolution of three by three, a group norm, and no negative numbers."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, channels, outputs, groups):
        super().__init__()
        self.conv = nn.Conv2d(channels, outputs, 3, padding=1)
        self.norm = nn.GroupNorm(groups, outputs)

    def forward(self, x):
        return torch.relu(self.norm(self.conv(x)))


def get_inputs():
    return [torch.randn(8, 24, 40, 36)]


def get_init_inputs():
    return [24, 32, 4]
