"""What a machine runs out of is told from what is wrong with a file."""

import errno
import os
from pathlib import Path

import pytest

from porter.errors import InputError, MachineError, exhaustion, unwritable


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.ENOMEM, errno.EMFILE])
def test_a_machine_that_is_out_of_something_says_so(code):
    found = exhaustion(OSError(code, os.strerror(code), "/cache/program"))
    assert isinstance(found, MachineError)
    assert found.exit_code == 3
    assert os.strerror(code) in found.message


def test_it_is_found_behind_what_it_led_to():
    error = RuntimeError("the pass failed")
    error.__cause__ = MemoryError()
    assert isinstance(exhaustion(error), MachineError)


@pytest.mark.parametrize("error", [PermissionError(errno.EACCES, "denied"), FileNotFoundError(), ValueError("x")])
def test_other_errors_are_none_of_the_machines(error):
    assert exhaustion(error) is None


def test_what_cannot_be_written_is_the_disks_fault_or_the_paths():
    full = unwritable(Path("out/op.py"), OSError(errno.ENOSPC, "No space left on device"))
    denied = unwritable(Path("out/op.py"), OSError(errno.EACCES, "Permission denied"), "choose another --out")
    assert (type(full), str(full)) == (MachineError, "cannot write out/op.py: No space left on device")
    assert (type(denied), denied.hint) == (InputError, "choose another --out")
