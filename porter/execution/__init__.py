"""Defines what is executed, and what comes back: shared by all that execute."""
