"""Dropout whose mask is drawn from Philox 4x32-10: element i takes number i % 4 of counter `offset + i / 4`."""

import torch

_WORD = 0xFFFFFFFF


def _philox(counter: torch.Tensor, seed: int) -> list[torch.Tensor]:
    """Four numbers of 32 bits for each counter. A product of two such wraps around as int64, but keeps all its bits."""
    a, b = counter & _WORD, counter >> 32 & _WORD
    c, d = torch.zeros_like(a), torch.zeros_like(a)
    low, high = seed & _WORD, seed >> 32 & _WORD
    for _ in range(10):
        first, second = a * 0xD2511F53, c * 0xCD9E8D57
        a, b, c, d = (second >> 32 & _WORD) ^ b ^ low, second & _WORD, (first >> 32 & _WORD) ^ d ^ high, first & _WORD
        low, high = low + 0x9E3779B9 & _WORD, high + 0xBB67AE85 & _WORD
    return [a, b, c, d]


def reference(x: torch.Tensor, p: float, seed: int, offset: int) -> tuple[torch.Tensor, torch.Tensor]:
    counter = offset + torch.arange((x.numel() + 3) // 4, device=x.device)
    drawn = torch.stack(_philox(counter, seed), dim=1).flatten()[: x.numel()].reshape(x.shape)
    mask = (drawn >> 8) / 2**24 >= p
    return torch.where(mask, x / (1 - p), 0.0), mask
