"""A device to run on; without one these tests are skipped, for the reason the backend gives."""

from __future__ import annotations

import os

import pytest

from porter.native.place import missing_device, place
from porter_triton.backend import TritonBackend


@pytest.fixture(scope="session")
def device(tmp_path_factory):
    """The first device, for as long as these tests take."""
    can = TritonBackend().probe()
    if because := missing_device() or ("" if can.run else can.because):
        pytest.skip(because)
    with place(tmp_path_factory.mktemp("cache"), 10.0, dict(os.environ)) as found, found.lock.alone():
        yield found


@pytest.fixture
def module(tmp_path):
    """Writes the text of a module and gives its path."""

    def written(text: str) -> str:
        path = tmp_path / "candidate.py"
        path.write_text(text)
        return str(path)

    return written
