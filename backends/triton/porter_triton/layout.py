"""The width of generated Python, which `black` lays out."""

WIDTH = 100  # columns
