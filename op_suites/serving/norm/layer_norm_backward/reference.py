"""The gradients of layer normalisation with respect to its input, weight and bias."""

import torch


def reference(
    dy: torch.Tensor, x: torch.Tensor, weight: torch.Tensor, means: torch.Tensor, rstds: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    x_hat = (x - means[:, None]) * rstds[:, None]
    g = dy * weight
    dx = rstds[:, None] * (g - g.mean(1, keepdim=True) - x_hat * (g * x_hat).mean(1, keepdim=True))
    return dx.to(x.dtype), (dy * x_hat).sum(0).to(x.dtype), dy.sum(0)
