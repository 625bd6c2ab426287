"""Writes kernels of the tile IR as MACA C++, and the host code around them in the form of the source's entry."""
