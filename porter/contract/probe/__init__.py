"""Completes a contract by running the original: extents, bounds, and workloads that take other branches."""
