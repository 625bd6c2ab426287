"""Tells rules of several backends which operators are a library's work, and what an original computes with them."""
