"""Lifts a PyTorch module to a tensor program: exports it at a few sizes in its own process, reads and joins that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random

from porter.backend import Target
from porter.contract.model.contract import Contract, ScalarArg, TensorArg
from porter.evaluate.formula.scheduled import Entry, Formula
from porter.evaluate.problem.standards import as_written
from porter.ir.tensor.program import TensorProgram
from porter.ir.tensor.verify import MalformedError, verify
from porter.lift.exported.joining import joined
from porter.lift.exported.lifting import lifted
from porter.lift.nodes import NotLiftedError
from porter.oracle.python_calling import NoAnswerError
from porter.oracle.python_reference import PythonStandard
from porter.source_text import Source

_EXPORTS = 6  # of which a number of the formula is recognised by how it changes over them
_DRAWS = 24
_SEED = 4_021
_POOL = (5, 6, 7, 9, 10, 11, 13, 17, 19, 23, 29, 31, 37)


def formula_of_module(standard: PythonStandard, contract: Contract, target: Target) -> Formula:
    """Returns what the module of `standard` computes, scheduled for the sizes it is written with, right at any size.

    No operator is timed at these sizes, so schedules that only suit few long rows come last. Raises `NotLiftedError`,
    and `NotSchedulableError` once it is written.
    """
    here = tuple(workload for workload in contract.workloads if not workload.device_only)
    contract = replace(contract, workloads=here)
    program = program_of(standard, contract)
    entry = Entry(replace(contract, workloads=(*here, *as_written(standard, contract))), program)
    source = Source(standard.source.path, "")  # a printer reads no Python
    return Formula(source, target, (entry,))


def program_of(standard: PythonStandard, contract: Contract) -> TensorProgram:
    """Returns what the module of `standard` computes under its own `contract`.

    Raises `NotLiftedError`, which names the operator that porter has no word for, or says why the module cannot be
    exported. The program is a proposal until what was made of it has been compared with the module.
    """
    arguments = [one if isinstance(one, TensorArg) else None for one in contract.arguments]
    held = [f"{one.name} is {one.value}" for one in contract.arguments if isinstance(one, ScalarArg)]
    sizes = _sizes(standard, contract)
    try:
        graphs = [standard.exported(at) for at in sizes]
        outputs = [lifted(graph, arguments) for graph in graphs]
    except NoAnswerError as error:
        raise NotLiftedError(f"torch.export: {error}") from error
    program = joined(contract, sizes, graphs, outputs, held)
    try:
        verify(program)
    except MalformedError as error:
        raise NotLiftedError(f"its formula breaks a rule of the tensor IR: {error}") from error
    return program


def _sizes(standard: PythonStandard, contract: Contract) -> list[Mapping[str, int]]:
    """Returns different sizes at which the module runs; a single choice where none of its sizes may vary."""
    draw = Random(_SEED)
    found: list[Mapping[str, int]] = []
    for _ in range(_DRAWS):
        targets = {symbol: draw.choice(_POOL) for symbol in contract.symbols}
        near = standard.sizes_near(contract, targets)
        if near is not None and near not in found:
            found.append(near)
        if len(found) == _EXPORTS or not contract.symbols:
            break
    return found or [contract.workloads[0].sizes]
