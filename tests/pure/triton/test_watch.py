"""What the interpreter is watched for: bounds, and orders that only it keeps."""

import numpy as np
import pytest

from porter.execution.job import FaultKind
from porter_triton.replay.watch import Region, Watch

START, COUNT = 4096, 64


class Noted(Watch):
    """Watches floats at `START`, and keeps what it noted."""

    def __init__(self):
        self.noted = []
        super().__init__(lambda kind, message: self.noted.append((kind, message)))
        self.begin_launch([Region.of("x", START, START + 4 * COUNT, 4)])
        self.begin_program()

    @property
    def kinds(self):
        return [kind for kind, _ in self.noted]


def at(indices):
    return (START + 4 * np.asarray(indices, np.int64)).astype(np.uint64)


def load(watch, indices, mask=True):
    return watch.load(at(indices), np.broadcast_to(np.bool_(mask), np.shape(indices)), 4)


def store(watch, indices, values=0.0, mask=True, held=-1.0):
    values, held = (np.broadcast_to(np.float32(v), np.shape(indices)) for v in (values, held))
    return watch.store(at(indices), values, np.broadcast_to(np.bool_(mask), np.shape(indices)), 4, lambda _: held)


@pytest.fixture
def watch():
    return Noted()


LANES = np.arange(COUNT)


def test_lanes_within_a_tensor_may_do_what_they_do(watch):
    assert load(watch, LANES).all()
    assert store(watch, LANES).all()
    assert watch.noted == []


@pytest.mark.parametrize("access", [load, store])
def test_a_lane_outside_is_told_and_stopped(watch, access):
    allowed = access(watch, LANES + 1)
    assert list(np.flatnonzero(~allowed)) == [COUNT - 1]
    assert watch.kinds == [FaultKind.OUT_OF_BOUNDS]
    assert "element 64 of 'x', which has 64" in watch.noted[0][1]


def test_a_lane_before_the_first_tensor_is_outside(watch):
    assert not load(watch, [-1]).any()
    assert watch.kinds == [FaultKind.OUT_OF_BOUNDS]


def test_an_element_half_inside_is_outside(watch):
    assert not watch.load(at([COUNT - 1]), np.ones(1, bool), 8).any()


def test_a_lane_outside_the_mask_may_point_anywhere(watch):
    assert not load(watch, LANES + 1000, mask=False).any()
    assert watch.noted == []


def test_a_lane_may_read_again_what_it_wrote(watch):
    store(watch, LANES)
    load(watch, LANES)
    store(watch, LANES)
    assert watch.noted == []


def test_reading_what_another_lane_wrote_takes_a_barrier(watch):
    store(watch, LANES)
    load(watch, LANES[::-1])
    assert watch.kinds == [FaultKind.RACE]


def test_overwriting_what_another_lane_reads_takes_a_barrier(watch):
    load(watch, LANES[::-1])
    store(watch, LANES)
    assert watch.kinds == [FaultKind.RACE]


def test_overwriting_what_many_lanes_read_takes_a_barrier(watch):
    load(watch, LANES)
    load(watch, np.zeros(COUNT, int))
    store(watch, LANES)
    assert watch.kinds == [FaultKind.RACE]


def test_tiles_of_different_sizes_have_different_lanes(watch):
    store(watch, LANES[:32])
    load(watch, LANES)
    assert watch.kinds == [FaultKind.RACE]


def access_halves(watch, lanes, values=0):
    """Loads and stores 2 bytes a lane of the floats, which are of 4."""
    places, everywhere = (START + 2 * lanes).astype(np.uint64), np.ones(len(lanes), bool)
    watch.load(places, everywhere, 2)
    watch.store(places, np.full(len(lanes), values, np.int16), everywhere, 2, lambda _: np.ones(len(lanes), np.int16))


def test_lanes_have_parts_of_an_element_each(watch):
    lanes = np.arange(2 * COUNT)
    access_halves(watch, lanes)
    access_halves(watch, lanes)
    assert watch.noted == []
    assert not load(watch, [COUNT]).any()
    assert "element 64 of 'x', which has 64" in watch.noted[0][1]


def test_a_part_of_an_element_that_another_lane_wrote_takes_a_barrier(watch):
    store(watch, LANES)
    access_halves(watch, np.arange(COUNT))
    assert FaultKind.RACE in watch.kinds


def test_every_lane_loads_a_scalar_that_one_lane_stores(watch):
    store(watch, 0)
    load(watch, 0)
    assert watch.kinds == [FaultKind.RACE]


def test_a_barrier_puts_what_is_before_it_before_what_is_after(watch):
    store(watch, LANES)
    watch.barrier()
    load(watch, LANES[::-1])
    watch.barrier()
    store(watch, LANES)
    assert watch.noted == []


def test_programs_are_in_no_order(watch):
    store(watch, LANES)
    watch.begin_program()
    load(watch, LANES)
    assert watch.kinds == [FaultKind.RACE]


def ask(watch, place=0, **order):
    watch.atomic(at([place]), np.ones(1, bool), 4, **order)


def test_an_atomic_operation_tells_a_program_what_others_wrote_before_theirs(watch):
    store(watch, LANES[1:])
    ask(watch)
    watch.begin_program()
    ask(watch)
    watch.synchronise()
    load(watch, LANES[1:])
    assert watch.noted == []


def later(watch):
    ask(watch)
    store(watch, LANES[2:])


def elsewhere(watch):
    store(watch, LANES[2:])
    ask(watch, 1)


def untold(watch):
    store(watch, LANES[2:])
    ask(watch, releases=False)


@pytest.mark.parametrize("does", [later, elsewhere, untold])
def test_it_tells_nothing_of_what_they_write_after_it_nor_where_they_asked_elsewhere_or_told_nobody(watch, does):
    does(watch)
    watch.begin_program()
    ask(watch)
    watch.synchronise()
    load(watch, LANES[2:])
    assert watch.kinds == [FaultKind.RACE]


@pytest.mark.parametrize(("acquires", "listens"), [(False, True), (True, False)])
def test_an_atomic_operation_that_is_not_asked_tells_a_program_nothing(watch, acquires, listens):
    store(watch, LANES[1:])
    ask(watch)
    watch.begin_program()
    ask(watch, acquires=acquires)
    if listens:
        watch.synchronise()
    load(watch, LANES[1:])
    assert watch.kinds == [FaultKind.RACE]


def test_what_a_program_was_told_it_tells_in_turn(watch):
    store(watch, LANES[2:])
    ask(watch, 0)
    watch.begin_program()
    ask(watch, 0)
    watch.synchronise()
    ask(watch, 1)
    watch.begin_program()
    ask(watch, 1)
    watch.synchronise()
    load(watch, LANES[2:])
    assert watch.noted == []


def test_adding_to_what_another_program_stored_takes_an_order(watch):
    store(watch, LANES)
    watch.begin_program()
    ask(watch)
    assert watch.kinds == [FaultKind.RACE]


def test_reading_what_another_lane_updated_takes_a_barrier(watch):
    watch.atomic(at(LANES[::-1]), np.ones(COUNT, bool), 4)
    load(watch, LANES)
    assert watch.kinds == [FaultKind.RACE]


def test_atomic_operations_are_in_nobodys_way(watch):
    for _ in range(2):
        watch.atomic(at(np.zeros(COUNT, int)), np.ones(COUNT, bool), 4)
        watch.begin_program()
    load(watch, LANES)
    assert watch.noted == []


def test_launches_are_in_order(watch):
    store(watch, LANES)
    watch.begin_launch([Region.of("x", START, START + 4 * COUNT, 4)])
    watch.begin_program()
    load(watch, LANES[::-1])
    assert watch.noted == []


def test_lanes_that_store_one_value_in_one_place_agree(watch):
    store(watch, LANES // 2, values=1.0)
    assert watch.noted == []


def test_lanes_that_store_different_values_in_one_place_race(watch):
    store(watch, LANES // 2, values=LANES)
    assert watch.kinds == [FaultKind.RACE]


def test_a_kernel_without_tensors_may_touch_nothing():
    noted = []
    watch = Watch(lambda kind, _message: noted.append(kind))
    watch.begin_launch([])
    watch.begin_program()
    assert not load(watch, [0]).any()
    assert noted == [FaultKind.OUT_OF_BOUNDS]


def test_a_store_of_what_is_there_already_races_with_nobody(watch):
    store(watch, LANES, values=1.0)
    watch.begin_program()
    store(watch, LANES, values=1.0, held=1.0)
    assert watch.noted == []
    store(watch, LANES[::-1], values=LANES, held=1.0)
    assert watch.kinds == [FaultKind.RACE]
