"""The language's numbers on the host: 8- and 16-bit floats against torch for every bit pattern, the rest by value."""

from __future__ import annotations

import math
import shutil
import subprocess
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
import torch

INCLUDE = Path(str(files("porter"))) / "simt" / "include"
RUNTIME = INCLUDE.parent / "runtime"
pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


@dataclass(frozen=True)
class Printed:
    folder: Path
    values: dict[str, float]

    def array(self, name: str, dtype: str) -> np.ndarray:
        return np.fromfile(self.folder / name, dtype=dtype)


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> Printed:
    folder = tmp_path_factory.mktemp("numbers")
    source = Path(__file__).with_name("numbers.cpp")
    command = ["g++", "-std=c++17", "-O1", "-w", "-DPORTER_WARP_SIZE=32", f"-I{INCLUDE}", f"-I{INCLUDE / 'cuda'}"]
    # Sections nobody calls would need the executor's runtime.
    command += ["-ffunction-sections", "-Wl,--gc-sections", str(source), str(RUNTIME / "random.cpp")]
    command += ["-o", str(folder / "numbers")]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    out = subprocess.run([folder / "numbers", folder], capture_output=True, text=True, check=True).stdout
    return Printed(folder, {name: float(value) for name, value in (line.split() for line in out.splitlines())})


def same(actual: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(actual, expected, rtol=0, atol=0, equal_nan=True)


def bits_as(numbers: Printed, name: str, dtype: torch.dtype) -> torch.Tensor:
    integer = torch.int16 if dtype.itemsize == 2 else torch.uint8
    array = numbers.array(name, "int16" if dtype.itemsize == 2 else "uint8")
    return torch.from_numpy(array).to(integer).view(dtype)


def test_pairs_of_8_bit_floats_are_two(numbers):
    assert numbers.values["wrong_pairs"] == 0


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("half", torch.float16),
        ("bfloat16", torch.bfloat16),
        ("e4m3", torch.float8_e4m3fn),
        ("e5m2", torch.float8_e5m2),
    ],
)
def test_every_pattern_of_a_narrow_float_widens_exactly(numbers: Printed, name: str, dtype: torch.dtype) -> None:
    count = 2 ** (8 * dtype.itemsize)
    patterns = torch.arange(count).to(torch.int32).to(torch.int16 if count > 256 else torch.uint8)
    same(torch.from_numpy(numbers.array(name, "float32")), patterns.view(dtype).float())


@pytest.mark.parametrize(("name", "dtype"), [("to_half", torch.float16), ("to_bfloat16", torch.bfloat16)])
def test_floats_round_to_nearest_even(numbers: Printed, name: str, dtype: torch.dtype) -> None:
    floats = torch.from_numpy(numbers.array("floats", "float32"))
    same(bits_as(numbers, name, dtype).float(), floats.to(dtype).float())


@pytest.mark.parametrize(
    ("name", "dtype", "largest"), [("to_e4m3", torch.float8_e4m3fn, 448.0), ("to_e5m2", torch.float8_e5m2, 57344.0)]
)
def test_eight_bit_floats_saturate(numbers: Printed, name: str, dtype: torch.dtype, largest: float) -> None:
    floats = torch.from_numpy(numbers.array("floats", "float32"))
    same(bits_as(numbers, name, dtype).float(), floats.clamp(-largest, largest).to(dtype).float())


def test_half_arithmetic_rounds_once(numbers: Printed) -> None:
    a, b, c = numbers.array("operands", "float16").reshape(-1, 3).astype(np.float64).T
    with np.errstate(all="ignore"):
        expected = {"sums": a + b, "products": a * b, "quotients": a / b}
    for name, exact in expected.items():
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(numbers.array(name, "float16"), exact.astype(np.float16), err_msg=name)
    finite = np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    fused = [
        nearest_half(int(x) * int(y), int(z) << 24)
        for x, y, z in zip(*(v[finite] * 2.0**24 for v in (a, b, c)), strict=True)
    ]
    np.testing.assert_array_equal(numbers.array("fused", "float16")[finite], np.array(fused, "float16"))


def nearest_half(product: int, addend: int) -> float:
    """The half nearest to the sum of two integers in units of 2**-48, computed exactly."""
    total = product + addend
    dropped = max(abs(total).bit_length() - 11, 24)
    kept, rest = divmod(abs(total), 1 << dropped)
    tie = 1 << (dropped - 1)
    kept += rest > tie or (rest == tie and kept & 1)
    value = kept * 2.0 ** (dropped - 48)
    return math.copysign(math.inf if value >= 65536 else value, total)


THIRD_DOWN, THIRD_UP = np.nextafter(np.float32(1 / 3), np.float32(0)), np.float32(1 / 3)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("erfinv(0.3)", 0.27246271472675435),
        ("erfcinv(1e-10)", 4.572824967389486),
        ("normcdfinv(0.975)", 1.959963984540054),
        ("normcdf(1)", 0.8413447460685429),
        ("sinpi(1)", 0.0),
        ("cospi(0.5)", 0.0),
        ("sinpi(0.25)", math.sqrt(0.5)),
        ("rsqrtf(4)", 0.5),
        ("exp10f(2)", 100.0),
        ("__powf(-2,2)", math.nan),
        ("__saturatef(nan)", 0.0),
        ("fminf(nan,1)", 1.0),
        ("max(nan,1)", 1.0),
        ("max(-1,1u)", 4294967295.0),
        ("erfcx(30)", 0.018795888861416751),
        ("__fadd_rz", np.nextafter(np.float32(1), np.float32(0))),
        ("__fadd_ru", np.nextafter(np.float32(1), np.float32(2))),
        ("__fdiv_rd", THIRD_DOWN),
        ("__fdiv_ru", THIRD_UP),
        ("__fmaf_rz", np.nextafter(np.float32(1), np.float32(0))),
        ("__fsqrt_ru", np.nextafter(np.float32(math.sqrt(2)), np.float32(2))),
        ("__float2int_rn(2.5)", 2),
        ("__float2int_rz(3e9)", 2**31 - 1),
        ("__float2uint_ru(-1)", 0),
        ("__float2int_rn(nan)", 0),
        ("__int2float_rz", 16777218),
        ("__int2float_ru", 16777218),
        ("__double2float_ru", np.nextafter(np.float32(1), np.float32(2))),
        ("__hiloint2double", 1.0),
        ("cuCabsf", 5.0),
        ("cuCdivf", 0.0),
    ],
)
def test_mathematics(numbers: Printed, name: str, expected: float) -> None:
    assert numbers.values[name] == pytest.approx(float(expected), rel=1e-15, abs=0, nan_ok=True)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("__brev(1)", 2**31),
        ("__clz(0)", 32),
        ("__clzll(1)", 63),
        ("__ffs(0)", 0),
        ("__ffsll(1<<40)", 41),
        ("__popcll(-1)", 64),
        ("__mulhi", 2**32 - 1),
        ("__umulhi", 1),
        ("__mul24", 2**32 - 15),
        ("__sad(-3,4,1)", 8),
        ("__byte_perm", 0x77553311),
        ("__byte_perm_sign", 0xFFFFFFFF),
        ("__funnelshift_l", 3),
        ("__funnelshift_rc", 7),
        ("__dp4a", 10 + 3 + 2 - 1 + 1),
        ("__dp4a_u", 10 + 3 + 2 + 255 + 1),
        ("__fns", 2),
        ("__uhadd", 0x80000000),
        ("__umul64hi", 2),
        ("sizeof(float3)", 12),
        ("alignof(float4)", 16),
        ("alignof(double4)", 16),
        ("alignof(short3)", 2),
        ("alignof(uchar4)", 4),
        ("sizeof(longlong4)", 32),
        ("alignof(__half2)", 4),
        ("sizeof(dim3)", 12),
        ("dim3(2).y", 1),
    ],
)
def test_integers_and_layouts(numbers: Printed, name: str, expected: int) -> None:
    assert numbers.values[name] == expected


def philox(counter: list[int], key: list[int]) -> list[int]:
    for _ in range(10):
        a, b = 0xD2511F53 * counter[0], 0xCD9E8D57 * counter[2]
        counter = [
            (b >> 32) ^ counter[1] ^ key[0],
            b & 0xFFFFFFFF,
            (a >> 32) ^ counter[3] ^ key[1],
            a & 0xFFFFFFFF,
        ]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return counter


def test_philox_counts_the_subsequence_in_its_upper_half(numbers: Printed) -> None:
    expected = philox([0, 0, 5, 0], [1234, 0])
    assert (numbers.values["philox.x"], numbers.values["philox.w"]) == (expected[0], expected[3])
    assert numbers.values["philox.skipped"] == 1


def test_xorwow_jumps_ahead_as_curands_tables_do(numbers: Printed) -> None:
    """The numbers follow from the matrices of NVIDIA's curand_precalc.h, which are powers of the recurrence."""
    assert (numbers.values["xorwow.first"], numbers.values["xorwow.second"]) == (3204306571, 3283417796)


def test_random_streams_are_independent_and_normals_normal(numbers: Printed) -> None:
    assert numbers.values["sequences.differ"] == 1
    assert abs(numbers.values["normal.mean"]) < 0.03
    assert abs(numbers.values["normal.variance"] - 1) < 0.05
