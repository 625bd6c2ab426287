"""Lets processes take the device, several at once, and while something is done that needs none.

To take it a process needs 1.2 s, and up to 3 s beside others who do the same. Where each did so when it was first
asked, 60 of 105 holds of the device were for that, and others waited for each (H200, 20 operators at once).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from porter.measure.stages import Stage, Stages
from porter.native.place import Place
from porter.native.session import Session


@contextmanager
def taking_device(place: Place, stages: Stages) -> Iterator[None]:
    """Lets all sessions of `place` take the device while the block is executed; at its end they have it.

    Raises `MachineError` where one of them cannot.
    """
    with ThreadPoolExecutor(1) as beside:
        taken = beside.submit(take_device, place, tuple(place.sessions))
        yield
        with stages.of(Stage.WAIT):
            taken.result()


def take_device(place: Place, sessions: Collection[Session]) -> None:
    """Lets those of `sessions` that have not taken the device do so, all at once, while nobody measures."""
    waiting = [session for session in sessions if not session.is_ready]
    for session in waiting:
        session.wait()
    if waiting:
        with place.lock.shared(), ThreadPoolExecutor() as beside:
            list(beside.map(lambda session: session.begin(), waiting))
