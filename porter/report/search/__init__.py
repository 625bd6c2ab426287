"""Shows searches."""
