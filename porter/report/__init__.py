"""Reports the result of a command, to people (terminal, Markdown) and to programs (JSON, SARIF)."""
