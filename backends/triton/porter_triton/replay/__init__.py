"""The process that carries out a plan: it owns the memory, and runs kernels rebuilt from checked text.

No line of a candidate's host code is ever in it.
"""
