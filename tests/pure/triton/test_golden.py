"""Whole files, before and after: `golden/<name>.cu` and the module that becomes of it, byte for byte."""

import ast
from pathlib import Path

import black
import pytest

from porter.contract.infer.draft import draft
from porter.evaluate.judge.refusal import refusal
from porter.source.parse import parse
from porter.source_text import Source
from porter_triton import TritonBackend

GOLDEN = Path(__file__).parent / "golden"
SOURCES = sorted(GOLDEN.glob("*.cu"))
BLACK = black.Mode(line_length=100)


def port(path):
    backend = TritonBackend()
    program = parse(Source(path, path.read_text("utf-8")))
    return program, backend.port(program, (), backend.targets()[0])


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_the_module_is_the_expected_text(source, golden):
    (file,) = port(source)[1].files
    golden(GOLDEN / file.name, file.text)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_the_module_is_python_as_black_writes_it(source):
    (file,) = port(source)[1].files
    ast.parse(file.text)
    assert black.format_str(file.text, mode=BLACK) == file.text


def test_a_refused_kernel_takes_only_its_own_entries_with_it():
    program, ported = port(GOLDEN / "half_refused.cu")
    (finding,) = ported.findings
    assert (finding.code, finding.span.line) == ("PORT1800", 8)
    refused = {contract.name: refusal(contract, program, ported) for contract in draft(program)}
    assert refused["launch_doubled"] is None
    assert "line 8" in refused["launch_clocked"].because


def test_a_refused_kernel_of_a_header_takes_only_its_own_entry_with_it():
    kernels = (GOLDEN / "half_refused.cu").read_text("utf-8").partition("void launch_doubled")[0]
    headers = (Source(Path("kernels.cuh"), kernels),)
    program, backend = parse(Source(Path("op.cu"), '#include "kernels.cuh"\n')), TritonBackend()
    ported = backend.port(program, headers, backend.targets()[0])
    drafted = draft(program, headers=headers)
    refused = {contract.name: refusal(contract, program, ported, headers) for contract in drafted}
    assert refused["doubled"] is None
    assert "kernels.cuh line 8: a call of 'clock64'" in refused["clocked"].because
