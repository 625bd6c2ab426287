"""The types of tensors as PyTorch names them."""

from __future__ import annotations

import torch

from porter.contract.model.dtype import DType

TORCH_TYPES = {dtype: getattr(torch, dtype.value) for dtype in DType}
DTYPES = {torch_type: dtype for dtype, torch_type in TORCH_TYPES.items()}
