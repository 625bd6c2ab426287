"""A generated module, run in a process of its own by Triton's interpreter."""

import numpy as np
import pytest

from porter.contract.model.dtype import DType, decode, encode
from porter.execution.job import FaultKind, Schedule, TensorValue
from porter.simt.protocol import Machine
from porter_triton.calls import DEVICES

N = 1000


def only(run):
    (fault,) = run.faults
    return fault


def kinds(run):
    return {fault.kind for fault in run.faults}


def test_a_launch_computes_and_is_recorded(call):
    a, b, c = np.arange(N), np.ones(N), np.full(N, np.nan)
    run = call("add", a, b, c, N)
    assert run.finished
    assert run.faults == ()
    assert np.array_equal(run.outputs[2].storage, a + 1)
    (launch,) = run.launches
    assert (launch.kernel, launch.grid, launch.block) == ("add_kernel", (4, 1, 1), (256, 1, 1))


def test_a_bare_kernel_gets_the_launch_of_the_job(call):
    run = call(
        "launch_add_kernel", np.ones(N), np.ones(N), np.zeros(N), N, launch=True, grid=(8, 1, 1), block=(128, 1, 1)
    )
    assert np.array_equal(run.outputs[2].storage, np.full(N, 2))
    assert run.launches[0].grid == (8, 1, 1)


def test_what_is_returned_comes_back(call):
    run = call("doubled", np.arange(6).reshape(2, 3))
    assert [result.shape for result in run.results] == [(2, 3), (2, 3)]
    assert run.results[0].storage.tolist() == [[0, 2, 4], [6, 8, 10]]


def test_fresh_memory_is_no_number(call):
    assert np.isnan(call("doubled", np.zeros(4)).results[1].storage).all()


@pytest.mark.parametrize("dtype", [dtype for dtype in DType if dtype is not DType.BOOL])
def test_each_type_passes_through_unchanged(call, dtype):
    raw = np.arange(24, dtype=np.uint8).repeat(dtype.bytes)[: 8 * dtype.bytes].view(dtype.storage)
    run = call("chatter", TensorValue(dtype, (8,), raw))
    assert run.outputs[0].storage.tobytes() == raw.tobytes()
    assert (run.results[0].dtype, run.results[0].storage.tobytes()) == (dtype, raw.tobytes())


def test_a_lane_outside_of_its_tensor_is_found_and_harms_nobody(call):
    fault = only(run := call("unguarded", np.zeros(40)))
    assert (fault.kind, fault.kernel, fault.fatal) == (FaultKind.OUT_OF_BOUNDS, "unguarded_kernel", False)
    assert "element 40 of 'x', which has 40" in fault.message
    assert np.array_equal(run.outputs[0].storage, np.ones(40))


@pytest.mark.parametrize("bits", [0, 16])
def test_a_kernel_may_ask_how_its_tensors_are_aligned(call, bits):
    run = call("aligned", np.zeros(8, np.int64), np.zeros(2, np.int64), bits)
    assert run.faults == ()
    assert run.outputs[1].storage.tolist() == [0, 4]


def test_a_host_may_divide_by_what_it_reads(call):
    for _ in range(3):  # the second call is planned in other ways, too
        run = call("divided", np.ones(64), np.zeros(64), np.full(1, 2.0))
        assert (run.finished, run.faults) == (True, ())
        assert run.outputs[1].storage.tolist() == [2.0] * 32 + [0.0] * 32


def test_a_kernel_may_ask_whether_a_tensor_is_given(call):
    run = call("given", np.zeros(8), np.zeros(1), 0)
    assert run.faults == ()
    assert run.outputs[1].storage.tolist() == [7]
    assert only(call("given", np.zeros(8), np.zeros(1), 256)).kind is FaultKind.UNKNOWN


@pytest.mark.parametrize("bits", [3, 4, 40])
def test_the_rest_of_an_address_is_another_on_a_device(call, bits):
    fault = only(call("aligned", np.zeros(8, np.int64), np.zeros(2, np.int64), bits))
    assert fault.kind is FaultKind.UNKNOWN
    assert "the address of a tensor" in fault.message


def test_an_order_that_only_the_interpreter_keeps_is_a_race(call):
    assert only(call("rotate", np.arange(64), 0)).kind is FaultKind.RACE


def test_a_barrier_makes_the_order(call):
    run = call("rotate", np.arange(64), 1)
    assert run.faults == ()
    assert np.array_equal(run.outputs[0].storage, np.roll(np.arange(64), -1))


@pytest.mark.parametrize("dtype", [DType.FLOAT16, DType.BFLOAT16])
def test_halves_are_added_one_after_the_other_and_become_infinite(call, dtype):
    def halves(*numbers):
        return TensorValue(dtype, (len(numbers),), encode(np.array(numbers, np.float32), dtype))

    most = decode(np.array([0x7BFF if dtype is DType.FLOAT16 else 0x7F7F], np.uint16).view(dtype.storage), dtype)[0]
    run = call("add_halves", halves(2048, most), halves(1, most / 8, 3, 1, 0, -np.inf, 24, np.inf), halves(*[-1] * 8))
    assert run.faults == ()
    total, before = (decode(run.outputs[i].storage, dtype) for i in (0, 2))
    assert (total[0], before[0]) == (2080 if dtype is DType.BFLOAT16 else 2076, -1)
    assert np.isnan(total[1])
    assert (before[1], before[3], before[5]) == (most, np.inf, np.inf)


def test_a_reduction_of_a_tile_makes_an_order_too(call):
    run = call("centre", np.ones(64))
    assert run.faults == ()
    assert np.array_equal(run.outputs[0].storage, np.full(64, 64))


def test_dead_lanes_of_a_load_have_no_value_unless_it_is_said(call):
    assert np.isnan(call("dead_lanes", np.ones(40), np.zeros(1), 40).outputs[1].storage).all()


@pytest.mark.parametrize("other", [0, 3])
def test_a_dead_lane_that_is_alone_has_the_value_that_is_said(call, other):
    run = call("dead_lane", np.ones(4), np.full(8, np.nan), 2, other)
    assert run.faults == ()
    assert run.outputs[1].storage.tolist() == [1] * 4 + [other] * 4


def test_programs_run_in_the_order_asked_for(call):
    forward = call("chain", np.zeros(6))
    assert forward.outputs[0].storage.tolist() == [0, 1, 2, 3, 4, 5]
    assert FaultKind.RACE in [fault.kind for fault in forward.faults]
    assert call("chain", np.zeros(6), schedule=Schedule.REVERSE).outputs[0].storage.tolist() == [0, 1, 1, 1, 1, 1]
    once, again = (call("chain", np.zeros(6), schedule=Schedule.SHUFFLED, seed=3) for _ in range(2))
    assert once.outputs[0].storage.tolist() == again.outputs[0].storage.tolist()


def test_a_check_of_the_host_is_told_with_its_line(call):
    fault = only(call("checked", np.zeros(3)))
    assert (fault.kind, fault.fatal, fault.message) == (
        FaultKind.HOST_CHECK,
        True,
        "ValueError: x must be 2-D, not 1-D",
    )
    assert fault.line > 0


def test_an_assertion_of_a_kernel_is_told(call):
    fault = only(call("asserting", np.zeros(1)))
    assert (fault.kind, fault.kernel) == (FaultKind.DEVICE_ASSERT, "asserting_kernel")


def test_a_function_the_module_lacks_is_told(call):
    assert "has no attribute 'nothing'" in only(call("nothing")).message


@pytest.mark.parametrize(
    ("function", "kind"),
    [("endless", FaultKind.TIMEOUT), ("abort", FaultKind.CRASH), ("hog", FaultKind.HOST_CHECK)],
)
def test_what_does_not_come_to_an_end_is_ended_and_the_next_run_is_served(call, function, kind):
    run = call(function)
    assert not run.finished
    assert (only(run).kind, only(run).fatal) == (kind, True)
    assert call("doubled", np.ones(1)).finished


@pytest.mark.parametrize(("function", "arguments"), [("write", (2,)), ("thread", ()), ("read", (0,))])
def test_what_stays_in_the_process_is_allowed(call, function, arguments):
    assert call(function, *arguments).finished


@pytest.mark.parametrize(
    ("function", "arguments"),
    [("write", (0,)), ("write", (1,)), ("read", (1,)), ("connect", ()), ("start", (0,)), ("start", (1,))],
)
def test_what_leaves_the_process_is_refused(call, function, arguments):
    fault = only(call(function, *arguments))
    assert fault.kind is FaultKind.HOST_CHECK
    assert fault.message.startswith("PermissionError")


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (0, "'x' cannot be accessed from Triton"),
        (1, "'x' cannot be accessed from Triton"),
        (2, "can't convert cuda:0 device type tensor to numpy"),
        (3, "Expected all tensors to be on the same device"),
    ],
)
def test_what_needs_one_memory_for_host_and_device_fails(call, how, message):
    run = call("of_the_host", np.zeros(4), how)
    assert not run.finished
    assert message in run.faults[-1].message


@pytest.mark.parametrize("dtype", [DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16])
def test_constants_take_the_type_of_the_tile(call, dtype):
    values = np.linspace(-2, 2, 64)
    run = call("scaled", TensorValue(dtype, (64,), encode(values, dtype)))
    assert run.faults == ()
    given = decode(encode(values, dtype), dtype)
    product = decode(encode(1.5 * given, dtype), dtype)
    assert np.array_equal(decode(run.outputs[0].storage, dtype), decode(encode(product + 0.25, dtype), dtype))


def test_a_gather_stays_within_its_tile(call):
    fault = only(run := call("before", np.arange(64)))
    assert (fault.kind, fault.message) == (FaultKind.OUT_OF_BOUNDS, "gather of element -1 of 64")
    assert run.outputs[0].storage[:3].tolist() == [0, 0, 1]


def test_a_result_does_not_lie_in_the_memory_of_an_earlier_call(call):
    assert call("kept", np.zeros(4)).faults == ()
    fault = only(call("kept", np.zeros(4)))
    assert (fault.kind, fault.message) == (FaultKind.KEPT, "the result lies in the memory of an earlier call")


def test_a_call_that_finds_what_another_left_is_judged_by_its_answer(call):
    answers = [call("turns", np.full(1, np.nan)).outputs[0].storage.tolist() for _ in range(3)]
    assert answers == [[0], [1], [1]]


def test_a_kernel_that_fails_ends_the_call_whatever_the_module_catches(call):
    run = call("swallowed", np.zeros(4))
    assert not run.finished
    assert "power of 2" in only(run).message


def test_the_device_has_as_many_multiprocessors_as_that_of_the_original(call):
    count = call("filled", np.zeros(1, np.int32)).outputs[0].storage.tolist()
    assert count == [Machine().multiprocessors] == [DEVICES[0].multiprocessors]


def test_host_and_device_may_be_copied_into_each_other(call):
    run = call("at_home", np.arange(4), permitted=frozenset(("mul", "add")))
    assert run.faults == ()
    assert run.results[0].storage.tolist() == [3, 5, 7, 9]


def test_what_the_library_computes_is_refused_where_the_original_does_not(call):
    fault = only(call("at_home", np.arange(4)))
    assert (fault.kind, fault.message) == (FaultKind.LIBRARY, "it returns what the library's add computed")
