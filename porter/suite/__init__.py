"""Suites of operators: what they hold, and whether their CUDA is what their references say."""
