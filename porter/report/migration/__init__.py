"""Shows migrations and verdicts."""
