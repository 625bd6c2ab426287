"""Sizes that a judgement draws: new with each seed, large on every axis, within what the contract allows."""

from math import prod

from porter.contract.model.contract import Contract, Entry, EntryKind, Role, TensorArg
from porter.contract.model.dtype import DType
from porter.contract.workload.workloads import with_workloads
from porter.evaluate.reference.judging import Judging


def contract(*shapes, conditions=()):
    arguments = tuple(TensorArg(f"x{i}", Role.IN, DType.FLOAT32, shape) for i, shape in enumerate(shapes))
    symbols = tuple(dict.fromkeys(symbol for shape in shapes for symbol in shape))
    return with_workloads(Contract("op", "other", Entry(EntryKind.TORCH, "op"), arguments, symbols, conditions, (), {}))


ROWS = contract(("rows", "columns"))
PRODUCT = contract(("m", "k"), ("k", "n"))
OVER = ("just over tiles", "just over tiles in all")
IMAGES = contract(("n", "c", "h", "w"))


def drawn(one, seed=1, fixed=None, **options):
    """The sizes of the drawn workloads by their names."""
    further = Judging(seed, fixed or {}, **options).further(one)
    return {w.name: w.sizes for w in further if "tiles" in w.name or w.name.startswith("a long axis")}


def test_rows_have_several_tiles_on_both_axes_and_one_long_last_axis():
    sizes = drawn(ROWS)
    assert sizes.keys() == {"several tiles", "a long axis of columns", *OVER}
    assert sizes["several tiles"]["rows"] > 128
    assert sizes["several tiles"]["columns"] > 256
    assert sizes["a long axis of columns"]["columns"] > 2048
    assert sizes["a long axis of columns"]["rows"] < 8


def test_one_element_is_left_over_on_every_axis_once():
    """A loop that ends one element early is wrong there alone."""
    rows, product, images = drawn(ROWS), drawn(PRODUCT), drawn(IMAGES)
    assert rows["just over tiles"]["rows"] % 32 == 1
    assert rows["just over tiles"]["columns"] % 1024 == 1
    assert all(size % 32 == 1 for size in product["just over tiles"].values())
    assert [images["just over tiles"][axis] % 32 for axis in "hw"] == [1, 1]
    assert prod(rows["just over tiles in all"].values()) % 512 == 1
    assert drawn(contract(("n",)))["just over tiles"]["n"] % 8192 == 1


def test_a_product_has_several_tiles_on_each_axis_and_is_long_where_a_row_is():
    sizes = drawn(PRODUCT)
    assert all(size > 128 for size in sizes["several tiles"].values())
    assert sizes["a long axis of k"]["k"] > 2048
    assert sizes["a long axis of n"]["n"] > 2048


def test_each_axis_of_many_has_its_turn():
    sizes = drawn(IMAGES)
    assert all(sizes[f"several tiles of {axis}"][axis] > 32 for axis in "nchw")
    assert sizes["a long axis of w"]["w"] > 2048


def test_each_judgement_draws_its_own_sizes_and_its_seed_repeats_them():
    assert len({tuple(drawn(ROWS, seed)["several tiles"].values()) for seed in range(20)}) > 10
    assert drawn(ROWS, 7) == drawn(ROWS, 7)


def test_sizes_that_were_chosen_stay_and_conditions_hold():
    assert all(sizes["rows"] == 5 for sizes in drawn(ROWS, fixed={"rows": 5}).values())
    even = contract(("rows", "columns"), conditions=("columns % 8 == 0",))
    assert all(sizes["columns"] % 8 == 0 for sizes in drawn(even).values())


def test_nothing_is_drawn_where_the_contract_is_the_users_or_has_no_such_sizes():
    assert drawn(ROWS, edges=False) == {}
    small = contract(("rows", "columns"), conditions=("columns <= 64", "rows <= 16"))
    assert drawn(small) == {}


def test_only_sizes_with_an_answer_are_drawn():
    asked = []

    def fit(targets):
        asked.append(targets)
        return None if len(asked) == 1 else {**targets, "columns": 4000}

    further = Judging(1, {}).further(ROWS, fit)
    names = {w.name for w in further if w.sizes["columns"] == 4000}
    assert "several tiles" not in names
    assert "a long axis of columns" in names
