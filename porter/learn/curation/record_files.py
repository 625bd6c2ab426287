"""Records of a stage in a file, a line of JSON each: written whole, or line by line as they come."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from threading import Lock
from typing import TypeVar

from porter.errors import InputError, unwritable
from porter.learn.records import plain, record
from porter.whole_file import whole_file

Record = TypeVar("Record")


def write_records(records: Iterable[object], file: Path) -> None:
    """Writes `records` to `file`, whole or not at all. Raises `InputError` or `MachineError` where that fails."""
    try:
        with whole_file(file) as fresh, fresh.open("w", encoding="utf-8", errors="backslashreplace") as out:
            for one in records:
                out.write(json.dumps(plain(one), sort_keys=True) + "\n")
    except OSError as error:
        raise unwritable(file, error) from error


def read_records(kind: type[Record], file: Path) -> list[Record]:
    """Returns the records of `file`; none where there is no such file. A last line that was cut short is left out.

    Raises `InputError` for a line that is no such record.
    """
    if not file.exists():
        return []
    found = []
    lines = file.read_text("utf-8").split("\n")
    for number, line in enumerate(lines[:-1], start=1):
        try:
            found.append(record(kind, json.loads(line)))
        except (ValueError, AttributeError) as error:
            raise InputError(f"{file}:{number}: no record of a curation: {error}", "remove the file") from error
    return found


class Appending:
    """A file that grows by a record at a time, from several threads."""

    def __init__(self, file: Path, held: Iterable[object]) -> None:
        """Begins with the records that are `held` already, so that a line that was cut short is gone."""
        write_records(held, file)
        self._file = file
        self._lock = Lock()

    def add(self, one: object) -> None:
        """Writes a line at once."""
        text = json.dumps(plain(one), sort_keys=True) + "\n"
        with self._lock, self._file.open("a", encoding="utf-8", errors="backslashreplace") as out:
            out.write(text)
