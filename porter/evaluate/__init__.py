"""Judges a port: runs it, compares it, says what came of it."""
