"""What a plan may ask for: its steps come from a process that nobody trusts."""

import base64
from math import prod

import pytest

from porter.execution.job import FaultKind
from porter.launch_plan.admission import MOST_HANDED_ON, MOST_READ, Admission
from porter.launch_plan.library_work import PlanRefusedError
from porter.launch_plan.steps import (
    Allocate,
    Compute,
    Constant,
    Fill,
    Input,
    Launch,
    Move,
    Read,
    Return,
    Scalar,
    TensorView,
)


def dense(buffer, *shape, dtype="float32", offset=0):
    strides = tuple(prod(shape[i + 1 :]) for i in range(len(shape)))
    return TensorView(buffer, dtype, shape, strides, offset)


def launch(*views, kernel="k"):
    return Launch(kernel, (1, 1, 1), tuple((f"p{i}", view) for i, view in enumerate(views)))


class Calls:
    """One call after the other, each with one tensor of 64 bytes."""

    def __init__(self, permitted=frozenset(), parameters=frozenset()):
        self.admission = Admission()
        self.admission.know(("k",))
        self.permitted, self.parameters = permitted, parameters

    def call(self, *steps):
        self.admission.begin({0: 64, 1: 64}, self.permitted, self.parameters)
        return [restored for step in steps for restored in self.admission.admit(step)]


def refused(*steps, permitted=frozenset()):
    with pytest.raises(PlanRefusedError) as told:
        Calls(permitted).call(*steps)
    return told.value.kind


HONEST = (Input(0, 0), Allocate(1, 64), launch(dense(0, 16), dense(1, 16)), Return((dense(1, 16),)))


def test_a_plain_call_is_admitted_as_it_is():
    assert Calls().call(*HONEST) == []


@pytest.mark.parametrize(
    ("steps", "kind"),
    [
        ((Input(0, 0), Input(0, 0)), FaultKind.CRASH),
        ((Input(0, 3),), FaultKind.CRASH),
        ((Allocate(0, -1),), FaultKind.RESOURCE),
        ((Allocate(0, 64), Fill(dense(0, 17), 0)), FaultKind.OUT_OF_BOUNDS),
        ((Allocate(0, 64), Fill(dense(0, 16, offset=1), 0)), FaultKind.OUT_OF_BOUNDS),
        ((Allocate(0, 64), Fill(dense(0, 16, offset=-1), 0)), FaultKind.CRASH),
        ((Allocate(0, 64), Fill(TensorView(0, "float32", (4, 4), (1, 1), 0), 0)), FaultKind.CRASH),
        ((Fill(dense(7, 1), 0),), FaultKind.CRASH),
        ((Allocate(0, 64), Fill(dense(0, 4, dtype="complex64"), 0)), FaultKind.RESULT),
        ((Allocate(0, 64), launch(dense(0, 16), kernel="other")), FaultKind.CRASH),
        ((Allocate(0, 64), Launch("k", (-1, 1, 1), ())), FaultKind.LAUNCH),
        ((Constant(0, "no base 64"),), FaultKind.CRASH),
    ],
)
def test_what_makes_no_sense_is_refused(steps, kind):
    assert refused(*steps) is kind


COMPUTED = Compute("sum.dim_IntList", (("self", dense(0, 16)),), (dense(1),))


@pytest.mark.parametrize("use", [Return((dense(1),)), launch(dense(1)), Move(dense(2), dense(1))])
def test_what_the_library_computes_is_no_result_and_goes_into_none(use):
    steps = (Input(0, 0), Allocate(2, 4), COMPUTED, use)
    assert refused(*steps) is FaultKind.LIBRARY
    after = (steps[0], launch(dense(0, 16)), *steps[1:])
    assert Calls(frozenset(("sum",))).call(*after) == []


def test_what_the_original_computes_is_free_of_what_kernels_wrote_alone():
    permitted = frozenset(("sum",))
    assert refused(Input(0, 0), COMPUTED, Return((dense(1),)), permitted=permitted) is FaultKind.DECOY
    assert Calls(permitted).call(Input(0, 0), COMPUTED, launch(dense(1))) == []


def test_a_number_of_the_library_may_be_looked_at_but_not_handed_on():
    calls = Calls()
    calls.call(Input(0, 0), COMPUTED, Read(dense(1)))
    assert calls.admission.looked
    calls.call(Input(10, 0), Read(dense(10, MOST_HANDED_ON)))
    assert not calls.admission.looked


def test_no_call_reads_more_than_a_few_numbers():
    assert refused(Allocate(0, 1 << 20), Read(dense(0, MOST_READ + 1))) is FaultKind.HOST_WORK


def test_what_the_host_makes_after_it_looked_is_its_own_work():
    content = base64.b64encode(bytes(4)).decode()
    assert refused(Input(0, 0), Read(dense(0, MOST_HANDED_ON + 1)), Constant(1, content)) is FaultKind.HOST_WORK
    assert Calls().call(Input(0, 0), Constant(1, content), Read(dense(0, MOST_HANDED_ON + 1))) == []


@pytest.mark.parametrize(
    ("to", "source", "refuses"),
    [
        ("float16", "float32", False),
        ("int32", "int64", False),
        ("float32", "int32", False),
        ("int32", "float32", True),
        ("bool", "float32", True),
    ],
)
def test_a_cast_that_truncates_is_a_computation(to, source, refuses):
    steps = (Input(0, 0), Allocate(1, 64), Move(dense(1, 4, dtype=to), dense(0, 4, dtype=source)))
    if refuses:
        assert refused(*steps) is FaultKind.LIBRARY
    else:
        assert Calls().call(*steps) == []


def test_bits_of_floats_are_no_integers_to_convert():
    bits = Move(dense(1, 4), dense(0, 4, dtype="int32"))
    assert refused(Input(0, 0), Allocate(1, 64), launch(dense(0, 16)), bits) is FaultKind.LIBRARY


def test_a_result_does_not_lie_in_memory_of_an_earlier_call():
    calls = Calls()
    calls.call(*HONEST)
    with pytest.raises(PlanRefusedError) as told:
        calls.call(Input(2, 0), launch(dense(2, 16), dense(1, 16)), Return((dense(1, 16),)))
    assert told.value.kind is FaultKind.KEPT


def test_an_argument_of_an_earlier_call_is_not_there_any_more():
    calls = Calls()
    calls.call(*HONEST)
    with pytest.raises(PlanRefusedError) as told:
        calls.call(Input(2, 0), Allocate(3, 64), launch(dense(0, 16), dense(3, 16)))
    assert told.value.kind is FaultKind.KEPT


def test_an_answer_that_is_kept_is_not_copied():
    calls = Calls()
    calls.call(*HONEST)
    with pytest.raises(PlanRefusedError) as told:
        calls.call(Input(2, 0), Allocate(3, 64), Move(dense(3, 16), dense(1, 16)), Return((dense(3, 16),)))
    assert told.value.kind is FaultKind.KEPT


def test_a_workspace_begins_each_call_as_it_was_made():
    calls = Calls()
    clear = Fill(dense(1, 1), 0)
    calls.call(Input(0, 0), Allocate(1, 4), clear, Allocate(2, 64), launch(dense(0, 16), dense(1, 1), dense(2, 16)))
    used = launch(dense(3, 16), dense(1, 1), dense(4, 16))
    assert calls.call(Input(3, 0), Allocate(4, 64), used) == [Allocate(1, 4), clear]


def test_what_a_call_gave_a_workspace_itself_may_be_copied():
    calls = Calls()
    calls.call(*HONEST)
    filled = (Input(2, 0), Allocate(3, 64), launch(dense(2, 16), dense(1, 16)))
    assert calls.call(*filled, Move(dense(3, 16), dense(1, 16)), Return((dense(3, 16),))) == [Allocate(1, 64)]


def test_a_table_that_a_kernel_filled_from_a_table_is_filled_again():
    calls = Calls()
    content = base64.b64encode(bytes(64)).decode()
    made = (Constant(0, content), Allocate(1, 64), launch(dense(0, 16), dense(1, 16)))
    calls.call(*made)
    assert tuple(calls.call(Input(2, 0), launch(dense(1, 16), dense(2, 16)))) == made


def test_a_call_may_return_what_it_changed():
    assert Calls().call(Input(0, 0), launch(dense(0, 16)), Return((dense(0, 16), Scalar(1)))) == []


@pytest.mark.parametrize(
    ("grid", "is_taken"), [((1 << 20, 65_535, 1), True), ((1, 65_536, 1), False), ((1, 1, -1), False)]
)
def test_a_grid_is_one_that_devices_take(grid, is_taken):
    step = Launch("k", grid, (("x", dense(0, 16)),))
    if is_taken:
        assert Calls().call(Input(0, 0), step) == []
    else:
        assert refused(Input(0, 0), step) is FaultKind.LAUNCH


@pytest.mark.parametrize(
    ("given", "made", "looks"),
    [("float32", "int64", True), ("int64", "int64", False), ("float32", "bool", False), ("float32", "float32", True)],
)
def test_what_a_library_made_of_floats_may_decide_but_not_be_handed_on(given, made, looks):
    calls = Calls()
    number = TensorView(1, made, (), (), 0)
    asked = Compute("argmax", (("self", dense(0, 8, dtype=given)),), (number,))
    calls.call(Input(0, 0), asked, Read(number))
    assert calls.admission.looked is looks
    assert calls.admission.whole == ({0} if (given, made) == ("float32", "int64") else set())


@pytest.mark.parametrize("packs", [(1,), (0, 1)], ids=["parameters", "parameters and an input"])
def test_what_was_made_of_parameters_alone_is_made_again_of_those_of_the_call(packs):
    calls = Calls(parameters=frozenset((1,)))
    packing = Allocate(2, 64), launch(*(dense(n, 16) for n in packs), dense(2, 16))
    calls.call(Input(0, 0), Input(1, 1), *packing)
    use = launch(dense(0, 16), dense(2, 16))
    restored = calls.call(Input(0, 0), Input(1, 1), use)
    assert (packing[1] in restored) is (packs == (1,))
    assert packing[0] in restored
