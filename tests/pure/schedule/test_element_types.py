"""A formula that was found for one element type is written for the others that its source takes."""

from dataclasses import replace

import pytest

from porter.contract.model.contract import Contract, Entry, EntryKind, Role, TensorArg, Workload
from porter.contract.model.dtype import DType
from porter.evaluate.formula.lift import of_other_precision
from porter.evaluate.formula.scheduled import Entry as Scheduled
from porter.evaluate.formula.scheduled import of_other_types, of_types_that_none_has
from porter.ir.tensor.expressions import Reduce
from porter.ir.tensor.places import places
from porter.ir.tensor.retyped import retyped
from tests.pure.schedule.programs import ALL


def accumulated(program):
    return {place.thing.precision for place in places(program) if isinstance(place.thing, Reduce)}


@pytest.mark.parametrize(("dtype", "precision"), [(DType.FLOAT64, DType.FLOAT64), (DType.FLOAT16, DType.FLOAT32)])
def test_outputs_have_the_type_of_the_input_and_sums_at_least_single_precision(dtype, precision):
    program = retyped(ALL["softmax"], {"x": dtype})
    assert {one.dtype for one in (*program.inputs, *program.outputs)} == {dtype}
    assert accumulated(program) == {precision}
    assert retyped(program, {}) == program


def test_there_is_an_entry_for_each_choice_of_floats_that_a_workload_has():
    program = ALL["softmax"]
    sizes = {"rows": 3, "columns": 5}
    plain = Workload("odd", sizes, 1)
    typed = [replace(plain, name=d.value, dtypes={"x": d}) for d in (DType.FLOAT64, DType.FLOAT64, DType.INT64)]
    x = TensorArg("x", Role.IN, DType.FLOAT32, ("rows", "columns"))
    entry = Entry(EntryKind.TORCH, "forward")
    contract = Contract("softmax", "activation", entry, (x,), ("rows", "columns"), (), (plain, *typed), {})
    (wider,) = of_other_precision(contract)
    assert [tensor.dtype for tensor in wider.tensors] == [DType.FLOAT64]
    assert [workload.name for workload in wider.workloads] == ["float64", "float64"]
    lifted = replace(retyped(program, {"x": DType.FLOAT64}), assumptions=("its constants have more digits",))
    (double,) = of_other_types(Scheduled(contract, program, (lifted,)))
    assert double.program == lifted
    (double,) = of_other_types(Scheduled(contract, program))
    assert [tensor.dtype for tensor in double.contract.tensors] == [DType.FLOAT64]
    assert double.program == retyped(program, {"x": DType.FLOAT64})


def test_contracts_of_one_function_have_an_entry_for_each_choice_of_floats_together():
    program = ALL["softmax"]
    workload = Workload("odd", {"rows": 3, "columns": 5}, 1)
    every = [replace(workload, name=d.value, dtypes={"x": d}) for d in (DType.FLOAT64, DType.FLOAT16)]

    def scheduled(dtype):
        x = TensorArg("x", Role.IN, dtype, ("rows", "columns"))
        entry = Entry(EntryKind.TORCH, "forward")
        contract = Contract("softmax", "activation", entry, (x,), ("rows", "columns"), (), (workload, *every), {})
        return Scheduled(contract, retyped(program, {"x": dtype}))

    added = of_types_that_none_has((scheduled(DType.FLOAT32), scheduled(DType.FLOAT16)))
    assert [[tensor.dtype for tensor in one.contract.tensors] for one in added] == [[DType.FLOAT64]]
