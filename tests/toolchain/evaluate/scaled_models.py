"""A model as KernelBench has it, with parameters, and a candidate for it that is a class."""

REFERENCE = """
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, features, scale):
        super(Model, self).__init__()
        self.gate = nn.Linear(features, 1)
        self.norm = nn.LayerNorm(features)
        self.scale = scale

    def forward(self, x):
        return x * self.scale * self.gate.weight + self.norm.bias

def get_inputs():
    return [torch.rand(2048, 1 << 12)]

def get_init_inputs():
    return [1 << 12, 2.5]
"""
CANDIDATE = """
import torch
import torch.nn as nn
import triton
import triton.language as tl

@triton.jit
def kernel(x, weight, bias, y, scale, n, size, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    w = tl.load(weight + at % n, mask=at < size)
    b = tl.load(bias + at % n, mask=at < size)
    tl.store(y + at, tl.load(x + at, mask=at < size) * scale * w + b, mask=at < size)

class ModelNew(nn.Module):
    def __init__(self, features, scale):
        super(ModelNew, self).__init__()
        self.gate = nn.Linear(features, 1)
        self.norm = nn.LayerNorm(features)
        self.scale = scale
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x.contiguous()
        y = torch.empty_like(x)
        if x.numel():
            grid = (triton.cdiv(x.numel(), 1024),)
            kernel[grid](x, self.gate.weight, self.norm.bias, y, self.scale, x.shape[1], x.numel(), B=1024)
        return y
"""
