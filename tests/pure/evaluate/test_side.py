"""Which of several functions of one name a contract's entry stands for."""

from pathlib import Path

from porter.contract.draft import draft
from porter.evaluate.side import Side
from porter.simt.job import Dialect
from porter.source.parse import parse
from porter.source.text import Source


def test_an_explicit_specialisation_has_its_own_parameters():
    text = """
    template <typename T> __global__ void k(T* x) { x[0] = 1; }
    template <> __global__ void k(double* x) { x[0] = 2; }
    """
    source = Source(Path("k.cu"), text)
    program = parse(source)
    side = Side(source, (), Dialect.CUDA, program)
    request = side.request(draft(program), 32)
    assert [callee.parameters[0].text.replace(" ", "") for callee in request.callees] == ["float*", "double*"]
