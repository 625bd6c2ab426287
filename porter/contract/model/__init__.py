"""Defines contracts: their fields, expressions and element types, and how they are read, written and checked."""
