"""Reads what CUDA says about its warps: which lanes come to a statement, what they exchange without a barrier."""
