"""Kernels, before and after: `<name>.cu` and the Triton functions that become of its kernels, byte for byte."""

from pathlib import Path

import black
import pytest

from porter.source.parse import parse
from porter.source.text import Source
from porter.syntax.read import read_unit
from porter_triton.lower import Dimension, LaunchInfo, lower_kernel

CASES = Path(__file__).parent
SOURCES = sorted(CASES.glob("*.cu"))
BLOCKS = {
    "tiles": (Dimension(16, "TILE"), Dimension(16, "ROWS"), Dimension(1)),
    "unknown_block": (Dimension(None, "BLOCK_SIZE"), Dimension(1), Dimension(1)),
}
USUAL = (Dimension(256, "BLOCK_SIZE"), Dimension(1), Dimension(1))


def lowered(path):
    unit = read_unit(parse(Source(path, path.read_text("utf-8"))))
    info = LaunchInfo(BLOCKS.get(path.stem, USUAL))
    return [lower_kernel(unit, kernel, info).text for kernel in unit.kernels]


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_kernels_become_the_expected_text(source, golden):
    golden(source.with_suffix(".py.txt"), "\n\n".join(lowered(source)))


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_the_text_is_as_black_writes_it(source):
    text = "\n\n".join(lowered(source))
    assert black.format_str(text, mode=black.Mode(line_length=100)) == text
