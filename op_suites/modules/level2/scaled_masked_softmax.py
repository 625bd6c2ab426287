"""A softmax of scaled scores that a mask leaves."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = scale

    def forward(self, scores, mask):
        scores = scores * self.scale
        return torch.softmax(scores.masked_fill(mask > 0, float("-inf")), dim=-1)


def get_inputs():
    return [torch.randn(512, 16, 256), torch.randn(512, 1, 256)]


def get_init_inputs():
    return [0.125]
