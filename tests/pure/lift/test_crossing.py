"""Sizes that take a second block are found from what launches ask for."""

# ruff: noqa: ARG005 - all geometries take the same

import pytest

from porter.contract.model.contract import Contract, Entry, EntryKind, Role, TensorArg
from porter.contract.model.dtype import DType
from porter.lift.agreement import holds
from porter.lift.crossing import Geometry, crossing
from porter.lift.fitted import EvaluatedProbe, Values
from porter.lift.probes import Probe
from tests.pure.ir.tensor_programs import number, op, output, program, read, size

ROWS = {"rows": 4, "columns": 5}


def contract(conditions=()):
    tensor = TensorArg("x", Role.IN, DType.FLOAT32, ("rows", "columns"))
    entry = Entry(EntryKind.TORCH, "forward")
    return Contract("op", "other", entry, (tensor,), ("rows", "columns"), tuple(conditions), (), {})


def found(blocks, threads=256, conditions=()):
    """Returns by symbol the size that `crossing` finds where a launch has `blocks(rows, columns)`."""
    asked = []

    def look(probe):
        asked.append(probe)
        return Geometry((blocks(**probe.sizes),), threads)

    probes = crossing(contract(conditions), (Probe(ROWS),), look)
    assert len(asked) < 30
    assert all(probe.sizes == ROWS | {name: probe.sizes[name]} for name, probe in probes.items())
    return {name: probe.sizes[name] for name, probe in probes.items()}


def test_a_step_of_a_block_is_crossed_where_each_row_has_a_block():
    assert found(lambda rows, columns: rows) == {"columns": 293}


def test_a_second_block_is_found_whatever_it_holds():
    sizes = found(lambda rows, columns: -(-rows * columns // 256))
    assert 52 < sizes["rows"] < 110
    assert 65 < sizes["columns"] < 120


def test_a_size_of_which_too_much_would_be_needed_is_left_out():
    assert found(lambda rows, columns: -(-rows * columns // 100_000), threads=2000) == {}


@pytest.mark.parametrize("divisor", [2, 4, 8])
def test_conditions_hold_at_what_is_found(divisor):
    sizes = found(lambda rows, columns: rows, conditions=(f"columns % {divisor} == 0",))
    assert (sizes["columns"] % divisor, sizes["columns"] > 256) == (0, True)


@pytest.mark.parametrize("dtype", [DType.FLOAT32, DType.BFLOAT16, DType.FLOAT16])
@pytest.mark.parametrize(("factor", "wanted"), [(3, True), (2, False)])
def test_a_program_is_held_to_what_was_seen_before_it_is_rounded(dtype, factor, wanted):
    body = op("multiply", number(3), read("x", "i"))
    made = program("op", [("x", dtype, "n")], [output("i", (size("n"),), body, dtype=dtype)], ("n",))
    elements = (0.123456789, 1.5)
    scaled = tuple(factor * element for element in elements)
    seen = EvaluatedProbe((Values("x", (2,), elements),), (Values("out", (2,), scaled),))
    assert holds(made, Probe({"n": 2}), seen) is wanted


@pytest.mark.parametrize(("of", "wanted"), [("x", True), ("mask", False)])
def test_a_call_reads_no_tensor_that_is_a_null_pointer_in_it(of, wanted):
    inputs = [("x", DType.FLOAT32, "n"), ("mask", DType.FLOAT32, "n")]
    made = program("op", inputs, [output("i", (size("n"),), read(of, "i"))], ("n",))
    elements = (0.5, 1.5)
    seen = EvaluatedProbe((Values("x", (2,), elements),), (Values("out", (2,), elements),))
    assert holds(made, Probe({"n": 2}), seen) is wanted
