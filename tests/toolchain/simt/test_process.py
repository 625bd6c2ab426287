"""A process that takes too long, or is broken off, leaves nothing behind."""

import os
import time

import pytest

from porter.measure.deadline import OutOfTime, Span
from porter.simt import process
from porter.simt.process import spawn

SLEEPING_S = 20.0


def run(folder, wall_s, *command):
    return spawn([*command], folder, folder / "out", folder / "err", wall_s)


@pytest.fixture(params=[True, False], ids=["told", "looking"])
def _told(request, monkeypatch):
    def refused(_pid):
        raise PermissionError

    if not request.param:
        monkeypatch.setattr(os, "pidfd_open", refused)


@pytest.mark.usefixtures("_told")
def test_one_that_takes_too_long_is_ended(tmp_path):
    begin = time.monotonic()
    ended = run(tmp_path, 0.2, "/bin/sleep", str(SLEEPING_S))
    assert ended.late
    assert ended.code < 0
    assert time.monotonic() - begin < SLEEPING_S / 2


@pytest.mark.usefixtures("_told")
def test_what_ends_by_itself_says_how(tmp_path):
    ended = run(tmp_path, SLEEPING_S, "/bin/sh", "-c", "exit 3")
    assert (ended.code, ended.late) == (3, False)


def test_one_that_is_broken_off_is_ended_and_leaves_no_thread(tmp_path, monkeypatch):
    """A clock that went on beside it kept porter from ending for two minutes after its limit."""
    begun = []

    def broken_off(pid, _wall_s):
        begun.append(pid)
        raise OutOfTime(Span(0.0))

    monkeypatch.setattr(process, "_ends_within", broken_off)
    begin = time.monotonic()
    with pytest.raises(OutOfTime):
        run(tmp_path, SLEEPING_S, "/bin/sleep", str(SLEEPING_S))
    assert time.monotonic() - begin < SLEEPING_S / 2
    with pytest.raises(ProcessLookupError):
        os.kill(begun[0], 0)
