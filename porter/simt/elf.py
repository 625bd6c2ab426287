"""Reads what porter asks of an executable that it built: its functions and variables, and the contents of a section."""

from __future__ import annotations

import shutil
import struct
import subprocess
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_PLACE = struct.Struct("<QQq")  # where an address goes into an object
_OF_DEBUGGERS = (".rela.debug", ".rela.eh_frame")
_SYMBOLS = 2
_VARIABLE, _FUNCTION, _RESOLVER = 1, 2, 10


@dataclass(frozen=True, slots=True)
class Elf:
    """A 64-bit executable or object: `sections` by name, symbols by name with address and size in bytes.

    `undefined` are symbols that it refers to and does not have, `resolvers` functions that choose others at its start.
    """

    sections: dict[str, bytes]
    functions: dict[str, tuple[int, int]]
    variables: dict[str, tuple[int, int]]
    undefined: tuple[str, ...]
    resolvers: tuple[str, ...]

    def function_at(self, address: int) -> str:
        """The function whose code holds `address`; empty where none does."""
        return _at(self.functions, address)

    def variable_at(self, address: int) -> str:
        """The variable at `address`; empty where there is none."""
        return _at(self.variables, address)


def _at(symbols: dict[str, tuple[int, int]], address: int) -> str:
    ordered = sorted((start, start + size, name) for name, (start, size) in symbols.items() if start <= address)
    index = bisect_right(ordered, (address, 1 << 64, "")) - 1
    while index >= 0 and address - ordered[index][0] < 1 << 20:
        if address < ordered[index][1]:
            return ordered[index][2]
        index -= 1
    return ""


@lru_cache(maxsize=64)
def read_elf(path: str) -> Elf:
    """The executable at `path`, which is never written again."""
    return parse_elf(Path(path))


def parse_elf(path: Path) -> Elf:
    """The executable or object at `path`. Raises `ValueError` for any other kind of file."""
    data = path.read_bytes()
    if not data.startswith(b"\x7fELF\x02\x01"):
        raise ValueError(f"{path} is not a 64-bit executable")
    head = _HEADER.unpack_from(data)
    at, size, count, names_at = head[6], head[11], head[12], head[13]
    heads = [_SECTION.unpack_from(data, at + size * i) for i in range(count)]
    names = _content(data, heads[names_at])
    contents = {_text(names, h[0]): _content(data, h) for h in heads}
    functions: dict[str, tuple[int, int]] = {}
    variables: dict[str, tuple[int, int]] = {}
    undefined, resolvers = list[str](), list[str]()
    used = _used(contents)
    for section in (h for h in heads if h[1] == _SYMBOLS):
        texts = _content(data, heads[section[6]])
        for number, (name_at, info, _, where, value, extent) in enumerate(_SYMBOL.iter_unpack(_content(data, section))):
            found = {_FUNCTION: functions, _VARIABLE: variables}.get(info & 15)
            if not where and number in used:
                undefined.append(_text(texts, name_at))
            elif info & 15 == _RESOLVER:
                resolvers.append(_text(texts, name_at))
            elif found is not None and where:
                found[_text(texts, name_at)] = (value, extent)
    return Elf(contents, functions, variables, tuple(undefined), tuple(resolvers))


def _used(sections: Mapping[str, bytes]) -> frozenset[int]:
    """The numbers of symbols that code and data of an object refer to."""
    places = (s for name, s in sections.items() if name.startswith(".rela.") and not name.startswith(_OF_DEBUGGERS))
    return frozenset(info >> 32 for section in places for _, info, _ in _PLACE.iter_unpack(section))


def _content(data: bytes, section: tuple[int, ...]) -> bytes:
    no_bits = 8
    return b"" if section[1] == no_bits else data[section[4] : section[4] + section[5]]


def _text(table: bytes, at: int) -> str:
    return table[at : table.index(b"\0", at)].decode("utf-8", "replace")


def demangled(symbols: Sequence[str]) -> list[str]:
    """The symbols as C++ spells them; as they are where nothing here can tell."""
    if not symbols or shutil.which("c++filt") is None:
        return list(symbols)
    done = subprocess.run(["c++filt"], input="\n".join(symbols), capture_output=True, text=True, check=False)
    return done.stdout.splitlines()
