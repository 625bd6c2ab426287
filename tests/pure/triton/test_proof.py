"""What a module's entries are before anything of it has run."""

from pathlib import Path

import pytest

from porter.contract.contract import Contract, Entry, EntryKind
from porter.evaluate.outcome import NotBuilt
from porter.simt.job import Limits
from porter.source.parse import parse
from porter.source.text import Source
from porter_triton.proof import InterpretedPort
from porter_triton.run import Worker

PROGRAM = parse(Source(Path("op.cu"), "__global__ void k(float* x) { x[0] = 1; }\nint f(float* x) { return 1; }\n"))


@pytest.fixture
def port(tmp_path):
    """`port(text)` is a module that holds `text`."""

    def make(text):
        module = tmp_path / "op_triton.py"
        module.write_text(text)
        return InterpretedPort(PROGRAM, module, Worker(module, tmp_path, Limits()), (), tmp_path, tmp_path)

    return make


def contract(kind, name):
    return Contract(name, "other", Entry(kind, name), (), (), (), (), {})


@pytest.mark.parametrize(
    ("kind", "name", "text"),
    [
        (EntryKind.POINTER, "f", "def f(x):\n    return 1\n"),
        (EntryKind.POINTER, "ns::f", "def f(x):\n    return 1\n"),
        (EntryKind.POINTER, "sum", "def sum_(x):\n    return 1\n"),
        (EntryKind.KERNEL, "k", "def launch_k(x, *, grid, block, shared_bytes=0):\n    pass\n"),
    ],
)
def test_an_entry_is_answered_by_the_function_of_its_name(port, kind, name, text):
    ((candidate,),) = port(text).candidates([contract(kind, name)])
    assert candidate.warp_size is None


@pytest.mark.parametrize("text", ["", "def g(x):\n    pass\n", "def f(x:\n"])
def test_an_entry_the_module_lacks_is_not_built(port, text):
    (answer,) = port(text).candidates([contract(EntryKind.POINTER, "f")])
    assert answer == NotBuilt("op_triton.py defines no 'f'", "op_triton.py defines no 'f'")


def test_programs_are_taken_apart(port):
    assert not port("").runs_programs
