"""The `k` largest softmax weights of each token, largest first, and the experts they belong to."""

import torch


def reference(gating: torch.Tensor, k: int, renormalize: bool) -> tuple[torch.Tensor, torch.Tensor]:
    gating = gating.to(torch.promote_types(gating.dtype, torch.float32))
    ranked, experts = torch.sort(gating, dim=1, descending=True, stable=True)
    weights = torch.exp(ranked[:, :k] - torch.logsumexp(gating, dim=1, keepdim=True))
    if renormalize:
        weights = weights / weights.sum(1, keepdim=True)
    return weights.float(), experts[:, :k].int()
