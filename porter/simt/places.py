"""Addresses of an executable as lines of the user's files."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

_LOCATION = re.compile(r"^(?P<file>.*?):(?P<line>\d+)(?: \(discriminator \d+\))?$")
# A struct's copy or move constructor, which most often nobody wrote: what it accesses is its caller's doing.
_COPY = re.compile(r"^_ZN.*C\dE(?:RK|O)S\d*_$")


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file."""

    file: str
    line: int


def find_places(program: str, addresses: Iterable[int], own: frozenset[str]) -> Mapping[int, Place]:
    """For each return address in `program`, the innermost place in a file of `own`; missing where there is none.

    Needs addr2line; without it nothing is found, and faults stay without a line. It is asked once for each address: of
    an original with many questions runs that break at the same line took an eighth of all processor time.
    """
    wanted, known = sorted(set(addresses)), _known(program, own)
    new = [address for address in wanted if address not in known]
    if new and shutil.which("addr2line") is not None:
        found = _asked(program, new, own)
        known.update((address, found.get(address)) for address in new)
    return {address: place for address in wanted if (place := known.get(address)) is not None}


@lru_cache(maxsize=64)
def _known(program: str, own: frozenset[str]) -> dict[int, Place | None]:
    """The places that were found before, None where there is none."""
    del program, own  # they only tell one dictionary from another
    return {}


def _asked(program: str, addresses: Iterable[int], own: frozenset[str]) -> Mapping[int, Place]:
    command = ["addr2line", "-e", program, "-i", "-f", "-a", *(hex(address - 1) for address in addresses)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return _parse(done.stdout, own)


def _parse(text: str, own: frozenset[str]) -> dict[int, Place]:
    found: dict[int, Place] = {}
    address, function = 0, ""
    for line in text.splitlines():
        place = _LOCATION.match(line)
        if line.startswith("0x"):
            address = int(line, 16) + 1
        elif place is None:
            function = line
        elif address not in found and place["line"] != "0" and not _COPY.match(function):
            file = max((name for name in own if _is_named(place["file"], name)), key=len, default="")
            if file:
                found[address] = Place(file, int(place["line"]))
    return found


def _is_named(file: str, name: str) -> bool:
    """Returns whether `file` is the user's `name`: addr2line puts the folder of the build before a relative one."""
    return file == name or file.endswith(f"/{name}")
