"""Host functions as trees to the Python functions that launch Triton kernels (docs/design/triton.md)."""

from porter_triton.host.launcher import Hosts

__all__ = ["Hosts"]
