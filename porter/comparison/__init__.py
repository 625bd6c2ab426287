"""Decides when two answers are the same."""
