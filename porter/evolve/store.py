"""Keeps what is too long for a line of a journal: candidates and texts, each under the digest of its content.

candidates/<digest>/<file> as they are called texts/<digest>.txt prompts, replies, memories
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from porter.errors import InputError
from porter.evolve.candidate import Candidate, File

_NAME = re.compile(r"(?!\.)[\w.+-]{1,100}(/(?!\.)[\w.+-]{1,100}){0,7}", re.ASCII)


def keepable(candidate: Candidate) -> bool:
    """Returns whether files lie within a folder, beside each other: a model may have written anything."""
    names = [file.name for file in candidate.files]
    folders = {str(parent) for name in names for parent in PurePosixPath(name).parents}
    return (
        bool(names)
        and all(_NAME.fullmatch(name) for name in names)
        and len(set(names)) == len(names)
        and folders.isdisjoint(names)
        and all(_is_unicode(file.text) for file in candidate.files)
    )


def _is_unicode(text: str) -> bool:
    """Returns whether `text` is Unicode: half of a surrogate pair alone is not, and no encoding can hold it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class Store:
    """Keeps candidates and texts in a run's folder. Whatever is there is whole: it is put in its place at once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def keep(self, candidate: Candidate) -> str:
        """Writes a candidate, if it is not there; returns its digest."""
        place = self.folder / "candidates" / candidate.digest
        if not place.exists():
            making = place.with_name(f".making-{candidate.digest}")
            shutil.rmtree(making, ignore_errors=True)  # of a process that was killed
            for file in candidate.files:
                _write(making / file.name, file.text.encode())
            making.rename(place)
        return candidate.digest

    def files(self, digest: str, names: Sequence[str]) -> tuple[File, ...]:
        """Returns the files of a candidate, in their order.

        Raises:
            InputError: they are gone, or were changed.
        """
        place = self.folder / "candidates" / digest
        try:
            return tuple(File(name, (place / name).read_bytes().decode()) for name in names)
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{place}: cannot be read: {error}") from error

    def keep_text(self, text: str) -> str:
        """Writes a text, if it is not there; returns its digest, which is empty for the empty text."""
        if not text:
            return ""
        content = text.encode(errors="surrogatepass")
        digest = hashlib.blake2b(content, digest_size=8).hexdigest()
        place = self.folder / "texts" / f"{digest}.txt"
        if not place.exists():
            making = place.with_name(f".making-{digest}")
            _write(making, content)
            making.rename(place)
        return digest

    def text(self, digest: str) -> str:
        """Returns a text that was kept.

        Raises:
            InputError: it is gone.
        """
        if not digest:
            return ""
        place = self.folder / "texts" / f"{digest}.txt"
        try:
            return place.read_bytes().decode(errors="surrogatepass")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{place}: cannot be read: {error}") from error


def _write(place: Path, content: bytes) -> None:
    """Writes to the disk, not only to its cache: the journal's line, which comes later, must not outlive it."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with place.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
