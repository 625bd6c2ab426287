"""Names that a source uses and no file given to porter defines: they belong to another file of the program.

What never uses them runs. Each gets an address where no memory is, and the executable a table of the names: whoever
calls one, reads or writes it ends there, and the executor says which it was (runtime/signals.cpp).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# Below an executable at a fixed address nothing is mapped; an array has a page before it is taken for its neighbour.
# The executor knows the first address, too, and how far the others lie apart.
_FIRST, _END, _APART = 0x100000, 0x400000, 0x1000
_UNDEFINED = re.compile(r"undefined reference to `(?P<name>.+)'$", re.MULTILINE)
_TABLE = """extern "C" {{ extern const char* const porter_undefined[]; }}
const char* const porter_undefined[] = {{ {names}nullptr }};
"""


def undefined(log: str) -> tuple[str, ...]:
    """The names that the linker's `log` says are undefined, as it spells them, in its order."""
    return tuple(dict.fromkeys(match["name"] for match in _UNDEFINED.finditer(log)))


def placed(symbols: Sequence[str]) -> list[str]:
    """Options that give each of `symbols`, as the linker knows them, its address; none where there are too many."""
    places = range(_FIRST, _END, _APART)
    if len(symbols) > len(places):
        return []
    return [f"-Wl,--defsym={symbol}={place:#x}" for symbol, place in zip(symbols, places, strict=False)]


def table(names: Sequence[str]) -> str:
    """C++ text that tells the executor what stands at the addresses: `names` as the user reads them."""
    quoted = "".join('"' + name.replace("\\", "\\\\").replace('"', '\\"') + '", ' for name in names)
    return _TABLE.format(names=quoted)
