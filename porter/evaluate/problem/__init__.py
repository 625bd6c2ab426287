"""Reads what is compared: originals, standards and candidates."""
