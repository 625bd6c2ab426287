"""Finds the right answer: the original is executed and examined."""
