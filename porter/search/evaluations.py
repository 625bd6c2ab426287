"""Keeps the evaluations of a search whole, beside its journal, which has what decisions follow from.

RUN/evaluations.jsonl    a line for each that came, in the order in which they did: a `Kept`, as the schema describes

A candidate that is measured again has another line, and so has one whose evaluation a killed process no longer counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from porter.errors import InputError, unwritable
from porter.evolve.scoring.evaluation import Evaluation
from porter.launch_plan.wire import WireError, decode, encode_portable

NAME = "evaluations.jsonl"


@dataclass(frozen=True, slots=True)
class Kept:
    """An evaluation of the candidate with this digest; `repetition` is 0 for its first."""

    candidate: str
    repetition: int
    evaluation: Evaluation


@dataclass(frozen=True)
class EvaluationFile:
    """The file of evaluations in a search's folder, to which several threads may add."""

    folder: Path
    _lock: Lock = field(default_factory=Lock, compare=False)

    def keep(self, candidate: str, repetition: int, evaluation: Evaluation) -> None:
        """Adds a line, behind the end of one that a killed process has left. Raises `InputError` where it cannot."""
        line = encode_portable(Kept(candidate, repetition, evaluation)).encode() + b"\n"
        place = self.folder / NAME
        with self._lock:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                with place.open("a+b") as file:
                    if file.tell() and _last_byte(place) != b"\n":
                        line = b"\n" + line
                    file.write(line)
            except OSError as error:
                raise unwritable(place, error) from error


def kept_evaluations(folder: Path) -> Iterator[Kept]:
    """Yields the evaluations of the search in `folder`; none where it kept none, and no line that was cut short.

    Raises `InputError` where the file cannot be read.
    """
    try:
        content = (folder / NAME).read_bytes()
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError(f"{folder / NAME}: cannot be read: {error.strerror}") from error
    for line in content.splitlines():
        try:
            yield decode(Kept, line)
        except WireError:
            continue


def _last_byte(place: Path) -> bytes:
    with place.open("rb") as file:
        file.seek(-1, 2)
        return file.read(1)
