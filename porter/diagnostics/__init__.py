"""Defines findings, the codes they have, and which of them a user allows."""
