"""Halves of rows turned by an angle for each place."""

import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, angles):
        half = x.shape[-1] // 2
        left, right = x[..., :half], x[..., half:]
        cosine, sine = torch.cos(angles), torch.sin(angles)
        return torch.cat((left * cosine - right * sine, right * cosine + left * sine), dim=-1)


def get_inputs():
    return [torch.randn(16, 8, 128, 64), torch.randn(128, 32)]


def get_init_inputs():
    return []
