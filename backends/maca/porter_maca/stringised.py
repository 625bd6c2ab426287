"""Finds texts that a source's macros make of its tokens: `#x`. Some differ with every compiler.

Where an argument is expanded first, a name that headers define as a macro gives away whose headers they are; and where
host code only plans, kernels and launches differ from the source.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from porter.source.lexer import TokenKind, inside_directive, tokens
from porter.source_text import Source
from porter_maca.declared import declared
from porter_maca.pasted import expanded, without_includes

_MAKES_TEXT = re.compile(
    r"^[ \t]*(?:#|%:)[ \t]*define\b(?:.*\\\n)*?.*?(?<![#%:])(?:#|%:)(?![#%:])[ \t]*[A-Za-z_]\w*", re.MULTILINE
)
_OF_DEVICES = re.compile(r"<<<|\b__(?:global|device|shared|host|constant|launch_bounds)__\b|\basm\b|\b__asm__\b")
_KEYWORDS = """
alignas alignof auto bool char char16_t char32_t class const constexpr decltype double enum explicit false float int
long namespace noexcept nullptr operator short signed sizeof static struct template this true typename unsigned using
void volatile wchar_t std size_t
"""


@dataclass(frozen=True, slots=True)
class Stringised:
    """A text that `source` makes of `name`, whose first macro that makes texts lies at `start`."""

    source: Source
    name: str
    start: int
    end: int


def stringised(sources: Iterable[Source]) -> Iterator[Stringised]:
    """Yields those of each source that differ from compiler to compiler; none where there is no preprocessor."""
    files = tuple(sources)
    if shutil.which("g++") is None:
        return
    own = declared(source.text for source in files)
    free = frozenset(_KEYWORDS.split()) | own.functions | own.others
    for source in files:
        if place := _MAKES_TEXT.search(source.text):
            for name in sorted(_telling(source.text, free)):
                yield Stringised(source, name, place.start(), place.end())


def _telling(text: str, free: frozenset[str]) -> set[str]:
    """Returns texts of macros that name devices, and names in them that would be expanded before."""
    bare = without_includes(text)
    made = _strings(expanded(bare)) - _strings(bare)
    found = {match[0] for string in made for match in _OF_DEVICES.finditer(string)}
    names = {word for string in made for word in re.findall(r"\b[A-Za-z_]\w*", string)} - free
    other = _strings(expanded(bare, {name: f"{name}_" for name in names})) if names else made
    return found | {name for name in names if any(re.search(rf"\b{name}_(?!\w)", string) for string in other - made)}


def _strings(text: str) -> set[str]:
    """Returns the literals of `text`, including those of its macros."""
    found = set[str]()
    for token in tokens(text):
        inner = inside_directive(token, text) if token.kind is TokenKind.DIRECTIVE else (token,)
        found.update(t.text for t in inner if t.kind is TokenKind.STRING)
    return found
