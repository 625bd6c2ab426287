"""Kernels of the tile IR as MACA C++, and the host code around them in the form that the source's entry has."""
