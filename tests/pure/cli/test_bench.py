"""`porter bench`, where there is no device: what is missing, before any work is done."""

from __future__ import annotations

import pytest

from porter.native.place import missing_device

pytestmark = pytest.mark.skipif(not missing_device(), reason="there is a device")


@pytest.mark.parametrize("command", [("bench",), ("verify", "--fidelity", "native")])
def test_without_a_device_the_machine_lacks_what_was_asked_for(porter, command):
    done = porter(*command, "candidate.py", "--against", "op.cu", "--json")
    assert done.code == 3
    assert "no NVIDIA device" in done.document["error"]["message"]
    assert "porter verify" in done.document["error"]["hint"]


def test_a_fidelity_that_there_is_not_is_wrong_usage(porter):
    done = porter("verify", "candidate.py", "--against", "op.cu", "--fidelity", "modelled")
    assert done.code == 2
    assert "modelled" in done.stderr
