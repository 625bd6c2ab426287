"""Turns pairs of elements of queries and keys by an angle that depends on the position, in place."""

import torch


def reference(positions: torch.Tensor, query: torch.Tensor, key: torch.Tensor, cos_sin_cache: torch.Tensor) -> None:
    cosines, sines = cos_sin_cache[positions][:, None].chunk(2, dim=-1)
    for heads in (query, key):
        x, y = heads.clone().chunk(2, dim=-1)
        heads.copy_(torch.cat((x * cosines - y * sines, y * cosines + x * sines), dim=-1))
