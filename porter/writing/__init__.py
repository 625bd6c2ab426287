"""Writes JSON, tables and counted words, for everything that reports."""
