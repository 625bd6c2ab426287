"""Two small products of matrices with a GELU between."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, inputs, inner, outputs):
        super().__init__()
        self.first = nn.Linear(inputs, inner)
        self.second = nn.Linear(inner, outputs)

    def forward(self, x):
        return self.second(nn.functional.gelu(self.first(x)))


def get_inputs():
    return [torch.randn(256, 96)]


def get_init_inputs():
    return [96, 128, 40]
