"""Shows runs over suites."""
