"""Rows less their mean over their deviation, between two numbers."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, eps, limit):
        super().__init__()
        self.eps = eps
        self.limit = limit

    def forward(self, x):
        mean = x.mean(dim=1, keepdim=True)
        spread = x.std(dim=1, keepdim=True)
        return ((x - mean) / (spread + self.eps)).clamp(-self.limit, self.limit)


def get_inputs():
    return [torch.randn(4096, 2048)]


def get_init_inputs():
    return [1e-5, 3.0]
