"""The mean of all elements of a row up to each."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x):
        count = torch.arange(1, x.shape[1] + 1, device=x.device)
        return torch.cumsum(x, dim=1) / count


def get_inputs():
    return [torch.randn(4096, 2048)]


def get_init_inputs():
    return []
