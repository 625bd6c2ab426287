"""The Triton backend (docs/design/triton.md). Importing it imports neither torch nor triton nor a parser."""

from porter_triton.backend import TritonBackend

__all__ = ["TritonBackend"]
