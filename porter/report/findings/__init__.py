"""Shows findings."""
