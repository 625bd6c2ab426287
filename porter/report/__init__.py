"""Reports what came of a command, to people (terminal, Markdown) and to programs (JSON, SARIF)."""
