"""CUDA kernels as trees to the text of Triton functions (docs/design/triton.md)."""

from porter_triton.lower.kernel import lower_kernel
from porter_triton.lower.launch import Dimension, LaunchInfo, LoweredKernel, LoweredParameter, ParameterKind

__all__ = ["Dimension", "LaunchInfo", "LoweredKernel", "LoweredParameter", "ParameterKind", "lower_kernel"]
