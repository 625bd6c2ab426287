"""How wide generated Python is, which `black` lays out."""

WIDTH = 100  # columns
