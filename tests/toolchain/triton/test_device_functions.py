"""Every function of numbers computes what the executor's headers do, and compiles."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from porter.simt.compiler import INCLUDE, compiler
from tests.toolchain.triton import function_table

# Relative errors: a few units in the last place; functions of float64 that go through exp and log lose up to three
# digits more, and say so.
_RELATIVE = {"float32": 1e-6, "float64": 1e-12}
_ABSOLUTE = {"float32": 3e-38, "float64": 1e-13}
# A device's exp of a large float32 goes through one multiplication and a power of two.
_LOOSER = {"run": 1, "native": 10}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("table")


@pytest.fixture(scope="module")
def tested():
    return function_table.cases()


@pytest.fixture(scope="module")
def counts(folder, tested):
    return function_table.write(folder, tested)


@pytest.fixture(scope="module")
def expected(folder, counts, tested):
    """What the C++ program writes, by case."""
    program = folder / "table"
    command = [compiler().command, "-std=c++17", "-O0", "-w", "-fpermissive", "-DPORTER_WARP_SIZE=32", f"-I{INCLUDE}"]
    command += [f"-I{INCLUDE}/cuda", str(folder / "table.cpp"), "-o", str(program)]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr[:4000]
    raw = subprocess.run([program, folder / "inputs.bin"], capture_output=True, check=True).stdout
    assert counts
    return list(_split(raw, tested))


def _split(raw, tested):
    start = 0
    for case in tested:
        end = start + np.dtype(case.result).itemsize * function_table.COUNT
        yield np.frombuffer(raw[start:end], case.result)
        start = end
    assert start == len(raw)


def _kernels(action, folder, counts):
    command = [sys.executable, str(function_table.KERNELS), action, str(folder), json.dumps(counts)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_every_function_computes_what_cuda_does(folder, counts, tested, expected):
    _compare("run", folder, counts, tested, expected)


@pytest.mark.device
@pytest.mark.skipif(not Path("/dev/nvidiactl").exists(), reason="no NVIDIA device here")
def test_every_function_computes_it_on_a_device(folder, counts, tested, expected):
    _compare("native", folder, counts, tested, expected)


def _compare(action, folder, counts, tested, expected):
    done = _kernels(action, folder, counts)
    assert done.returncode == 0, done.stderr[-4000:]
    held = np.load(folder / "values.npz")
    places = function_table.places(tested)
    wrong = []
    for case, values in zip(tested, expected, strict=True):
        found = held[case.result].reshape(-1, function_table.COUNT)[places[case]]
        bad = ~_close(found, values, case.result, _LOOSER[action])
        if bad.any():
            at = int(np.argmax(bad))
            wrong.append((case.label, int(bad.sum()), at, found[at], values[at]))
    assert not wrong, "\n".join(map(str, wrong))


def _close(found, expected, type_, looser):
    if "int" in type_:
        return found.view(expected.dtype) == expected
    found, expected = found.astype(np.float64), expected.astype(np.float64)
    with np.errstate(invalid="ignore"):
        near = np.abs(found - expected) <= looser * (_RELATIVE[type_] * np.abs(expected) + _ABSOLUTE[type_])
    same = (found == expected) & (np.signbit(found) == np.signbit(expected)) | np.isnan(found) & np.isnan(expected)
    return same | near & (expected != 0)


def test_every_function_compiles_for_both_families_of_devices(folder, counts):
    done = _kernels("compile", folder, counts)
    assert done.returncode == 0, done.stderr[-4000:]
