"""Kernels in the SIMT IR, interpreted on the plan of a call, give the executor's results bit for bit."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from porter.contract.model.reader import load_contracts
from porter.contract.workload.materialise import materialise
from porter.execution.job import Job, Limits, Part, TensorValue
from porter.ir.simt.interpret.concrete import Concrete
from porter.ir.simt.replay.executor import Executor
from porter.ir.simt.replay.kernels import Kernels
from porter.ir.simt.verify import verify
from porter.launch_plan.steps import TensorView
from porter.simt.build import build
from porter.simt.planned_run import PlannedExecutable
from porter.source.headers import DiskHeaders
from porter.source.load import read_sources
from porter.source.parse import parse
from porter.syntax.read import read_unit
from porter.translation_unit import original_unit
from tests.toolchain.simt.libm import LIBM

SUITES = Path(__file__).parents[3] / "op_suites"
OPERATORS = (
    "kernelbench/activation/gelu",
    "kernelbench/activation/new_gelu",
    "kernelbench/activation/softmax",
    "kernelbench/activation/log_softmax",
    "kernelbench/activation/swish",
    "kernelbench/norm/batch_norm",
    "kernelbench/norm/frobenius_norm",
    "kernelbench/norm/l1_norm",
    "kernelbench/norm/l2_norm",
    "kernelbench/norm/group_norm",
    "kernelbench/norm/instance_norm",
    "kernelbench/norm/layer_norm",
    "kernelbench/loss/cross_entropy_loss",
    "kernelbench/loss/kl_div_loss",
    "kernelbench/loss/triplet_margin_loss",
    "kernelbench/reduction/argmin",
    "kernelbench/reduction/avg_pool3d",
    "kernelbench/reduction/cumsum",
    "kernelbench/reduction/masked_cumsum",
    "kernelbench/reduction/max_pool2d",
    "serving/attention/masked_softmax",
    "serving/norm/add_rms_norm",
    "serving/random/dropout",
    "serving/reduction/histogram",
    "serving/routing/topk_softmax",
)


@pytest.mark.parametrize("operator", OPERATORS)
def test_the_interpreter_computes_what_the_executor_does(operator, build_cache):
    folder = SUITES / operator
    program = parse(read_sources(folder / "kernel.cu")[0], headers=DiskHeaders(()), defines=())
    side = original_unit(program, (), ())
    contracts = load_contracts(folder / "contract.toml")
    kernels = Kernels(read_unit(program, tuple(header for _, header in side.headers)))
    whole = build(replace(side.request(contracts, 32), part=Part.HOST), build_cache)
    for contract, built in zip(contracts, whole, strict=True):
        planned = PlannedExecutable(built, built.device, Limits())
        for workload in contract.workloads:
            if not workload.device_only:
                check(planned, kernels, Job(materialise(contract, workload)))


def check(planned: PlannedExecutable, kernels: Kernels, job: Job) -> None:
    run = planned.execute(job)
    assert run.finished, run.faults
    plan = planned.plan(job).calls[-1]
    tensors = [argument.storage.tobytes() if isinstance(argument, TensorValue) else None for argument in job.arguments]
    executor = Executor(kernels, tensors, Concrete(LIBM))
    executor.run(plan)
    for launch in plan.launches:
        verify(kernels.function(launch.kernel))
    for view, result in zip(plan.returned, run.results, strict=True):  # what the host holds has no elements
        assert not isinstance(view, TensorView) or executor.tensor(view).tobytes() == result.storage.tobytes()
    numbers = [number for number, argument in enumerate(job.arguments) if isinstance(argument, TensorValue)]
    for number, output in zip(numbers, run.outputs, strict=True):
        if number in executor.inputs:
            assert np.array_equal(
                np.frombuffer(executor.argument(number), np.uint8), output.storage.view(np.uint8).ravel()
            )
