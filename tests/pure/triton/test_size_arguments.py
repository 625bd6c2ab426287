"""Numbers of launches that stop being the size that they were in every workload."""

from hypothesis import given
from hypothesis import strategies as st

from porter_triton.size_arguments import SizeArgument

ROWS, COLUMNS = "extent 0 of argument 0", "extent 1 of argument 0"


def seen(values):
    one = SizeArgument(frozenset((ROWS, COLUMNS)))
    for value, sizes in values:
        one.note(value, sizes)
    return one


@given(st.lists(st.tuples(st.integers(1, 100), st.integers(200, 300)), min_size=3, unique_by=lambda s: s[0]))
def test_a_number_that_no_longer_follows_its_size_is_told_of(every):
    one = seen((rows, {ROWS: rows, COLUMNS: columns}) for rows, columns in every)
    assert one.broken(4000, {ROWS: 1 << 18, COLUMNS: 4000}) == ROWS
    assert not one.broken(1 << 18, {ROWS: 1 << 18, COLUMNS: 4000})


def test_a_number_that_is_a_size_by_chance_is_nobodys_business():
    same = seen((8, {ROWS: 8, COLUMNS: columns}) for columns in (3, 5, 7))
    assert not same.broken(8, {ROWS: 1 << 18, COLUMNS: 4})
    other = seen((rows + 1, {ROWS: rows, COLUMNS: 3}) for rows in (3, 5, 7))
    assert not other.broken(9, {ROWS: 1 << 18, COLUMNS: 4})
