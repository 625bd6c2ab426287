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


def test_what_was_launched_compiles_for_every_target(signatures, folders):
    many = signatures("add", np.ones(300), np.ones(300), np.ones(300), 300)
    one = signatures("add", np.ones(1), np.ones(1), np.ones(1), 1)
    assert many != one  # where n is 1 it is a constant
    assert refused(MODULE, (*many, *one), targets(), *folders) is None


def test_a_kernel_that_triton_refuses_is_named_with_its_line(signatures, folders):
    found = refused(MODULE, signatures("uncompilable", np.ones(64)), targets(), *folders)
    assert (found.kernel, found.arch) == ("uncompilable_kernel", "sm_90")
    assert "bump(" in MODULE.read_text().splitlines()[found.line - 1]
    assert "ambiguous" in found.message


@pytest.mark.parametrize("deed", ["Path('{outside}').write_text('x')", "socket.create_connection(('127.0.0.1', 9))"])
def test_a_module_that_is_compiled_is_confined(tmp_path, deed):
    """The user may have edited it: it writes where compiling does, and reaches no network."""
    for name in ("work", "cache"):
        (tmp_path / name).mkdir()
    module = tmp_path / "op_triton.py"
    deed = deed.format(outside=tmp_path / "outside")
    module.write_text(f"import socket\nfrom pathlib import Path\n\n{deed}\n")
    signature = '{"kernel": "k", "types": {}, "constants": {}, "options": {}}'
    found = refused(module, (signature,), targets()[:1], tmp_path / "work", tmp_path / "cache")
    assert "PermissionError" in found.message
