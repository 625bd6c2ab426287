"""The divergence of a student's distribution from a teacher's."""

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, temperature):
        super().__init__()
        self.temperature = temperature

    def forward(self, student, teacher):
        logs = torch.log_softmax(student / self.temperature, dim=-1)
        want = torch.softmax(teacher / self.temperature, dim=-1)
        return nn.functional.kl_div(logs, want, reduction="batchmean") * self.temperature**2


def get_inputs():
    return [torch.randn(2048, 1000), torch.randn(2048, 1000)]


def get_init_inputs():
    return [2.0]
