"""A worker that serves the tests of a file: it takes seconds to start."""

from pathlib import Path

import numpy as np
import pytest

from porter.contract.dtype import DType
from porter.simt.job import Job, Limits, ScalarValue, TensorValue
from porter.worker.frames import Task
from porter_triton.proof import interpreter

MODULE = Path(__file__).parent / "module_under_test.py"


@pytest.fixture(scope="module")
def worker(tmp_path_factory):
    """A worker for `module_under_test.py`."""
    worker = interpreter(MODULE, tmp_path_factory.mktemp("worker"), Limits(cpu_s=5.0))
    yield worker
    worker.close()


@pytest.fixture
def call(worker):
    """`call(function, *arguments, **job)`: arrays are tensors of float32, numbers are numbers."""

    def run(function, *arguments, launch=False, permitted=frozenset(), **fields):
        values = tuple(_value(argument) for argument in arguments)
        job = Job(arguments=values, **fields)
        return worker.run(Task(function, job, launch, permitted=permitted))[0]

    return run


@pytest.fixture
def signatures(worker):
    """`signatures(function, *arguments)`: those of the launches of a call."""

    def run(function, *arguments):
        return worker.run(Task(function, Job(arguments=tuple(map(_value, arguments)))))[1]

    return run


def _value(argument):
    if isinstance(argument, TensorValue):
        return argument
    if isinstance(argument, np.ndarray):
        return TensorValue(DType.FLOAT32, argument.shape, argument.astype(np.float32))
    return ScalarValue(argument)
