"""Addresses of an executable as lines of the user's files."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

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

    Needs addr2line; without it nothing is found, and faults stay without a line.
    """
    wanted = sorted(set(addresses))
    if not wanted or shutil.which("addr2line") is None:
        return {}
    command = ["addr2line", "-e", program, "-i", "-f", "-a", *(hex(address - 1) for address in wanted)]
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
