"""`#pragma` in the body of a macro, which nvcc takes: in C++ only the operator `_Pragma` can say it there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from porter.source.edit import Edit
from porter.source.lexer import Token, TokenKind

_PRAGMA = re.compile(r"#[ \t]*pragma[ \t]+(?P<words>[^\\\n]*[^\\\s])")

_LOOPS = frozenset(("for", "while", "do"))


def with_pragma_operators(body: str) -> str:
    """Returns the body of a macro with `_Pragma("unroll")` for `#pragma unroll`."""
    for found in reversed(list(_pragmas(body))):
        body = body[: found.start()] + _operator(found) + body[found.end() :]
    return body


def pragma_edits(directive: Token, words: Sequence[Token]) -> Iterator[Edit]:
    """Yields what makes operators of the pragmas in a macro's body; `words` are the tokens of the `directive`."""
    if words and words[0].text == "define":
        for found in _pragmas(directive.text):
            yield Edit(directive.start + found.start(), directive.start + found.end(), _operator(found))


def pragma_argument_edits(code: Sequence[Token]) -> Iterator[Edit]:
    """Yields the arguments of pragmas that macros stand for: the number in `UNROLL 4` before a loop."""
    for name, number, loop in zip(code, code[1:], code[2:], strict=False):
        if name.kind is TokenKind.IDENTIFIER and number.kind is TokenKind.NUMBER and loop.text in _LOOPS:
            yield Edit(number.start, number.end, "")


def _pragmas(text: str) -> Iterator[re.Match[str]]:
    """Yields the pragmas that do not stand in a string."""
    yield from (found for found in _PRAGMA.finditer(text) if text.count('"', 0, found.start()) % 2 == 0)


def _operator(pragma: re.Match[str]) -> str:
    quoted = pragma["words"].replace("\\", "\\\\").replace('"', '\\"')
    return f'_Pragma("{quoted}")'
