"""Processes take the device while something else is done, and each does so once."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import pytest

from porter.errors import MachineError
from porter.evaluate.timing.taking import take_device, taking_device
from porter.measure.lock import DeviceLock
from porter.measure.stages import Stages
from porter.native.session import Session

LONG_S = 20.0


class Beginning:
    """A process that takes the device when it is told to, or cannot."""

    def __init__(self, because: str = "") -> None:
        self.is_ready, self.begun, self._because = False, threading.Event(), because

    def wait(self):
        pass

    def begin(self):
        if self._because:
            raise MachineError(self._because, "")
        self.is_ready = True
        self.begun.set()


@pytest.fixture
def place(tmp_path):
    """A device with a lock, and two processes that have not taken it."""
    return SimpleNamespace(lock=DeviceLock("GPU-0", tmp_path, LONG_S), sessions=[Beginning(), Beginning()])


def test_processes_take_the_device_while_the_block_is_executed(place):
    with taking_device(place, Stages()):
        assert all(session.begun.wait(LONG_S) for session in place.sessions)


def test_nobody_takes_the_device_while_somebody_measures(place):
    measuring = place.lock.turn(1)
    measuring.__enter__().alone()
    with taking_device(place, Stages()):
        time.sleep(0.1)
        assert not any(session.is_ready for session in place.sessions)
        measuring.__exit__(None, None, None)
    assert all(session.is_ready for session in place.sessions)


def test_that_a_process_cannot_take_the_device_is_told_behind_the_block(place):
    place.sessions.append(Beginning("no device"))
    done = []
    with pytest.raises(MachineError, match="no device"), taking_device(place, Stages()):
        done.append(True)
    assert done


def test_where_all_have_the_device_nobody_waits_for_it(place):
    take_device(place, place.sessions)
    with place.lock.alone():
        take_device(place, place.sessions)


class Opened(Session):
    """A session that counts how often its process takes the device."""

    def __init__(self):
        self._turn, self._opening = threading.Lock(), threading.Lock()
        self._child = self._starting = None
        self.opened = 0

    def _started(self):
        return object()

    def _open(self, _child):
        time.sleep(0.05)
        self.opened += 1


def test_a_process_that_two_threads_ask_takes_the_device_once():
    session = Opened()
    threads = [threading.Thread(target=session.begin) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert session.opened == 1
