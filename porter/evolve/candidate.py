"""Defines a candidate of a search: files, where they come from, and an identity that is their content."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

Value = int | str


@dataclass(frozen=True, slots=True)
class File:
    """A file of a candidate, by its name in the candidate's folder."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a candidate: its proposer, the digests of its parents, and in words what was done to them."""

    proposer: str
    parents: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """Files in the language of a target; the first is the one that is called.

    `point` is its place in the space of its search, if it came from one; else it is empty. The `digest` is the same for
    the same files, whoever proposed them: 16 hexadecimal digits.
    """

    files: tuple[File, ...]
    origin: Origin
    point: Mapping[str, Value] = field(default_factory=dict)
    digest: str = field(init=False, repr=False, compare=False)  # looked at for all that wait, whenever one is told of

    def __post_init__(self) -> None:
        parts = (part.encode(errors="surrogatepass") for file in self.files for part in (file.name, file.text))
        object.__setattr__(self, "digest", hashlib.blake2b(b"\0".join(parts), digest_size=8).hexdigest())
