"""The lock of a device, across processes."""

from __future__ import annotations

import fcntl
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from porter.errors import MachineError
from porter.measure.lock import SLOTS, DeviceLock

HOLDER = """
import sys
from pathlib import Path
from porter.measure.lock import DeviceLock
with getattr(DeviceLock("GPU-1", Path(sys.argv[1]), 1.0), sys.argv[2])():
    print("held", flush=True)
    sys.stdin.read()
"""
BRIEF_S, LONG_S = 0.05, 20.0


@pytest.fixture
def lock(tmp_path):
    """That of GPU-1, for whoever waits no longer than the given seconds."""
    return lambda patience_s=BRIEF_S: DeviceLock("GPU-1", tmp_path, patience_s)


@pytest.fixture
def holder(tmp_path, request):
    """Another process that holds GPU-1 as the test says until its standard input ends."""
    command = [sys.executable, "-c", HOLDER, str(tmp_path), request.param]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


alone, shared = (pytest.mark.parametrize("holder", [how], indirect=True) for how in ("alone", "shared"))


@alone
@pytest.mark.usefixtures("holder")
@pytest.mark.parametrize("how", ["alone", "shared"])
def test_a_device_that_another_process_measures_on_is_not_given(lock, how):
    with pytest.raises(MachineError, match="others have been using"), getattr(lock(), how)():
        pass


@shared
@pytest.mark.usefixtures("holder")
def test_nobody_measures_beside_others(lock):
    with pytest.raises(MachineError, match="others have been using"), lock().alone():
        pass


@shared
@pytest.mark.usefixtures("holder")
def test_others_work_beside_others_as_long_as_there_are_seats(lock):
    with ExitStack() as held:
        for _ in range(SLOTS - 1):
            held.enter_context(lock().shared())
        with pytest.raises(MachineError), lock().shared():
            pass


def test_whoever_finds_too_few_seats_leaves_them_to_others(lock):
    with ExitStack() as held:
        for _ in range(SLOTS - 2):
            held.enter_context(lock().shared())
        with pytest.raises(MachineError), lock().shared(3):
            pass
        held.enter_context(lock().shared(2))
        with pytest.raises(MachineError), lock().shared():
            pass


def _sits_down(lock: DeviceLock) -> bool:
    try:
        with lock.shared():
            return True
    except MachineError:
        return False


@shared
def test_nobody_sits_down_while_somebody_waits_to_measure(lock, holder):
    measured = threading.Event()

    def measure() -> None:
        with lock(LONG_S).alone():
            measured.set()

    waiting = threading.Thread(target=measure)
    waiting.start()
    while _sits_down(lock()):  # until the other thread waits
        assert not measured.is_set()
    holder.kill()
    waiting.join()
    assert measured.is_set()


def test_somebody_sits_down_where_others_measure_one_after_the_other(lock):
    seated = threading.Event()

    def measure() -> None:
        while not seated.is_set():
            with lock(LONG_S).alone():
                seated.wait(BRIEF_S)
            seated.wait(BRIEF_S)  # as long as it takes to make the next candidate ready

    measuring = [threading.Thread(target=measure) for _ in range(3)]
    for thread in measuring:
        thread.start()
    try:
        with lock(LONG_S).shared():
            pass
    finally:
        seated.set()
        for thread in measuring:
            thread.join()


def _begun(lock: DeviceLock, how: str, told: list[str], until: threading.Event) -> threading.Thread:
    def work() -> None:
        with getattr(lock, how)():
            told.append(how)
            until.wait()

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def _is_waited_for(folder: Path) -> bool:
    """Returns whether somebody waits to measure."""
    with (folder / "porter-GPU-1-queue.lock").open() as queue:
        try:
            fcntl.flock(queue, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


@alone
def test_who_waits_to_measure_goes_before_who_has_just_come_to_work(lock, holder, tmp_path):
    told: list[str] = []
    until = threading.Event()
    threads = [_begun(lock(LONG_S), how, told, until) for how in ("alone", "shared", "shared")]
    while not _is_waited_for(tmp_path):
        time.sleep(BRIEF_S / 10)
    holder.kill()
    until.set()
    for thread in threads:
        thread.join()
    assert told == ["alone", "shared", "shared"]


def test_who_waits_to_work_begins_beside_the_first_of_them(lock, monkeypatch):
    monkeypatch.setattr("porter.measure.lock._YIELDS_S", 4 * BRIEF_S)
    told: list[str] = []
    ends, until = threading.Event(), threading.Event()
    measuring = _begun(lock(LONG_S), "alone", told, ends)
    while not told:
        until.wait(BRIEF_S)
    waiting = _begun(lock(LONG_S), "alone", told, until)
    working = [_begun(lock(LONG_S), "shared", told, until)]
    until.wait(5 * BRIEF_S)  # this one has waited for long
    working += [_begun(lock(LONG_S), "shared", told, until) for _ in range(3)]
    ends.set()
    measuring.join()
    # Whoever looks first begins. Nobody ends before `until`, so that those who work are all there, or none is.
    deadline = time.monotonic() + LONG_S
    while len(told) < (5 if told[1:2] == ["shared"] else 2) and time.monotonic() < deadline:
        until.wait(BRIEF_S)
    so_far = list(told)
    until.set()
    for thread in (waiting, *working):
        thread.join()
    assert so_far in (["alone", *4 * ["shared"]], ["alone", "alone"])
    assert len(told) == 6


def _until(is_so) -> bool:
    """Waits until something is so, and returns whether it ever was."""
    deadline = time.monotonic() + LONG_S
    while not is_so() and time.monotonic() < deadline:
        time.sleep(BRIEF_S / 10)
    return is_so()


def test_what_needs_much_memory_begins_before_what_needs_little(lock, monkeypatch):
    monkeypatch.setattr("porter.measure.lock._JOINS_S", 2.0)
    monkeypatch.setattr("porter.measure.lock._LARGE_FIRST_S", 1.0)
    told: list[str] = []
    ends, until = threading.Event(), threading.Event()

    def work(slots: int) -> None:
        with lock(LONG_S).shared(slots):
            told.append(str(slots))
            until.wait()

    measuring = _begun(lock(LONG_S), "alone", told, ends)
    assert _until(lambda: told)
    working = [threading.Thread(target=work, args=(slots,)) for slots in (*5 * [3], 12)]
    for thread in working:
        thread.start()
    time.sleep(2 * BRIEF_S)
    ends.set()
    measuring.join()
    assert _until(lambda: len(told) == 3)  # the first of those who look, and the one with 12 seats
    time.sleep(4 * BRIEF_S)
    so_far = list(told)
    until.set()
    for thread in working:
        thread.join()
    assert "12" in so_far


def test_a_measurement_prepares_beside_others_and_waits_for_them_to_be_alone(lock):
    is_alone, until = threading.Event(), threading.Event()
    working = _begun(lock(LONG_S), "shared", told := [], until)
    assert _until(lambda: told)

    def measure() -> None:
        with lock(LONG_S).turn(2) as turn:
            told.append("prepares")
            turn.alone()
            is_alone.set()

    measuring = threading.Thread(target=measure)
    measuring.start()
    assert _until(lambda: "prepares" in told)
    assert not _sits_down(lock())
    assert not is_alone.is_set()
    until.set()
    working.join()
    measuring.join()
    assert is_alone.is_set()


def test_the_next_measurement_prepares_while_the_last_one_shares(lock):
    with ExitStack() as held:
        first = held.enter_context(lock().turn(2))
        first.alone()
        with pytest.raises(MachineError), lock().turn(2):
            pass
        first.share()
        second = held.enter_context(lock().turn(2))
        with pytest.raises(MachineError):
            second.alone()


def test_a_measurement_with_too_little_room_waits_for_it(lock):
    with ExitStack() as held:
        first = held.enter_context(lock().turn(10))
        first.alone()
        first.share()
        with pytest.raises(MachineError), lock().turn(10):
            pass
        held.enter_context(lock().shared(6))


@alone
@pytest.mark.usefixtures("holder")
def test_another_device_is_free(tmp_path):
    with DeviceLock("GPU-2", tmp_path, BRIEF_S).alone():
        pass


@alone
def test_the_lock_of_a_process_that_was_killed_is_free(lock, holder):
    holder.kill()
    holder.wait()
    with lock(5.0).alone():
        pass


@pytest.mark.parametrize("how", ["alone", "shared"])
def test_the_lock_is_given_back(lock, how):
    for _ in range(2 * SLOTS):
        with getattr(lock(), how)():
            pass


def test_any_user_may_open_the_lock(lock, tmp_path):
    with lock().alone():
        assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o666}
