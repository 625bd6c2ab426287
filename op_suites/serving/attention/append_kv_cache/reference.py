"""Writes the keys and values of new tokens behind what the caches hold of their sequences."""

import torch


def reference(
    key: torch.Tensor,
    value: torch.Tensor,
    key_cache: torch.Tensor,
    value_cache: torch.Tensor,
    lengths: torch.Tensor,
) -> None:
    tokens = key.shape[1]
    for sequence, length in enumerate(lengths.tolist()):
        key_cache[sequence, :, length : length + tokens] = key[sequence].transpose(0, 1)
        value_cache[sequence, :, length : length + tokens] = value[sequence].transpose(0, 1)
