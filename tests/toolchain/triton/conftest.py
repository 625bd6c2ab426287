"""A worker that serves the tests of a file: it takes seconds to start."""

from pathlib import Path

import numpy as np
import pytest

from porter.contract.model.dtype import DType
from porter.execution.job import FaultKind, Job, Limits, ScalarValue, TensorValue
from porter.source.parse import parse
from porter.source_text import Source
from porter_triton.backend import TritonBackend
from porter_triton.planned_calls import Function
from porter_triton.proof import calls_of

MODULE = Path(__file__).parent / "module_under_test.py"


@pytest.fixture(scope="module")
def worker(tmp_path_factory):
    """The calls of `module_under_test.py`."""
    with calls_of(MODULE, tmp_path_factory.mktemp("worker"), Limits(cpu_s=5.0)) as calls:
        yield calls


@pytest.fixture(scope="module")
def ported(request, tmp_path_factory):
    """`ported(function, *arguments, permitted=...)`: a call of the port of the file's `SOURCE`; it has to end well."""
    folder = tmp_path_factory.mktemp("ported")
    backend = TritonBackend()
    port = backend.port(parse(Source(Path("op.cu"), request.module.SOURCE)), (), backend.targets()[0])
    assert port.findings == ()
    module = folder / port.files[0].name
    module.write_text(port.files[0].text)

    with calls_of(module, tmp_path_factory.mktemp("work"), Limits(cpu_s=5.0)) as calls:

        def run(function, *arguments, permitted=frozenset()):
            job = Job(arguments=tuple(map(_value, arguments)))
            done = calls.run(Function(function, permitted=permitted), job)
            assert done.finished, done.faults
            assert FaultKind.OUT_OF_BOUNDS not in {fault.kind for fault in done.faults}
            return done

        yield run


@pytest.fixture
def call(worker):
    """`call(function, *arguments, **job)`: arrays are tensors of float32, numbers are numbers."""

    def run(function, *arguments, launch=False, permitted=frozenset(), **fields):
        job = Job(arguments=_single(arguments), **fields)
        return worker.run(Function(function, launch, permitted=permitted), job)

    return run


@pytest.fixture
def signatures(worker):
    """`signatures(function, *arguments)`: those of the launches of a call."""

    def run(function, *arguments):
        before = worker.signatures(function)
        worker.run(Function(function), Job(arguments=_single(arguments)))
        return tuple(signature for signature in worker.signatures(function) if signature not in before)

    return run


def _single(arguments):
    """As values, arrays in single precision."""
    return tuple(_value(a.astype(np.float32) if isinstance(a, np.ndarray) else a) for a in arguments)


def _value(argument):
    if isinstance(argument, TensorValue):
        return argument
    if isinstance(argument, np.ndarray):
        return TensorValue(DType(str(argument.dtype)), argument.shape, argument)
    return ScalarValue(argument)
