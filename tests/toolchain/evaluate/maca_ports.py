"""Ports as porter writes them, not proven: for tests that judge them, which takes as long as porting and proving."""

from pathlib import Path

from porter.source.parse import parse
from porter.source_text import Source
from porter_maca import MacaBackend


def maca_port(text: str) -> str:
    """Returns the text of the MACA port of a CUDA source with that text."""
    backend = MacaBackend()
    (file,) = backend.port(parse(Source(Path("op.cu"), text)), (), backend.targets()[0]).files
    return file.text
