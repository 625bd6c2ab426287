"""Whole files, before and after: `golden/<name>.cu` and what the port makes of it, byte for byte."""

from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source_text import Source
from porter_maca import MacaBackend

GOLDEN = Path(__file__).parent / "golden"
SOURCES = sorted(path for path in GOLDEN.iterdir() if ".maca." not in path.name and path.suffix in (".cu", ".maca"))


def port(path):
    backend = MacaBackend()
    return backend.port(parse(Source(path, path.read_text("utf-8"))), (), backend.targets()[0])


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_port_is_the_expected_text(source, golden):
    ported = port(source)
    (file,) = ported.files
    golden(GOLDEN / file.name, file.text)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_findings_stand_at_the_expected_lines(source, golden):
    found = (f for f in port(source).findings if f.code >= "PORT1100")  # those about warps have tests of their own
    rows = [f"{f.span.line if f.span else 0}: {f.code} {f.severity}: {f.message}\n" for f in found]
    golden(GOLDEN / f"{source.stem}.findings.txt", "".join(rows))


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_porting_a_port_changes_nothing(source, tmp_path):
    (file,) = port(source).files
    again = tmp_path / file.name
    again.write_text(file.text, "utf-8")
    (second,) = port(again).files
    assert (second.name, second.text) == (file.name, file.text)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_porting_a_port_without_porters_line_changes_no_code(source, tmp_path):
    (file,) = port(source).files
    _, _, body = file.text.partition("\n")
    again = tmp_path / source.name
    again.write_text(body, "utf-8")
    (second,) = port(again).files
    assert second.text.partition("\n")[2] == body
