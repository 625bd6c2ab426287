"""Reads what functions do with their parameters: accesses, checks, extents, local names."""
