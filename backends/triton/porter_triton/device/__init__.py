"""Holds what generated modules call beyond Triton's own language, and names CUDA's device functions in Triton."""
