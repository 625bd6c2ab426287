"""Shifts by at least as many bits as a number has: a device's answers, not those of an x86 processor.

The answers are those of PTX's `shl` and `shr`, which take a count without a sign and limit it to the number's bits.
"""

import numpy as np
import pytest

KERNEL = """
__global__ void k(const int* by, long long* y, int n) {
    const int i = threadIdx.x, count = by[i];
    long long* row = y + i * 7;
    row[0] = -5 << count;
    row[1] = -5 >> count;
    row[2] = 5u >> count;
    row[3] = -5ll << count;
    row[4] = -5ll >> count;
    row[5] = -5 >> (count & 31);
    unsigned rotated = 0x80000001u;
    row[6] = (rotated << count) | (rotated >> (32 - count));
}
"""


def _answers(by):
    """Returns what a device answers: Python's shifts, of which those by many bits leave 0 or the sign."""
    masked = -5 >> (by % 32)
    by = by if by >= 0 else 1 << 32
    least = min(by, 64)

    def narrow(number):
        return (number + (1 << 31)) % (1 << 32) - (1 << 31)

    def left(number, bits):
        return (number << least) % (1 << bits) if by < bits else 0

    wide = left(-5, 64)
    around = (left(0x80000001, 32) | 0x80000001 >> (32 - by)) if by <= 32 else left(0x80000001, 32)
    return (
        narrow(left(-5, 32)),
        -5 >> least,
        5 >> least,
        wide - (1 << 64) if wide >> 63 else wide,
        -5 >> least,
        masked,
        around,
    )


COUNTS = (0, 1, 31, 32, 33, 40, 63, 64, 200, 256, 300, -1)


@pytest.fixture
def shifted(execute):
    """The answers of `k`, a row for each count."""
    given = np.array(COUNTS, np.int32)
    made = execute(
        KERNEL, [given, np.zeros(len(given) * 7, np.int64), len(given)], grid=(1, 1, 1), block=(len(given), 1, 1)
    )
    assert made.finished
    return made


@pytest.mark.parametrize("at", range(len(COUNTS)), ids=map(str, COUNTS))
def test_what_a_shift_leaves_is_what_it_leaves_on_a_device(shifted, at):
    row = shifted.outputs[1].storage.reshape(-1, 7)[at]
    expected = _answers(COUNTS[at])
    if COUNTS[at] > 32 or COUNTS[at] < 0:  # a rotation's other half has a count below zero
        row, expected = row[:6], expected[:6]
    assert tuple(row.tolist()) == expected


def test_each_such_shift_is_told_once_with_its_line_and_its_count(shifted):
    told = [fault for fault in shifted.faults if fault.kind.value == "shift out of range"]
    assert sorted({fault.line for fault in told}) == [5, 6, 7, 8, 9, 12]
    assert {fault.message for fault in told if fault.line == 5} == {"'int' is shifted by 32 bits"}


def test_shifts_that_a_number_has_bits_for_are_not_told(execute):
    given = np.array((0, 1, 31), np.int32)
    made = execute(KERNEL.replace("(32 - count)", "(31 - count)"), [given, np.zeros(21, np.int64), 3], block=(3, 1, 1))
    assert made.finished
    assert not made.faults
