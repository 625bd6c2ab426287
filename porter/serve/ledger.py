"""Keeps a server's data on disk: contents by their digest, requests in the order in which they came, their results.

It is one SQLite file: nothing that a client sends names a path. A request that was accepted is written before the
client hears of it, so a server that was killed goes on with its queue. Where a machine loses its power the last of it
may be lost: clients then send it again.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from threading import Lock
from typing import Any

from porter.errors import UsageError, unwritable

_TABLES = """
create table if not exists contents (digest text primary key, content blob not null) without rowid;
create table if not exists jobs (
    number integer primary key, id text unique not null, request blob not null, ends_at real not null,
    state text not null, said text not null default '');
create index if not exists unended on jobs (number) where state in ('queued', 'running');
"""


class JobState(StrEnum):
    """The state of a request. One that has `FAILED` or was `CANCELLED` is evaluated when it is sent again."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    FAILED = "failed"

    @property
    def is_over(self) -> bool:
        """Returns whether nothing more comes of it."""
        return self not in (JobState.QUEUED, JobState.RUNNING)


@dataclass(frozen=True, slots=True)
class Job:
    """A request that was accepted, whose `id` is its digest; it `ends_at` a time of the clock on the wall.

    `said` is the evaluation as JSON where it is done, and the reason where it failed.
    """

    id: str
    request: bytes
    ends_at: float
    state: JobState
    said: str


class Ledger:
    """Reads and writes the file; any thread may ask."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._lock = Lock()

    def keep(self, digest: str, content: bytes) -> None:
        """Keep a content under its digest."""
        self._write("insert or ignore into contents values (?, ?)", digest, content)

    def content(self, digest: str) -> bytes | None:
        """Returns the content of that digest; None where it is not there."""
        row = self._row("select content from contents where digest = ?", digest)
        return None if row is None else bytes(row[0])

    def accept(self, name: str, request: bytes, ends_at: float) -> None:
        """Queue a request behind all others: a new one, or one that was cancelled or has failed."""
        self._write("delete from jobs where id = ? and state in ('cancelled', 'failed')", name)
        self._write(
            "insert or ignore into jobs (id, request, ends_at, state) values (?, ?, ?, 'queued')",
            name,
            request,
            ends_at,
        )

    def job(self, name: str) -> Job | None:
        """Returns the request of that digest; None where it never came."""
        row = self._row("select id, request, ends_at, state, said from jobs where id = ?", name)
        return None if row is None else Job(row[0], bytes(row[1]), row[2], JobState(row[3]), row[4])

    def begin(self, name: str) -> bool:
        """Say that a request is evaluated from now on; returns False where it no longer waits."""
        return self._write("update jobs set state = 'running' where id = ? and state = 'queued'", name) == 1

    def end(self, name: str, state: JobState, said: str = "") -> bool:
        """Say what came of a request; returns False where it was over already, which then stands."""
        over = "update jobs set state = ?, said = ? where id = ? and state in ('queued', 'running')"
        return self._write(over, state.value, said, name) == 1

    def unended(self) -> tuple[Job, ...]:
        """Returns the requests of which nothing came yet, in their order, all of them queued again."""
        self._write("update jobs set state = 'queued' where state = 'running'")
        with self._lock:
            names = self._connection.execute("select id from jobs where state = 'queued' order by number").fetchall()
        return tuple(job for (name,) in names if (job := self.job(name)) is not None)

    def _row(self, query: str, *values: object) -> tuple[Any, ...] | None:
        with self._lock:
            row: tuple[Any, ...] | None = self._connection.execute(query, values).fetchone()
        return row

    def _write(self, change: str, *values: object) -> int:
        with self._lock, self._connection:
            return self._connection.execute(change, values).rowcount


@contextmanager
def ledger(folder: Path) -> Iterator[Ledger]:
    """The ledger in `folder`, which nobody else may read.

    Raises `UsageError` where another server uses it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.chmod(0o700)
        descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise unwritable(folder, error, "choose another --state") from error
    try:
        _lock(folder, descriptor)
        with closing(sqlite3.connect(folder / "ledger.sqlite3", check_same_thread=False)) as connection:
            connection.execute("pragma journal_mode = wal")
            connection.execute("pragma synchronous = normal")  # outlives the process; clients ask again after a crash
            connection.executescript(_TABLES)
            yield Ledger(connection)
    finally:
        os.close(descriptor)


def _lock(folder: Path, descriptor: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UsageError(f"{folder}: another server uses it", "choose another --state") from None
