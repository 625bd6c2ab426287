from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from porter.source.edit import apply_edits
from porter.source.parse import parse
from porter.source_text import Source
from porter_maca.targets import targets
from porter_maca.wave import WaveResult, rewrite


@pytest.fixture
def rewritten() -> Callable[[str], WaveResult]:
    """The result of the rewrite of a CUDA text for 64 lanes."""

    def run(text: str) -> WaveResult:
        source = Source(Path("kernel.cu"), text)
        return rewrite(parse(source), source, targets()[0])

    return run


@pytest.fixture
def ported(rewritten: Callable[[str], WaveResult]) -> Callable[[str], str]:
    """The text after the rewrite, without the helper text."""
    return lambda text: apply_edits(text, rewritten(text).edits)


@pytest.fixture
def codes(rewritten: Callable[[str], WaveResult]) -> Callable[[str], list[str]]:
    """The codes of the findings, in the order of the source."""
    return lambda text: [f.code for f in rewritten(text).findings]
