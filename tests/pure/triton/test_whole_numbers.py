"""The whole numbers of a Triton module, with what Python makes of them alone."""

from porter_triton.whole_numbers import whole_numbers


def test_literals_and_what_is_made_of_them_are_found():
    assert {256, 65536, 1024, 31} <= whole_numbers("B = 256\nM = 1 << 16\nx = f(4 * B, 4 * 256, 32 - 1)")


def test_truth_floats_and_what_is_no_python_have_none():
    assert whole_numbers("x = True and 2.5") == frozenset()
    assert whole_numbers("x = (") == frozenset()
    assert {2, 10, 9, 10**9} <= whole_numbers("x = 2 ** 10 ** 9")
