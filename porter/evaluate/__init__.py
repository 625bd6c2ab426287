"""Judges a port: runs it, compares it, and gives a verdict."""
