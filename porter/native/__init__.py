"""Runs and times on an NVIDIA device: originals built by nvcc, candidates in a process that may be lost."""
