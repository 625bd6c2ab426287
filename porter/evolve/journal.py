"""A run's folder: its journal, append-only, and the store of what its lines name.

A line is written at once. After a crash, or on a full disk, the last line may be cut short: it is not read, and is
removed before the next is written; what it said follows again from the lines before.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from porter.errors import InputError, UsageError
from porter.evolve.events import FORMAT, VERSION, Closed, Ended, Event, Granted, Opened
from porter.evolve.lines import Line, Lines
from porter.evolve.store import Store

NAME = "journal.jsonl"


@dataclass(frozen=True, slots=True)
class Entry:
    """A line as it stands in the journal, and what it says."""

    number: int
    raw: bytes
    line: Line


def entries(folder: Path) -> Iterator[Entry]:
    """Yields the whole lines of a run.

    Raises:
        InputError: the folder holds no run, one of another version, or a line that says nothing.
    """
    lines = Lines(Store(folder))
    try:
        content = (folder / NAME).read_bytes()
    except OSError as error:
        raise InputError(f"{folder}: there is no search in it: {error.strerror}") from error
    for number, raw in enumerate(content.splitlines(keepends=True), start=1):
        if raw.endswith(b"\n"):
            if number == 1:
                _check_version(folder, raw)
            try:
                entry = Entry(number, raw, lines.read(raw))
            except InputError as error:
                raise InputError(f"{folder / NAME}:{number}: {error.message}") from error
            _check_head(folder, entry)
            yield entry


def _check_head(folder: Path, entry: Entry) -> None:
    event = entry.line.event
    if isinstance(event, Opened) is not (entry.number == 1):
        raise InputError(f"{folder / NAME}:{entry.number}: the first line, and no other, says how the run was opened")


def _check_version(folder: Path, raw: bytes) -> None:
    """Checks the version before anything else of the line is read, since everything else depends on it."""
    try:
        head = json.loads(raw)
    except ValueError:
        return  # which is said where the line is read
    said = (head.get("format"), head.get("version")) if isinstance(head, dict) and "format" in head else None
    if said is not None and said != (FORMAT, VERSION):
        known = f"this porter reads {FORMAT} {VERSION}"
        hint = "read it with the porter that wrote it, or begin another search"
        raise InputError(f"{folder / NAME}: was written by another version ({said[0]} {said[1]}); {known}", hint)


class Journal:
    """Writes lines to a run's folder, as the only process."""

    def __init__(self, folder: Path, descriptor: int) -> None:
        self._lines = Lines(Store(folder))
        self._descriptor = descriptor

    def write(self, event: Event, seconds: float) -> None:
        """Appends a line. At the end of a round it is on the disk, with all lines before it, when this returns."""
        rest = memoryview(self._lines.written(Line(event, seconds)))
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]
        if isinstance(event, Closed | Ended | Granted):
            os.fsync(self._descriptor)


@contextmanager
def journal(folder: Path) -> Iterator[Journal]:
    """Yields the journal of a run, new or old, for appending.

    Raises:
        UsageError: another process writes to it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder / NAME, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        _lock(folder, descriptor)
        content = (folder / NAME).read_bytes()
        os.ftruncate(descriptor, content.rfind(b"\n") + 1)
        yield Journal(folder, descriptor)
    finally:
        os.close(descriptor)


def _lock(folder: Path, descriptor: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise UsageError(f"{folder}: another process continues this run") from error
