"""The whole numbers of a C++ source, with what two of them make together."""

from porter.source.whole_numbers import whole_numbers


def test_literals_of_code_and_macros_are_found_in_every_notation():
    text = "#define TILE 96\nconstexpr int n = 0x10u; long m = 1'000ll; int o = 017, b = 0b101;\n"
    assert whole_numbers(text) == {96, 16, 1000, 15, 5}


def test_products_and_shifts_count():
    assert {128, 1 << 16} <= whole_numbers("int a = 4 * 32, b = 1 << 16;")


def test_floats_comments_and_texts_are_none():
    assert whole_numbers('float x = 1.5f + 2e3; // 77\nauto s = "88"; int huge = 1 << 9999;') == {1, 9999}
