"""A compiler that the machine failed says nothing about a kernel."""

import pytest

from porter.errors import MachineError
from porter.execution.job import FaultKind
from porter.worker.child import Death
from porter_triton.compile import _Compiler


def test_a_compiler_killed_for_memory_is_the_machines(tmp_path):
    compiler = _Compiler((), tmp_path, tmp_path)
    with pytest.raises(MachineError, match="ran out of memory"):
        compiler._lost(Death(FaultKind.RESOURCE, "killed: most likely the machine ran out of memory"))


def test_a_kernel_that_crashes_the_compiler_is_refused(tmp_path):
    compiler = _Compiler((), tmp_path, tmp_path)
    assert compiler._lost(Death(FaultKind.CRASH, "Aborted")) == "0: crash: Aborted"
