"""A cross entropy with a part of each target on all classes."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, part):
        super().__init__()
        self.part = part

    def forward(self, scores, target):
        logs = torch.log_softmax(scores, dim=1)
        smooth = target * (1 - self.part) + self.part / scores.shape[1]
        return -(smooth * logs).sum(dim=1).mean()


def get_inputs():
    return [torch.randn(4096, 1000), torch.rand(4096, 1000)]


def get_init_inputs():
    return [0.1]
