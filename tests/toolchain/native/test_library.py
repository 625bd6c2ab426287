"""What times on a device compiles here, and says what is missing where there is no driver."""

from __future__ import annotations

import subprocess

import pytest

from porter.errors import MachineError
from porter.native.device import Device, DeviceError
from porter.native.library import device_library
from porter.native.place import missing_device


@pytest.fixture(scope="module")
def library(cache):
    try:
        return device_library(cache)
    except MachineError as error:
        pytest.skip(error.message)


def test_it_is_built_once(library, cache):
    stamp = library.stat().st_mtime_ns
    assert device_library(cache) == library
    assert library.stat().st_mtime_ns == stamp


def test_it_exports_what_the_worker_binds_and_needs_no_driver_to_load(library):
    listed = subprocess.run(["nm", "-D", str(library)], capture_output=True, text=True, check=True).stdout
    assert " T porter_sample" in listed
    assert not [line for line in listed.splitlines() if " U cu" in line]


def test_without_a_driver_opening_the_device_says_so(library):
    if not missing_device():
        pytest.skip("there is a driver")
    with pytest.raises(DeviceError, match="libcuda"):
        Device(library)
