"""Runs ports and compares them with the reference."""
