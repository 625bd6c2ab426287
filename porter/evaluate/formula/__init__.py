"""Lifts sources to tensor programs, and writes ports from them."""
