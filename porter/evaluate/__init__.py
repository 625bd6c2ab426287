"""Judging a port: run it, compare it, say what came of it."""
