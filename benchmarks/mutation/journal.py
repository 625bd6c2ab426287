"""Records what became of every mutant, a line each, so that a measurement can be cut and taken up again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from porter.evaluate.model.outcome import Verified

PORT = "port"  # the kind of the entry that says what is judged of the port itself, which must be verified


@dataclass(frozen=True, slots=True)
class Entry:
    """One mutant and its judgement at commit `porter`; `digest` is that of its text, `seed` chose it."""

    operator: str
    target: str
    kind: str
    digest: str
    shown: str
    outcome: str
    because: str
    caveat: str
    seconds: float
    porter: str
    seed: int = 0

    @property
    def key(self) -> tuple[str, str, str]:
        """Returns what no other mutant has."""
        return self.operator, self.target, self.digest

    @property
    def is_verified(self) -> bool:
        """Returns whether porter called the text verified."""
        return self.outcome == Verified.label

    @property
    def is_survivor(self) -> bool:
        """Returns whether porter called a mutant verified."""
        return self.kind != PORT and self.is_verified


def digest_of(text: str) -> str:
    """A short name for a mutant's text."""
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def read(path: Path) -> list[Entry]:
    """The entries so far, of several of one mutant the last; a line that was cut is none."""
    if not path.exists():
        return []
    *lines, cut = path.read_text().split("\n")
    if cut:
        path.write_text("".join(f"{line}\n" for line in lines))
    entries = (Entry(**json.loads(line)) for line in lines)
    return list({entry.key: entry for entry in entries}.values())


def append(path: Path, entries: Iterable[Entry]) -> None:
    """Adds the entries at the end."""
    with path.open("a") as file:
        file.writelines(json.dumps(asdict(entry)) + "\n" for entry in entries)
