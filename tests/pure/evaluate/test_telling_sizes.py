"""Workloads at which a program's own numbers tell: next to tiles, steps and limits, within what a contract allows."""

from dataclasses import replace

from porter.contract.model.contract import Contract, Entry, EntryKind, Role, ScalarArg, TensorArg, Workload
from porter.contract.model.dtype import DType
from porter.evaluate.judge.telling_sizes import Named, telling_workloads

X = TensorArg("x", Role.IN, DType.FLOAT32, ("rows", "columns"))
TINY = Workload("tiny", {"rows": 3, "columns": 7}, 1)


def contract(*arguments, conditions=(), workloads=(TINY,)):
    symbols = ("rows", "columns")
    return Contract("op", "other", Entry(EntryKind.TORCH, "op"), (X, *arguments), symbols, conditions, workloads, {})


def sizes(one, own=(), others=(), fixed=None):
    return [
        tuple(w.sizes.values()) for w in telling_workloads(one, Named(frozenset(own)), set(others), fixed or {}, seed=1)
    ]


def test_each_axis_is_one_over_a_number_and_one_under_it():
    found = sizes(contract(), {64})
    assert {63, 65} <= {rows for rows, _ in found}
    assert {63, 65} <= {columns for _, columns in found}


def test_the_smallest_sizes_come_first_unless_they_were_asked():
    assert sizes(contract(), {64})[0] == (1, 1)
    one = replace(TINY, sizes={"rows": 1, "columns": 1})
    assert (1, 1) not in sizes(contract(workloads=(TINY, one)), {64})


def test_products_of_tiles_are_gone_over():
    """A block of 256 threads that take four elements each."""
    assert any(rows * columns > 1024 and rows * columns % 1024 == 1 for rows, columns in sizes(contract(), {4, 256}))


def test_a_row_is_a_vector_more_than_a_tile_of_them():
    """256 threads that take eight elements each: `range(0, columns // 8 - 1, 256)` forgets the last vector alone."""
    assert any(columns == 2048 + 8 for _, columns in sizes(contract(), {8, 256}))


def test_two_axes_are_over_a_number_at_once():
    found = sizes(contract(conditions=("rows <= columns",)), {4, 128})
    assert any(rows > 4 and rows % 4 == 1 and columns > 128 and columns % 128 == 1 for rows, columns in found)


def test_what_workloads_have_is_not_asked_again():
    many = replace(TINY, sizes={"rows": 1025, "columns": 1025})
    asked = contract(workloads=(TINY, many))
    assert 1025 not in {rows for rows, _ in sizes(asked, {1024})}


def test_conditions_hold_and_chosen_sizes_stay():
    even = contract(conditions=("columns % 8 == 0",), workloads=(replace(TINY, sizes={"rows": 3, "columns": 8}),))
    found = sizes(even, {128})
    assert all(columns % 8 == 0 for _, columns in found)
    assert 136 in {columns for _, columns in found}
    assert {rows for rows, _ in sizes(contract(), {128}, fixed={"rows": 3})} == {3}


def test_only_so_much_is_asked():
    found = sizes(contract(), set(range(2, 5_000)))
    assert len(found) < 24
    assert sum(rows * columns for rows, columns in found) < 1 << 19


def test_rows_are_few_where_a_long_program_is_interpreted_for_each():
    def rows(operations):
        found = telling_workloads(contract(), Named(frozenset((512,)), operations), set(), {}, seed=1)
        return max(w.sizes["rows"] for w in found)

    assert rows(0) > 512 > rows(1000)


def test_each_choice_of_an_element_type_has_its_own():
    double = replace(TINY, name="float64", dtypes={"x": DType.FLOAT64})
    found = telling_workloads(contract(workloads=(TINY, double)), Named(frozenset((256,))), set(), {}, seed=1)
    doubles = [w for w in found if w.dtypes == double.dtypes]
    assert all(w.name.startswith("float64, ") for w in doubles)
    assert any(w.sizes["rows"] * w.sizes["columns"] > 256 for w in doubles)
    assert len({w.name for w in found}) == len(found)


def test_an_argument_that_has_several_values_lies_between_these():
    window = ScalarArg("window", "int64_t", "11")
    small = replace(TINY, name="window = 2", scalars={"window": 2})
    found = telling_workloads(contract(window, workloads=(TINY, small)), Named(frozenset((4,))), set(), {}, seed=1)
    given = {w.scalars["window"] for w in found}
    assert 5 in given
    assert all(2 <= value <= 11 for value in given)
    seed = ScalarArg("seed", "int64_t", "81985529216486895")
    other = replace(TINY, scalars={"seed": 7})
    found = telling_workloads(contract(seed, workloads=(TINY, other)), Named(frozenset((4,))), set(), {}, seed=1)
    assert all(w.scalars in ({}, other.scalars) for w in found)


def test_a_row_ends_in_each_of_many_tiles():
    """A long program that names many tiles leaves little time for rows, and one row of each takes none."""
    tiles = [256 * n for n in range(1, 9)]
    symbols = ("batch", "channels", "height", "columns")
    tiny = Workload("tiny", {"batch": 2, "channels": 5, "height": 19, "columns": 37}, 1)
    image = Contract("op", "norm", Entry(EntryKind.TORCH, "op"), (replace(X, shape=symbols),), symbols, (), (tiny,), {})
    found = telling_workloads(image, Named(frozenset(tiles), 1200), {16, 32, 256, 1024, 2048}, {}, seed=1)
    assert {w.sizes["columns"] // 256 for w in found} >= set(range(9))
