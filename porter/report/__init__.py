"""What came of it, for people (terminal, Markdown) and for programs (JSON, SARIF)."""
