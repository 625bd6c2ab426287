"""Scores candidates: whether they are right, how fast they are, or what a model says they cost."""
