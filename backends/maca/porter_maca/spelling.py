"""Writes MACA's spelling of the executor's CUDA names, as a header of `#define`s.

`python -m porter_maca.spelling` writes the header from `spelling.toml` and the names that the executor's headers
define: every existing name, and no other.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from porter.dialect import INCLUDE

HEADER = Path(__file__).parent / "include" / "dialect" / "spelling.h"

_NAME = re.compile(
    r"\b(cuda[A-Z]\w+|cu[A-Z]\w+|CU[a-z]\w+|CUDA_(?:R_|C_|ERROR|SUCCESS)\w*|CU_\w+|CUDART_[A-Z]\w*|curand\w+|CURAND_\w+"
    r"|cublas\w+|CUBLAS_\w+|make_cu\w+|__nv_(?:bfloat16|fp8|cvt)\w+|__nv_bfloat16|nv_bfloat16\w*)\b(?!\s*\.\w)"
)
# Pieces of pasted names, include guards and versions are no names of the language.
_PIECE = re.compile(r"_$|^cudaDevAttr$|^CUDART_(VERSION|CB)$|_st$")
_ROW = re.compile(r"\bX\((\w+),")
_PREAMBLE = """\
// MACA's and its other brand's spelling of the names these headers define.
//
// Written by `python -m porter_maca.spelling` from spelling.toml.
#pragma once

"""


@dataclass(frozen=True, slots=True)
class Spelling:
    """The table: prefix rules, exact names, macros that list names, pasted names, and the other brand's prefixes."""

    rules: tuple[tuple[str, str], ...]
    names: dict[str, tuple[str, ...]]
    listed: dict[str, str]
    pasted: tuple[str, ...]
    brand: tuple[tuple[str, str], ...]

    def spellings(self, cuda: str) -> tuple[str, ...]:
        """Returns MACA's names for `cuda`, each followed by the other brand's; empty when MACA has no other name."""
        exact = self.names.get(cuda)
        ours = exact if exact is not None else tuple(self._by_rule(cuda))
        return tuple(name for maca in ours for name in (maca, self._other_brand(maca)))

    def _by_rule(self, cuda: str) -> list[str]:
        matching = [rule for rule in self.rules if cuda.startswith(rule[0])]
        if not matching:
            return []
        prefix, maca = max(matching, key=lambda rule: len(rule[0]))
        return [maca + cuda.removeprefix(prefix)]

    def _other_brand(self, maca: str) -> str:
        prefix, other = max((p for p in self.brand if maca.startswith(p[0])), key=lambda p: len(p[0]))
        return other + maca.removeprefix(prefix)


def load_spelling() -> Spelling:
    """Returns the table of `spelling.toml`."""
    table = tomllib.loads(Path(__file__).with_name("spelling.toml").read_text("utf-8"))
    return Spelling(
        tuple((rule["cuda"], rule["maca"]) for rule in table["rule"]),
        {cuda: tuple(maca) for cuda, maca in table["names"].items()},
        {row["macro"]: row["prefix"] for row in table["listed"]},
        tuple(table["pasted"]),
        tuple(table["brand"].items()),
    )


def defined_names(headers: Path, spelling: Spelling) -> list[str]:
    """Returns the CUDA names that the shim headers under `headers` define or use, sorted."""
    names: set[str] = set(spelling.pasted)
    for path in sorted(headers.glob("*.h")):
        text = re.sub(r"//[^\n]*|/\*.*?\*/|\"[^\"\n]*\"", "", path.read_text(), flags=re.DOTALL)
        names |= {name for name in _NAME.findall(text) if not _PIECE.search(name)}
        names |= {prefix + row for macro, prefix in spelling.listed.items() for row in _rows(text, macro)}
    return sorted(names)


@cache
def executor_names() -> frozenset[str]:
    """Returns the CUDA names that the executor knows, which compile there in MACA sources, too."""
    return frozenset(defined_names(_headers(), load_spelling()))


def header_text(headers: Path) -> str:
    """Returns the header that defines MACA's spelling of every name under `headers`."""
    spelling = load_spelling()
    # Sorted, so that of a driver's and a runtime's function with one MACA name the runtime's comes last and stays.
    defines = {maca: cuda for cuda in defined_names(headers, spelling) for maca in spelling.spellings(cuda)}
    return _PREAMBLE + "".join(f"#define {maca} {cuda}\n" for maca, cuda in sorted(defines.items()) if maca != cuda)


def _rows(text: str, macro: str) -> list[str]:
    """Returns the first words of the rows of `#define macro(X) X(word, ...) ...`."""
    found = re.search(rf"#define {macro}\(X\)((?:.*\\\n)*.*)", text)
    return _ROW.findall(found[1]) if found else []


def _headers() -> Path:
    return INCLUDE / "porter"


def main() -> None:
    """Write the header into the package."""
    HEADER.write_text(header_text(_headers()), "utf-8")


if __name__ == "__main__":
    main()
