"""Passes tensors as C++ does: the address of an `at::Tensor`, by the means of PyTorch's own compiler."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import torch

# Taken while no candidate is loaded yet.
_GIVEN = torch._C._aoti.unsafe_alloc_void_ptr_from_tensor
_TAKEN = torch._C._aoti.alloc_tensors_by_stealing_from_void_ptrs
_ADDRESS = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)
_CAPSULE = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)


def lent(tensor: torch.Tensor) -> int:
    """Returns the address of an `at::Tensor` that is the same tensor; the receiver ends it."""
    return int(_ADDRESS(_GIVEN(tensor), None))


def adopted(addresses: Sequence[int]) -> list[torch.Tensor]:
    """Returns the tensors at these addresses, which end with it."""
    return list(_TAKEN([_CAPSULE(address, None, None) for address in addresses]))
