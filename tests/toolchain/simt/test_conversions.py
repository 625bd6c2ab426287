"""Floats that become whole numbers of types which do not hold them: a device's answers, not those of an x86 processor.

`k` stores, hands on, returns and casts. The answers are those of PTX's `cvt`: nvcc converts to 32 bits, or to 64, and
drops those that a narrower type does not have.
"""

import numpy as np
import pytest

# A source for toolkits before CUDA 12 brings the comparisons of pairs that give masks.
KERNEL = """
#include <cuda_fp16.h>
static __device__ unsigned __hgt2_mask(const half2 a, const half2 b) { return a.x > b.x ? 1u : 2u; }
template <class T> __device__ T returned(float x) { return x; }
__device__ float same(float x) { return x; }
__global__ void k(const float* x, const double* d, long long* y, int n) {
    const int i = threadIdx.x;
    unsigned char bytes[1];
    bytes[0] = x[i];
    const short s = same(x[i]);
    long long* row = y + i * 10;
    row[0] = bytes[0];
    row[1] = (signed char)x[i];
    row[2] = returned<unsigned short>(x[i]);
    row[3] = s;
    row[4] = static_cast<unsigned>(x[i]);
    row[5] = int(x[i]);
    row[6] = returned<unsigned long long>(x[i]);
    row[7] = returned<long long>(x[i]);
    row[8] = (int)d[i];
    row[9] = __hgt2_mask(__float2half2_rn(1.0f), __float2half2_rn(0.0f)) == 1u ? (unsigned long long)d[i] : 3;
}
"""
MOST_U32, MOST_I32, LEAST_I32 = 2**32 - 1, 2**31 - 1, -(2**31)
MOST_I64, LEAST_I64, MOST_U64 = 2**63 - 1, -(2**63), -1  # the last as the bits of a signed number
EXPECTED = {
    -1.5: (0, -1, 0, -1, 0, -1, 0, -1, -1, 0),
    300.0: (44, 44, 300, 300, 300, 300, 300, 300, 300, 300),
    70000.0: (112, 112, 4464, 4464, 70000, 70000, 70000, 70000, 70000, 70000),
    5e9: (255, -1, 65535, -1, MOST_U32, MOST_I32, 5 * 10**9, 5 * 10**9, MOST_I32, 5 * 10**9),
    -5e9: (0, 0, 0, 0, 0, LEAST_I32, 0, -5 * 10**9, LEAST_I32, 0),
    2.0**63: (255, -1, 65535, -1, MOST_U32, MOST_I32, LEAST_I64, MOST_I64, MOST_I32, LEAST_I64),
    1e30: (255, -1, 65535, -1, MOST_U32, MOST_I32, MOST_U64, MOST_I64, MOST_I32, MOST_U64),
    -np.inf: (0, 0, 0, 0, 0, LEAST_I32, 0, LEAST_I64, LEAST_I32, 0),
    np.nan: (0, 0, 0, 0, 0, 0, LEAST_I64, LEAST_I64, LEAST_I32, LEAST_I64),
    7.9: (7,) * 10,
}


@pytest.fixture
def converted(execute):
    """The answers of `k`, a row for each number."""
    given = np.array(list(EXPECTED))
    count = len(given)
    made = execute(
        KERNEL,
        [given.astype(np.float32), given, np.zeros(count * 10, np.int64), count],
        grid=(1, 1, 1),
        block=(count, 1, 1),
    )
    assert made.finished
    return made


def test_what_a_type_does_not_hold_is_converted_as_on_a_device(converted):
    rows = converted.outputs[2].storage.reshape(-1, 10)
    assert {number: tuple(row.tolist()) for number, row in zip(EXPECTED, rows, strict=True)} == EXPECTED


def test_each_such_conversion_is_told_once_with_its_line(converted):
    lines = [fault.line for fault in converted.faults if fault.kind.value == "number out of range"]
    assert sorted(lines) == [4, 9, 10, 13, 16, 17, 20, 21]
