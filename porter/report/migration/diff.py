"""Shows what a port changed, as a unified diff."""

from __future__ import annotations

from difflib import unified_diff

from rich.text import Text

from porter.backend import PortedFile

_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def port_diff(file: PortedFile) -> Text:
    """Returns the diff from the user's file to the ported one; empty when nothing changed."""
    before, after = file.source.text.splitlines(), file.text.splitlines()
    text = Text()
    for line in unified_diff(before, after, str(file.source.path), file.name, lineterm=""):
        style = "bold" if line.startswith(("+++", "---")) else _STYLES.get(line[0], "")
        text.append(line, style).append("\n")
    return text
