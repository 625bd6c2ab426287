"""What building for an NVIDIA device takes; none of it takes the device."""

from __future__ import annotations

import pytest

from porter.errors import MachineError
from porter.native.original import Nvcc


@pytest.fixture(scope="session")
def nvcc() -> Nvcc:
    """NVIDIA's compiler for Hopper."""
    try:
        return Nvcc.found("sm_90")
    except MachineError as error:
        pytest.skip(error.message)
