"""Candidates evaluated on another machine: the server on it, and the client that a search has."""
