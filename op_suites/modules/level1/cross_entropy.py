"""The cross entropy of rows of scores and the classes that are right."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, scores, classes):
        return nn.functional.cross_entropy(scores, classes)


def get_inputs():
    return [torch.randn(4096, 10), torch.randint(0, 10, (4096,))]


def get_init_inputs():
    return []
