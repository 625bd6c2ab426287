"""Chooses the sizes at which an operator runs, and makes its arguments."""
