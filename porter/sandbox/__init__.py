"""Confines processes that run code of others."""
