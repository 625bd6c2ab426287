"""A folder of the cache that does not grow without bound: what nobody has used for long goes, and what is too much.

Each entry is a folder named by the digest of all it depends on, so none is ever out of date; its modification time is
its last use. An entry is made under a lock, beside its place, and moved there whole: processes that make the same one
wait for each other. Whoever uses an entry marks it while none may be removed, and what was used lately never is.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_DAY_S = 86_400.0
_USED_LATELY_S = _DAY_S  # a search may come back to what it built hours ago
_UNUSED_S = 30 * _DAY_S
_LOOK_EVERY_S = 600.0
_LOCK, _MAKING, _GONE = ".lock", ".making-", ".gone-"


@dataclass(frozen=True, slots=True)
class BoundedFolder:
    """The entries in `folder`, of about `most_bytes` together; those used within `used_lately_s` stay in any case."""

    folder: Path
    most_bytes: int
    used_lately_s: float = _USED_LATELY_S
    look_every_s: float = _LOOK_EVERY_S

    def holds(self, key: str) -> bool:
        """Returns whether the entry is there; if so it is now in use."""
        place = self.folder / key
        try:
            with _locked(self.folder / _LOCK, fcntl.LOCK_SH):
                os.utime(place)
        except FileNotFoundError:
            return False
        except OSError:  # a folder that this user only reads; nor does anything go from there
            return place.exists()
        return True

    def made(self, key: str, make: Callable[[Path], None]) -> Path:
        """The entry; `make` fills a folder for it where it is not there yet."""
        if not self.holds(key):
            self.folder.mkdir(parents=True, exist_ok=True)
            with _locked(self.folder / f"{key}{_LOCK}", fcntl.LOCK_EX):
                if not self.holds(key):
                    with self.making() as folder:
                        make(folder)
                        self.put(folder, key)
        return self.folder / key

    @contextmanager
    def making(self) -> Iterator[Path]:
        """An empty folder beside the entries, for as long as it takes to fill one."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.folder, prefix=_MAKING) as name:
            folder = Path(name) / "entry"
            folder.mkdir()
            yield folder

    def put(self, folder: Path, key: str) -> None:
        """Makes `folder` the entry, and room for it; where another process was first, its work stands."""
        place = self.folder / key
        try:
            folder.rename(place)
        except OSError:
            if not place.exists():
                raise
        self._make_room()

    def _make_room(self) -> None:
        """Removes what is too much or too old; to look through thousands of entries takes a while."""
        stamp = self.folder / ".looked"
        if stamp.exists() and 0 <= time.time() - stamp.stat().st_mtime < self.look_every_s:
            return
        stamp.touch()
        with _locked(self.folder / _LOCK, fcntl.LOCK_EX):
            gone = [self._taken_away(place) for place in self._too_much()]
        for place in gone:
            shutil.rmtree(place, ignore_errors=True)

    def _too_much(self) -> list[Path]:
        """The entries that go, and what processes that were killed left behind."""
        entries = sorted(filter(None, map(_last_use, self.folder.iterdir())))
        sizes = {place: folder_bytes(place) for _, place in entries}
        left, now, chosen = sum(sizes.values()), time.time(), []
        for used, place in entries:
            if now - used > self.used_lately_s and (left > self.most_bytes or now - used > _UNUSED_S):
                chosen.append(place)
                left -= sizes[place]
        return chosen

    def _taken_away(self, place: Path) -> Path:
        """Returns where the entry is now, which nobody looks for."""
        gone = Path(tempfile.mkdtemp(dir=self.folder, prefix=_GONE))
        with suppress(FileNotFoundError):  # what is left behind by others they may remove, too
            place.rename(gone / "entry")
            place.with_name(f"{place.name}{_LOCK}").unlink(missing_ok=True)
        return gone


def _last_use(place: Path) -> tuple[float, Path] | None:
    """Returns when an entry was used; None for a file, and for what is gone meanwhile."""
    with suppress(FileNotFoundError):
        found = place.stat()
        return (found.st_mtime, place) if stat.S_ISDIR(found.st_mode) else None
    return None


def folder_bytes(folder: Path) -> int:
    """The size of all files below `folder`, from which others may take theirs at any moment."""
    total = 0
    for at, _, names in os.walk(folder):  # skips a folder that is gone when its turn comes
        for name in names:
            with suppress(FileNotFoundError):
                total += Path(at, name).lstat().st_size
    return total


@contextmanager
def _locked(path: Path, how: int) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, how)
        yield
    finally:
        os.close(descriptor)
