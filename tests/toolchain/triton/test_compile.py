"""What was launched is compiled for devices that are not there."""

from pathlib import Path

import numpy as np
import pytest

from porter_triton.compile import refused
from porter_triton.targets import targets

MODULE = Path(__file__).parent / "module_under_test.py"


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    return tmp_path_factory.mktemp("compiler"), tmp_path_factory.mktemp("cache")


def test_what_was_launched_compiles_for_every_target(worker, signatures, folders):
    many = signatures("add", np.ones(300), np.ones(300), np.ones(300), 300)
    one = signatures("add", np.ones(1), np.ones(1), np.ones(1), 1)
    assert many != one  # where n is 1 it is a constant
    assert refused(worker.kernels, (*many, *one), targets(), *folders) is None


def test_a_kernel_that_triton_refuses_is_named_with_its_line(worker, signatures, folders):
    asked = signatures("uncompilable", np.ones(64))
    found = refused(worker.kernels, asked, targets(), *folders)
    assert (found.kernel, found.arch) == ("uncompilable_kernel", "sm_90")
    assert "bump(" in MODULE.read_text().splitlines()[found.line - 1]
    assert "ambiguous" in found.message
