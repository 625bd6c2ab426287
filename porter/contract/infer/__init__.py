"""Infers a contract from a source: what its operators take, and how they are launched."""
