"""Shows what porter reads in a source."""
