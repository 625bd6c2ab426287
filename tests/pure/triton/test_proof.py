"""What answers for a module's entries before anything of it has run."""

from contextlib import ExitStack
from pathlib import Path

import pytest

from porter.backend import PortedFile
from porter.contract.model.contract import Contract, Entry, EntryKind, LaunchShape, Role, TensorArg
from porter.contract.model.dtype import DType
from porter.evaluate.model.outcome import NotBuilt, NotVerified
from porter.execution.job import Limits
from porter.source.parse import parse
from porter.source_text import Source
from porter.translation_unit import original_unit
from porter_triton.port import lowered, port
from porter_triton.proof import InterpretedPort

SOURCE = Source(
    Path("op.cu"),
    "__global__ void k(float* x) { x[threadIdx.x] = 1.0f; }\nvoid f(float* x) { k<<<1, 32>>>(x); }\n",
)
PROGRAM = parse(SOURCE)
SHAPE = LaunchShape(("1", "1", "1"), ("32", "1", "1"))


@pytest.fixture
def ported(tmp_path):
    """`ported(text)` is a module that holds `text`."""
    with ExitStack() as workers:
        yield lambda text: InterpretedPort(
            (PortedFile("op_triton.py", text, SOURCE),),
            original_unit(PROGRAM, (), ()), (), tmp_path, tmp_path, Limits(), workers,
        )  # fmt: skip


def answer(made, kind, name):
    contract = Contract(name, "other", Entry(kind, name, (), SHAPE), (), (), (), (), {})
    (found,) = made.candidates([contract])
    return found


@pytest.mark.parametrize(
    ("kind", "name", "text"),
    [
        (EntryKind.POINTER, "f", "def f(x):\n    return 1\n"),
        (EntryKind.POINTER, "ns::f", "def f(x):\n    return 1\n"),
        (EntryKind.POINTER, "sum", "def sum_(x):\n    return 1\n"),
        (EntryKind.KERNEL, "k", "def launch_k(x, *, grid, block, shared_bytes=0):\n    pass\n"),
    ],
)
def test_an_entry_is_answered_by_the_function_of_its_name(ported, kind, name, text):
    (candidate,) = answer(ported(text), kind, name)
    assert candidate.warp_size is None


@pytest.mark.parametrize("text", ["", "def g(x):\n    pass\n", "def f(x:\n"])
def test_an_entry_the_module_lacks_is_not_built(ported, text):
    missing = "op_triton.py defines no 'f'"
    assert answer(ported(text), EntryKind.POINTER, "f") == NotBuilt(missing, missing)


def test_a_kernel_that_the_module_launches_itself_gets_a_launcher_to_be_called_by(ported):
    text = port(PROGRAM, ()).files[0].text
    assert "launch_k" not in text
    assert isinstance(answer(ported(text), EntryKind.KERNEL, "k"), tuple)


def test_a_module_that_was_edited_gets_nothing_added(ported):
    text = port(PROGRAM, ()).files[0].text.replace("1.0", "2.0")
    assert isinstance(answer(ported(text), EntryKind.KERNEL, "k"), NotVerified)


def test_programs_are_taken_apart(ported):
    assert not ported("").runs_programs


INSTANCES = Source(
    Path("op.cu"),
    """
template <class T> __global__ void copied(T* y, const T* x, int step) { y[threadIdx.x] = x[threadIdx.x * step]; }
template <class T> void copy(T* y, const T* x);
template <> void copy<float>(float* y, const float* x) { copied<<<1, 32>>>(y, x, 1); }
template <> void copy<double>(double* y, const double* x) { copied<<<1, 32>>>(y, x, 2); }
template <class T> __global__ void marked(T* y) { y[threadIdx.x] = sizeof(T); }
void launch_marked(float* y) { marked<float><<<1, 32>>>(y); }
""",
)


@pytest.mark.parametrize(
    ("kind", "name", "template", "function"),
    [
        (EntryKind.POINTER, "copy", ("float",), "copy"),
        (EntryKind.POINTER, "copy", ("double",), "copy__2"),
        (EntryKind.POINTER, "copy", ("int",), ""),
        (EntryKind.KERNEL, "marked", ("float",), "launch_marked__2"),
        (EntryKind.KERNEL, "marked", ("double",), "launch_marked__3"),
    ],
)
def test_each_instance_is_answered_by_its_own_function(kind, name, template, function):
    hidden = tuple(contract(EntryKind.KERNEL, "marked", (t,), "y") for t in ("float", "double"))
    names = ("y",) if name == "marked" else ("y", "x")
    assert lowered(parse(INSTANCES), (), hidden).function(contract(kind, name, template, *names)) == function


def contract(kind, name, template, *names):
    """A contract for an instance whose tensors are called so."""
    dtype = {"float": DType.FLOAT32, "double": DType.FLOAT64, "int": DType.INT32}[template[0]]
    tensors = tuple(TensorArg(name, Role.INOUT, dtype, ("32",)) for name in names)
    return Contract(name, "other", Entry(kind, name, template, SHAPE), tensors, (), (), (), {})
