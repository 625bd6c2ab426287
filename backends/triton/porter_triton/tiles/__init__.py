"""Kernels of the tile IR as Triton, and the host code around them as Python."""
