"""Searches for faster ports: puts state, proposers and evaluators together."""
