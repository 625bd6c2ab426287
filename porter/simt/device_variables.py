"""Device variables where no host code stands beside them: that somebody writes them, the compiler has to be told.

The host code that gives `__constant__ float scale` its value is in another executable. Here the compiler would see a
variable that nobody writes, and put zero in its place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from porter.source.edit import Edit, apply_edits
from porter.source.lexer import Token, TokenKind, match_bracket, significant, tokens
from porter.source_text import Source

_QUALIFIERS = frozenset(("__device__", "__constant__", "__managed__"))
_WITH_BRACKETS = frozenset(("__align__", "__builtin_align__", "__attribute__", "alignas", "decltype"))
_TYPES = frozenset(("struct", "class", "union", "enum", "using", "typedef"))
_WRITTEN = " __attribute__((used))"
_GUARD = "\t.zero\t4096\n"
_VARIABLE = r"^(\t\.section\t\.(?:data|bss)\.\S+\n(?:\t\.align \d+\n)?)(?=\t\.type\t\S+, @object$)"
GUARDING = (_VARIABLE, _GUARD)  # how, for keys of caches


def with_variables(file: Source) -> Source:
    """`file` with its device variables marked as written elsewhere."""
    return Source(file.path, apply_edits(file.text, _edits(file.text)), file.first_line)


def with_guards(assembly: str) -> str:
    """Returns what the compiler made, with room before each variable that is none's: no overrun meets the next one.

    Each variable has a section of its own (`-fdata-sections`), and the compiler tells its type right before it.
    """
    return re.sub(_VARIABLE, lambda found: found[1] + _GUARD, assembly, flags=re.MULTILINE)


def _edits(text: str) -> Iterator[Edit]:
    code = [t for t in significant(tokens(text)) if t.kind is not TokenKind.DIRECTIVE]
    for index, token in enumerate(code):
        first = token.text in _QUALIFIERS and (index == 0 or code[index - 1].text not in _QUALIFIERS)
        if first and _is_variable(code, index + 1):
            yield Edit(token.end, token.end, _WRITTEN)


def _is_variable(code: Sequence[Token], index: int) -> bool:
    """Returns True where what is declared has no parameters, and is no type."""
    depth = 0
    while index < len(code):
        text = code[index].text
        if text in _WITH_BRACKETS and index + 1 < len(code) and code[index + 1].text == "(":
            close = match_bracket(code, index + 1)
            if close is None:
                return False
            index = close + 1
            continue
        if text in ("(", "}", *_TYPES):
            return False
        depth += text.count("<") - text.count(">") if text in ("<", ">", ">>") else 0
        if depth == 0 and text in (";", "=", "[", "{"):
            return True
        index += 1
    return False
