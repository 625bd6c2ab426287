"""Running answers what the source leaves open; the executor is played by a model of the kernel's accesses."""

from dataclasses import replace
from math import prod

import numpy as np
import pytest

from porter.contract.model.contract import EntryKind, Role, ScalarArg, Values, Workload
from porter.contract.model.dtype import DType
from porter.contract.model.questions import bound_question, extent_question
from porter.contract.model.resized import with_size
from porter.contract.probe.confirm import confirm
from porter.contract.probe.probed import Probed
from porter.contract.probe.trials import Trials
from porter.contract.workload.probing import EVEN, probe_sizes
from porter.execution.job import Fault, FaultKind, Job, Run, ScalarValue, TensorValue, Touched
from porter.oracle.jobs import job


def run_of(touched=(), faults=(), finished=True) -> Run:
    return Run(finished, 0, (), (), (), tuple(touched), (), tuple(faults), "", "", 0.001)


class Model:
    """Answers a job with what `reads` and `writes`, functions of the scalars and tensors, say is touched."""

    def __init__(self, accesses, broken=lambda *_: None) -> None:
        self.accesses = accesses
        self.broken = broken
        self.jobs: list[Job] = []

    def __call__(self, job: Job) -> Run:
        self.jobs.append(job)
        scalars = [int(a.value) for a in job.arguments if isinstance(a, ScalarValue)]
        tensors = [a for a in job.arguments if isinstance(a, TensorValue)]
        touched, faults = [], []
        for tensor, (read, written) in zip(tensors, self.accesses(scalars, tensors), strict=True):
            size = prod(tensor.shape)
            beyond = max(0, max(read, written) - size)
            if beyond:
                faults.append(Fault(FaultKind.OUT_OF_BOUNDS, "k.cu", 3, "k", "past the end"))
            width = tensor.dtype.bytes
            touched.append(Touched(min(read, size) * width, min(written, size) * width, beyond))
        fault = self.broken(scalars, tensors)
        return run_of(touched, [*faults, fault] if fault else faults)


@pytest.fixture
def open_contract(contract):
    def make(*arguments, symbols, conditions=()):
        drafted = contract(*arguments, symbols=symbols, conditions=conditions)
        questions = [extent_question(t.name) for t in drafted.tensors]
        questions += [bound_question(t.name) for t in drafted.tensors if t.bound == "1"]
        launch = replace(drafted.entry.launch, grid=(f"cdiv({symbols[0]}, 256)", "1", "1"))
        return replace(drafted, questions=tuple(questions), entry=replace(drafted.entry, launch=launch))

    return make


def sizes(*names):
    return tuple(ScalarArg(name, "int", name) for name in names)


def test_extents_and_roles_are_what_is_touched(open_contract, tensor):
    drafted = open_contract(
        tensor("out", "B * C", role=Role.INOUT), tensor("x", "B * C"), tensor("weight", "B * C"),
        tensor("unused", "B * C"),
        *sizes("B", "C"), symbols=("B", "C"),
    )  # fmt: skip
    model = Model(lambda s, _: [(0, s[0] * s[1]), (s[0] * s[1], 0), (s[1], 0), (0, 0)])
    confirmation = confirm(drafted, model)
    out, x, weight, unused = confirmation.contract.tensors
    assert (out.shape, out.role) == (("B * C",), Role.OUT)
    assert (x.shape, x.role) == (("B * C",), Role.IN)
    assert weight.shape == ("C",)
    assert unused.shape == ("1",)
    assert confirmation.contract.questions == ()
    assert confirmation.trouble == ""
    assert confirmation.runs <= 9


def test_a_table_of_rows_keeps_a_bound_of_its_own(open_contract, tensor):
    index = tensor("ids", "n", dtype=DType.INT32, values=Values.INDEX, bound="1")
    drafted = open_contract(
        index, tensor("table", "n * C"), tensor("out", "n * C"), *sizes("n", "C"), symbols=("n", "C")
    )
    model = Model(lambda s, t: [(s[0], 0), (int(t[0].storage[: s[0]].max()) * s[1] + s[1], 0), (0, s[0] * s[1])])
    confirmed = confirm(drafted, model).contract
    ids, table, out = confirmed.tensors
    assert confirmed.questions == ()
    assert ids.shape == ("n",)
    assert table.shape[0] in ("C * ids_bound", "ids_bound * C")
    assert out.shape == ("n * C",)
    assert "ids_bound" in confirmed.symbols


def test_targets_of_a_loss_are_bounded_by_the_classes(open_contract, tensor):
    index = tensor("targets", "B", dtype=DType.INT32, values=Values.INDEX, bound="1")
    drafted = open_contract(index, tensor("p", "B * V"), tensor("loss", "B * V"), *sizes("B", "V"), symbols=("B", "V"))

    def accesses(s, t):
        targets = t[0].storage[: s[0]].astype(np.int64)
        return [(s[0], 0), (int((np.arange(s[0]) * s[1] + targets).max()) + 1, 0), (0, s[0])]

    confirmed = confirm(drafted, Model(accesses)).contract
    targets, p, loss = confirmed.tensors
    assert targets.bound == "V"
    assert p.shape == ("B * V",)
    assert loss.shape == ("B",)
    assert confirmed.questions == ()


def test_a_kernel_without_sizes_is_seen_once(open_contract, tensor):
    drafted = open_contract(tensor("y", "1"), symbols=("n",))
    launch = replace(drafted.entry.launch, grid=("1", "1", "1"))
    drafted = replace(drafted, symbols=(), entry=replace(drafted.entry, launch=launch))
    confirmed = confirm(drafted, Model(lambda *_: [(0, 1)])).contract
    assert confirmed.questions == ()
    assert confirmed.workloads


def test_a_grid_of_its_own_size_spans_a_size_the_kernel_is_given(open_contract, tensor):
    drafted = open_contract(
        tensor("x", "M * N"), tensor("y", "M * N"), *sizes("M", "N"), symbols=("M", "N", "rows", "rows_y")
    )
    grid = ("rows", "rows_y", "1")
    drafted = replace(drafted, entry=replace(drafted.entry, launch=replace(drafted.entry.launch, grid=grid)))

    class Grid(Model):
        def __call__(self, job):
            columns, batches, _ = job.grid
            self.accesses = lambda s, _: [
                ((batches - 1) * s[0] * s[1] + (s[0] - 1) * s[1] + columns, 0),
                (0, (batches - 1) * s[1] + columns),
            ]
            return super().__call__(job)

    confirmed = confirm(drafted, Grid(lambda *_: [])).contract
    x, y = confirmed.tensors
    assert confirmed.entry.launch.grid == ("N", "rows_y", "1")
    assert (x.shape, y.shape) == (("M * N * rows_y",), ("N * rows_y",))
    assert confirmed.symbols == ("M", "N", "rows_y")


def test_a_size_that_takes_the_place_of_a_grids_own_does_so_everywhere(open_contract, tensor):
    drafted = open_contract(
        tensor("x", "n"), tensor("at", "rows", dtype=DType.INT64, values=Values.INDEX, bound="rows"),
        *sizes("n"), symbols=("n", "rows"),
    )  # fmt: skip
    found = with_size(drafted, "rows", "n")
    assert (found.tensors[1].shape, found.tensors[1].bound, found.symbols) == (("n",), "n", ("n",))


def test_rows_within_a_block_are_tried_where_extents_have_no_form(open_contract, tensor):
    drafted = open_contract(tensor("x", "B * n"), *sizes("B", "n"), symbols=("B", "n"))
    model = Model(lambda s, _: [(3 * s[0] * s[1] - 2 * max(0, s[1] - 256) * s[0] - 5 * max(0, s[1] - 300), 0)])
    confirmed = confirm(drafted, model).contract
    assert (confirmed.tensors[0].shape, confirmed.conditions) == (("3 * B * n",), ("n <= 256",))


def test_a_count_of_elements_may_be_one_of_planes(open_contract, tensor):
    def upsampled(count, height, width):
        plane = height * width
        rows = ((i // plane * plane * 2 + (i % plane // width * 2 + 1) * width + i % width) for i in range(count))
        return 2 * (max(rows) + 1)

    drafted = open_contract(tensor("x", "n"), tensor("y", "n"), *sizes("n", "H", "W"), symbols=("n", "H", "W"))
    confirmed = confirm(drafted, Model(lambda s, _: [(s[0], 0), (0, upsampled(*s))])).contract
    assert confirmed.arguments[2].value == "n * H * W"
    assert [t.shape for t in confirmed.tensors] == [("n * H * W",), ("4 * n * H * W",)]


def test_whole_vectors_become_a_condition(open_contract, tensor):
    drafted = open_contract(tensor("x", "n"), tensor("y", "n"), *sizes("n"), symbols=("n",))
    confirmation = confirm(drafted, Model(lambda s, _: [(-(-s[0] // 4) * 4, 0), (0, -(-s[0] // 4) * 4)]))
    assert confirmation.inferred == ("n % 4 == 0",)
    assert confirmation.contract.tensors[0].shape == ("n",)
    assert {w.sizes["n"] % 4 for w in confirmation.contract.workloads} == {0}


def test_misaligned_rows_become_a_condition(open_contract, tensor):
    drafted = open_contract(tensor("x", "B * C"), tensor("y", "B * C"), *sizes("B", "C"), symbols=("B", "C"))
    fault = Fault(FaultKind.MISALIGNED, "k.cu", 9, "k", "16 bytes at offset 4")
    model = Model(lambda s, _: [(s[0] * s[1], 0), (0, s[0] * s[1])], lambda s, _: fault if s[1] % 4 else None)
    confirmation = confirm(drafted, model)
    assert confirmation.inferred == ("C % 4 == 0",)
    assert confirmation.trouble == ""


@pytest.mark.parametrize(("spoils", "inferred"), [(True, ("n % 32 == 0",)), (False, ())])
def test_garbage_that_is_computed_with_becomes_a_condition(open_contract, tensor, spoils, inferred):
    drafted = open_contract(tensor("x", "n"), tensor("y", "n"), *sizes("n"), symbols=("n",))
    absent = Fault(FaultKind.LANE_ABSENT, "k.cu", 9, "k", "lane 0 reads lane 16, which takes no part")
    model = Model(lambda s, _: [(s[0], 0), (0, s[0])], lambda s, _: absent if s[0] % 32 else None)

    def execute(job: Job) -> Run:
        run = model(job)
        answer = np.full(4, job.poison / 2 if spoils and run.faults else 7, np.float32)
        return replace(run, outputs=(TensorValue(DType.FLOAT32, (4,), answer),))

    assert confirm(drafted, execute).inferred == inferred


def test_garbage_that_only_small_values_are_smaller_than_becomes_a_condition(open_contract, tensor):
    drafted = open_contract(tensor("x", "n"), tensor("y", "n"), *sizes("n"), symbols=("n",))
    absent = Fault(FaultKind.LANE_ABSENT, "k.cu", 9, "k", "lane 0 reads lane 16, which takes no part")
    model = Model(lambda s, _: [(s[0], 0), (0, s[0])], lambda s, _: absent if s[0] % 32 else None)

    def execute(job: Job) -> Run:
        run = model(job)
        largest = np.abs(job.arguments[0].storage).max()
        garbage = np.fmax(largest, np.full(4, job.poison, np.uint8).view(np.float32)) if run.faults else largest
        return replace(run, outputs=(TensorValue(DType.FLOAT32, (1,), garbage.astype(np.float32)),))

    assert confirm(drafted, execute).inferred == ("n % 32 == 0",)


def test_launches_that_cannot_start_are_probed_smaller(open_contract, tensor):
    drafted = open_contract(tensor("x", "n"), *sizes("n"), symbols=("n",))
    fault = Fault(FaultKind.LAUNCH, "k.cu", 9, "k", "523 threads", fatal=True)
    model = Model(lambda s, _: [(s[0], s[0])], lambda s, _: fault if s[0] > 100 else None)
    confirmation = confirm(drafted, model)
    assert confirmation.contract.tensors[0].shape == ("n",)
    assert confirmation.contract.tensors[0].role is Role.INOUT


def test_short_allocations_grow(open_contract, tensor):
    drafted = open_contract(tensor("x", "n * n * n"), *sizes("n"), symbols=("n",))
    confirmation = confirm(drafted, Model(lambda s, _: [(300 * s[0], 0)]))
    assert confirmation.contract.tensors[0].shape == ("300 * n",)


def test_a_first_run_that_dies_far_beyond_its_allocations_is_given_more(open_contract, tensor):
    drafted = open_contract(tensor("x", "n"), *sizes("n"), symbols=("n",))

    def execute(job: Job) -> Run:
        (values, count) = (a for a in job.arguments)
        needed, given = 20_000 * int(count.value), prod(values.shape)
        if needed > given + 10_000:
            return run_of(faults=[Fault(FaultKind.OUT_OF_BOUNDS, "k.cu", 3, "k", "far", fatal=True)], finished=False)
        return run_of([Touched(4 * min(needed, given), 0, max(0, needed - given))])

    confirmed = confirm(drafted, execute).contract
    assert (confirmed.tensors[0].shape, confirmed.conditions) == (("20000 * n",), ())


def test_what_is_read_before_the_first_element_is_given_no_more(open_contract, tensor):
    """A larger allocation is never the answer: each would be made, written and read in vain."""
    fault = Fault(FaultKind.OUT_OF_BOUNDS, "k.cu", 3, "k", "reads 4 bytes of `x` (262144 bytes) at byte -4", fatal=True)
    model = Model(lambda scalars, _: [(scalars[0], 0)], lambda *_: fault)
    confirm(open_contract(tensor("x", "n", role=Role.IN), *sizes("n"), symbols=("n",)), model)
    assert len({prod(job.arguments[0].shape) for job in model.jobs}) == 1


def test_allocations_that_grow_in_vain_are_as_before_in_the_next_probe(open_contract, tensor):
    fault = Fault(FaultKind.OUT_OF_BOUNDS, "k.cu", 3, "k", "reads 4 bytes of `x` at byte 99999999", fatal=True)
    model = Model(lambda scalars, _: [(scalars[0], 0)], lambda *_: fault)
    confirm(open_contract(tensor("x", "n", role=Role.IN), *sizes("n"), symbols=("n",)), model)
    lengths = [prod(job.arguments[0].shape) for job in model.jobs]
    assert 1 <= sum(length == max(lengths) for length in lengths) <= 4 * 3
    assert lengths[-1] == min(lengths)


def test_a_flag_that_host_code_refuses_is_given_the_other_way_round(open_contract, tensor):
    drafted = open_contract(tensor("x", "n"), *sizes("n"), ScalarArg("half", "bool", "1"), symbols=("n",))
    fault = Fault(FaultKind.HOST_CHECK, "k.cu", 9, "", "conversion is supported for half only", fatal=True)
    model = Model(lambda s, _: [(s[0], 0)], lambda s, _: fault if s[1] else None)
    assert confirm(drafted, model).contract.arguments[2] == ScalarArg("half", "bool", "0")


def test_a_choice_that_host_code_refuses_is_followed_by_the_next(open_contract, tensor):
    drafted = open_contract(tensor("x", "n"), *sizes("n"), ScalarArg("variant", "int", "1"), symbols=("n",))
    fault = Fault(FaultKind.HOST_CHECK, "k.cu", 9, "", "no grid was ever configured", fatal=True)
    model = Model(lambda s, _: [(s[0], 0)], lambda s, _: fault if s[1] < 3 else None)
    assert confirm(drafted, model).contract.arguments[2] == ScalarArg("variant", "int", "3")


def test_sizes_that_must_be_multiples_differ_between_probes(open_contract, tensor):
    drafted = open_contract(tensor("x", "B * n"), *sizes("B", "n"), symbols=("B", "n"))
    fault = Fault(FaultKind.HOST_CHECK, "k.cu", 9, "", "B % 32 == 0", fatal=True)
    model = Model(lambda s, _: [(s[0] * s[1] * s[1], 0)], lambda s, _: fault if s[0] % 32 else None)
    confirmed = confirm(drafted, model).contract
    assert (confirmed.tensors[0].shape, confirmed.conditions) == (("B * n * n",), ("B % 32 == 0",))


def test_what_is_read_depending_on_values_keeps_no_form_from_being_found(open_contract, tensor):
    drafted = open_contract(tensor("x", "B * C"), tensor("mean", "B * C"), *sizes("B", "C"), symbols=("B", "C"))
    blocks = Model(lambda s, _: [(s[0] * s[1] - s[1] // 9, 0), (1 << (s[1] - 1).bit_length(), 0)])
    x, mean = confirm(drafted, blocks).contract.tensors
    assert (x.shape, mean.shape) == (("B * C",), ("C",))


def concatenated(scalars, _):
    """Rows of vectors of four of two inputs side by side: what `C` has beyond whole vectors is not touched."""
    rows, columns, first, second = scalars
    whole = rows * (columns // 4) * 4
    return [(whole * first, 0), (whole * second, 0), (0, whole * (first + second))]


def test_extents_that_are_merely_covered_are_looked_at_again_where_they_break(open_contract, tensor):
    symbols = ("B", "C", "n", "m")
    drafted = open_contract(*(tensor(t, "B * C * n * m") for t in "xyz"), *sizes(*symbols), symbols=symbols)
    x, y, z = (confirmation := confirm(drafted, Model(concatenated))).contract.tensors
    assert ({x.shape[0], y.shape[0]}, confirmation.inferred) == ({"B * C * n", "B * C * m"}, ("C % 4 == 0",))
    assert z.shape == ("B * C * n + B * C * m",)


def test_what_breaks_at_all_sizes_is_no_better_where_they_go_together(open_contract, tensor):
    symbols = ("B", "C", "n", "m")
    drafted = open_contract(*(tensor(t, "B * C * n * m") for t in "xyz"), *sizes(*symbols), symbols=symbols)
    fault = Fault(FaultKind.MISALIGNED, "k.cu", 9, "k", "16 bytes at offset 4")
    confirmation = confirm(drafted, Model(concatenated, lambda *_: fault))
    assert "line 9" in confirmation.trouble


def test_what_never_runs_keeps_its_questions_and_says_why(open_contract, tensor):
    drafted = open_contract(tensor("x", "n"), *sizes("n"), symbols=("n",))
    fault = Fault(FaultKind.HOST_CHECK, "k.cu", 9, "k", "x must be 4-D", fatal=True)
    confirmation = confirm(drafted, Model(lambda *_: [(0, 0)], lambda *_: fault))
    assert confirmation.contract.questions == drafted.questions
    assert "x must be 4-D" in confirmation.trouble
    assert "line 9" in confirmation.trouble
    assert confirmation.runs <= 10


def test_a_contract_that_no_sizes_fit_is_asked_for_no_choice(contract, tensor):
    impossible = contract(tensor("x", "n"), *sizes("n"), conditions=("n > 5", "n < 3"))
    drafted = replace(impossible, branches=("n > 1024",))
    confirmation = confirm(drafted, Model(lambda s, _: [(s[0], 0)]))
    assert confirmation.contract.workloads == ()


def test_of_what_takes_long_few_readings_are_tried(open_contract, tensor):
    drafted = open_contract(tensor("x", "n"), *sizes("n"), symbols=("n",))
    drafted = replace(drafted, entry=replace(drafted.entry, kind=EntryKind.TORCH, launch=None))
    fault = Fault(FaultKind.HOST_CHECK, "k.cu", 9, "k", "expected scalar type Half but found Float", fatal=True)

    def runs(seconds):
        dead = replace(run_of(faults=[fault], finished=False), seconds=seconds)
        return confirm(drafted, lambda _: dead).runs

    quick, slow = runs(0.001), runs(15.0)
    assert 2 <= slow < quick


@pytest.mark.parametrize("kind", [FaultKind.TIMEOUT, FaultKind.UNDEFINED])
def test_what_no_sizes_would_mend_is_soon_given_up(open_contract, tensor, kind):
    drafted = open_contract(tensor("x", "n"), tensor("y", "n * m"), *sizes("n", "m"), symbols=("n", "m"))
    vain = run_of(faults=[Fault(kind, "", 7, "", "why", fatal=True)], finished=False)
    jobs = []
    confirmation = confirm(drafted, lambda job: jobs.append(job) or vain)
    assert len(jobs) == confirmation.runs == 3
    assert confirmation.contract.questions == drafted.questions
    assert confirmation.trouble == f"{kind.value} at line 7: why"


def test_a_launch_that_is_in_time_at_smaller_sizes_is_confirmed(open_contract, tensor):
    drafted = open_contract(tensor("x", "n"), *sizes("n"), symbols=("n",))
    model = Model(lambda s, _: [(s[0], 0)])
    late = run_of(faults=[Fault(FaultKind.TIMEOUT, "", 0, "", "the time limit is reached", fatal=True)], finished=False)

    def execute(job):
        run = model(job)
        return late if job.arguments[1].value > 300 else run

    confirmed = confirm(drafted, execute).contract
    assert (confirmed.tensors[0].shape, confirmed.questions) == (("n",), ())


def test_for_an_original_that_comes_to_no_end_in_time_no_conditions_are_tried(open_contract, tensor):
    model = Model(lambda s, _: [(s[0] * s[1], 0)])
    late = run_of(faults=[Fault(FaultKind.TIMEOUT, "", 0, "", "the time limit is reached", fatal=True)], finished=False)
    slow = []

    def execute(job):
        run = model(job)
        slow.extend([job] if job.arguments[0].shape == (13 * 1031,) else [])
        return late if slow and slow[-1] is job else run

    found = confirm(open_contract(tensor("x", "n * m"), *sizes("n", "m"), symbols=("n", "m")), execute)
    assert found.trouble.startswith(FaultKind.TIMEOUT)
    assert found.contract.questions == ()
    assert found.contract.conditions == ()
    assert model.jobs[-1] is slow[-1]


def test_a_stencil_spans_the_third_power_of_its_only_size(open_contract, tensor):
    model = Model(lambda s, _: [(s[0] ** 3 - 2 * s[0] - 1, 0), (0, s[0] ** 3 - s[0] ** 2 - s[0] - 1)])
    drafted = open_contract(tensor("x", "n"), tensor("y", "n", role=Role.OUT), *sizes("n"), symbols=("n",))
    found = confirm(drafted, model).contract
    assert [(t.shape, t.role) for t in found.tensors] == [(("n * n * n",), Role.IN), (("n * n * n",), Role.INOUT)]
    assert found.questions == ()


def test_sizes_the_user_fixed_are_not_varied(open_contract, tensor):
    drafted = open_contract(tensor("x", "n * C"), *sizes("n", "C"), symbols=("n", "C"))
    model = Model(lambda s, _: [(s[0] * s[1], 0)])
    confirm(drafted, model, {"C": 64})
    assert {int(job.arguments[2].value) for job in model.jobs} == {64}


def test_nothing_is_explained_where_nothing_ran(open_contract, tensor):
    drafted = open_contract(tensor("x"), *sizes("n"), symbols=("n",))
    assert not Probed(drafted, drafted, ()).explained


def test_maps_of_one_rank_are_alike_where_a_larger_one_hid_that_they_have_to_be(open_contract, tensor):
    """`y` is always the larger in the tiny and the odd sizes; another rank's axes stay sizes of their own."""
    shapes = {"features": ("c", "p"), "x": ("n", "h", "w"), "y": ("a", "b", "d")}
    drafted = open_contract(*(tensor(name, *shape) for name, shape in shapes.items()), symbols=tuple("cpnhwabd"))
    drafted = replace(drafted, questions=(), entry=replace(drafted.entry, kind=EntryKind.TORCH, launch=None))

    def accesses(_, tensors):
        (c, p), (n, h, w), (a, b, d) = (t.shape for t in tensors)
        last = ((n - 1) * b + h - 1) * d + w  # as `x` is walked
        return [(c * p, 0), (n * h * w, 0), (max(last, a * b * d), 0)]

    _, x, y = confirm(drafted, Model(accesses)).contract.tensors
    features = confirm(drafted, Model(accesses)).contract.tensors[0]
    assert y.shape == x.shape == ("n", "h", "w")
    assert features.shape == ("c", "p")


def _gathers(_, tensors):
    """Returns what `out[b][c][m][k] = points[b][c][idx[b][m][k]]` touches, walking `out` by its own pitches."""
    (b, c, n), (batches, m, k), (_, channels, rows, pitch) = (t.shape for t in tensors)
    last = ((b - 1) * channels + c - 1) * rows * pitch + (m - 1) * pitch + k
    return [(b * c * n, 0), (((b - 1) * m + m - 1) * k + k if b <= batches else b * m * k, 0), (0, last)]


def _overwrites(_, tensors):
    """Rows that are longer than those of `out` run into the next ones."""
    (_, c, _), (_, m, k), (_, channels, rows, pitch) = (t.shape for t in tensors)
    if c > channels or m > rows or k > pitch:
        return Fault(FaultKind.RACE, "k.cu", 3, "k", "a thread writes `argument 2` (9 bytes); another block writes it")
    return None


def _gathered_contract(open_contract, tensor, order="out"):
    shapes = {"points": "bcn", "idx": "dmk", order: "efgh"}
    drafted = open_contract(*(tensor(name, *shape) for name, shape in shapes.items()), symbols=tuple("bcndmkefgh"))
    return replace(drafted, questions=(), entry=replace(drafted.entry, kind=EntryKind.TORCH, launch=None))


def test_what_is_gathered_has_the_axes_of_where_from_and_of_what_says_so(open_contract, tensor):
    found = confirm(_gathered_contract(open_contract, tensor), Model(_gathers, _overwrites)).contract
    assert [t.shape for t in found.tensors] == [("b", "c", "n"), ("b", "m", "k"), ("b", "c", "m", "k")]


def test_threads_that_meet_whatever_the_sizes_are_no_reason_for_equal_ones(open_contract, tensor):
    drafted = _gathered_contract(open_contract, tensor)
    race = Fault(FaultKind.RACE, "k.cu", 3, "k", "a thread writes `argument 2` (9 bytes); another block writes it")

    def accesses(_, tensors):
        return [(prod(t.shape), prod(t.shape)) for t in tensors]

    found = confirm(drafted, Model(accesses, lambda *_: race)).contract
    assert [t.shape for t in found.tensors] == [t.shape for t in drafted.tensors]


def test_of_a_probe_only_the_traces_are_remembered(contract, tensor):
    drafted = contract(tensor("x", "n"), ScalarArg("n", "int", "n"))

    def execute(job):
        return replace(run_of([Touched(4, 0, 0)]), outputs=job.arguments[:1], results=job.arguments[:1])

    trials = Trials(execute)
    probe = trials.probe(drafted, {"n": 5})
    assert (probe.outputs, probe.results, probe.touched) == ((), (), (Touched(4, 0, 0),))
    assert trials.exact(drafted, {"n": 5}).outputs


def test_what_three_runs_give_no_form_is_asked_no_further(open_contract, tensor):
    """Of each change of what may have been meant no fourth run is made: a form of four is one of three, too."""
    drafted = open_contract(tensor("x", "a * b"), *sizes("a", "b"), symbols=("a", "b"))
    model = Model(lambda s, _: [(s[0] ** 2 + s[1] ** 2 % 1000 + 7, 0)])
    confirm(drafted, model)
    asked = {tuple(a.value for a in job.arguments if isinstance(a, ScalarValue)) for job in model.jobs}
    even = probe_sizes(with_size(drafted, "a", "a * b"), frozenset(), {}, EVEN, 0)
    assert (even["a"] * even["b"], even["b"]) not in asked
    assert tuple(probe_sizes(drafted, frozenset(), {}, EVEN, 0).values()) in asked


def test_inputs_that_are_all_alike_are_tried_no_longer_where_they_show_nothing_more(open_contract, tensor):
    """Ones reach further than drawn numbers here, and zeros nowhere: after four probes these are left out."""
    drafted = open_contract(tensor("x", "n"), *sizes("n"), symbols=("n",))
    model = Model(lambda s, tensors: [(s[0] + int(tensors[0].storage[0] == 1), 0)])
    trials, made = Trials(model), []
    for n in range(5, 11):
        before = len(model.jobs)
        assert trials.probe(drafted, {"n": n}).touched[0].read_end == 4 * (n + 1)
        made.append(len(model.jobs) - before)
    assert made == [3, 3, 3, 3, 2, 2]


def test_an_exact_run_at_the_sizes_of_a_workload_is_a_run_of_it(contract, tensor):
    """Who examines the answers asks for the same run again, which is known."""
    workloads = (Workload("tiny", {"n": 5}, 7), Workload("large values", {"n": 9}, 8, scale=1e3))
    drafted = replace(contract(tensor("x", "n"), *sizes("n"), symbols=("n",)), workloads=workloads)
    model = Model(lambda s, _: [(s[0], 0)])
    trials = Trials(model)
    for own in ({"n": 5}, {"n": 9}):
        trials.exact(drafted, own)
    as_examined = job(drafted, workloads[0]), job(drafted, workloads[1])
    alike = [
        (a.seed, a.arguments[0].storage.tolist()) == (b.seed, b.arguments[0].storage.tolist())
        for a, b in zip(model.jobs, as_examined, strict=True)
    ]
    assert alike == [True, False]
    assert trials.seconds_at({"n": 5}) == 0.001
    assert trials.seconds_at({"n": 6}) == 0.0
