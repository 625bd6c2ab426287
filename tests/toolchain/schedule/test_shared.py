"""Rows that several programs hold together, as porter's own interpreter runs the modules: the programs wait there."""

import pytest
import torch

from porter.contract.model.dtype import DType
from porter.execution.job import Job, Limits, ScalarValue, TensorValue
from porter.schedule.schedule import Algorithm, Schedule
from porter_triton.planned_calls import Function
from porter_triton.proof import calls_of
from tests.pure.schedule.programs import ALL
from tests.toolchain.schedule.test_modules import SIZES, values, written

# Rows longer than one program holds by itself: three programs have a part of each.
LONG = {"rows": 2, "columns": 20_001, "batch": 1, "channels": 3, "width": 5_003}


def value(argument):
    if isinstance(argument, torch.Tensor):
        return TensorValue(DType(str(argument.dtype).removeprefix("torch.")), tuple(argument.shape), argument.numpy())
    return ScalarValue(argument)


@pytest.mark.parametrize("name", ["softmax", "layer_norm", "group_norm", "column_mean", "argmax"])
def test_programs_that_share_rows_compute_what_the_program_says(name, tmp_path):
    program = ALL[name]
    module = tmp_path / "own.py"
    module.write_text(written(program, Schedule(Algorithm.SHARED, parts=3, warps=4)).text)
    with calls_of(module, tmp_path, Limits(cpu_s=20.0)) as calls:
        for sizes in (*SIZES, LONG):
            arguments, told = values(program, sizes)
            run = calls.run(Function("forward"), Job(arguments=tuple(map(value, arguments))))
            assert run.finished, run.faults
            assert run.faults == ()
            own = torch.from_numpy(run.results[0].storage.copy()).reshape(told.shape)
            torch.testing.assert_close(own, told.to(own.dtype), rtol=2e-5, atol=2e-5)
