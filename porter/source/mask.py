"""CUDA text to text a C++ grammar can read, of the same length, so that every offset stays true."""

from __future__ import annotations

from collections.abc import Sequence

from porter.source.lexer import Token, TokenKind, match_bracket, tokens
from porter.source.vocabulary import QUALIFIERS, WITH_ARGUMENTS


def to_ascii(text: str) -> str:
    """`text` with every other character as one `x` (letters, digits) or one blank, so that bytes are characters."""
    if text.isascii() and "\0" not in text:
        return text
    return "".join(_ascii(c) for c in text)


def _ascii(character: str) -> str:
    if character.isascii() and character != "\0":
        return character
    return "x" if character.isalnum() else " "


def mask(text: str, stream: Sequence[Token] | None = None) -> str:
    """`text` in ASCII with preprocessor lines, CUDA's qualifiers and launch configurations blanked out.

    Newlines stay, so lines and columns do, too. `stream` is `tokens(text)` where the caller has it already.
    """
    stream = tokens(text) if stream is None else stream
    parts: list[str] = []
    index = 0
    while index < len(stream):
        end = _masked_until(stream, index)
        if end == index:
            parts.append(to_ascii(stream[index].text))
            index += 1
        else:
            parts.append(blank(text[stream[index].start : stream[end - 1].end]))
            index = end
    return "".join(parts)


def blank(text: str) -> str:
    """Returns as many blanks as `text` has characters; newlines stay."""
    return "".join("\n" if c == "\n" else " " for c in text)


def _masked_until(stream: Sequence[Token], index: int) -> int:
    """Index after the stretch at `index` that C++ does not know; `index` itself where there is none."""
    token = stream[index]
    if token.kind is TokenKind.DIRECTIVE:
        return index + 1
    if token.kind is TokenKind.LAUNCH_OPEN:
        close = match_bracket(stream, index)
        return index + 1 if close is None else close + 1
    if token.text == "..." and _is_pack_declarator(stream, index):
        return index + 1
    if token.kind is not TokenKind.IDENTIFIER:
        return index
    if token.text == "typename" and _next_two(stream, index)[1] in ("::", "<"):
        return index + 1
    if token.text not in QUALIFIERS:
        return index
    if token.text not in WITH_ARGUMENTS:
        return index + 1
    return after_arguments(stream, index)


def _is_pack_declarator(stream: Sequence[Token], index: int) -> bool:
    """`T*... rest`, which the grammar does not know (it knows `T... rest`)."""
    before = stream[index - 1].text if index else ""
    return before in ("*", "&", "&&") and _next_two(stream, index)[0].isidentifier()


def _next_two(stream: Sequence[Token], index: int) -> tuple[str, str]:
    """The texts of the two tokens after `index` that are neither blank nor comment."""
    found: list[str] = []
    while len(found) < 2 and index + 1 < len(stream):
        index += 1
        if stream[index].kind not in (TokenKind.BLANK, TokenKind.COMMENT):
            found.append(stream[index].text)
    return (*found, "", "")[0], (*found, "", "")[1]


def after_arguments(stream: Sequence[Token], index: int) -> int:
    """Index after `name(...)` whose name stands at `index`; after the name alone where no parenthesis follows."""
    following = index + 1
    while following < len(stream) and stream[following].kind in (TokenKind.BLANK, TokenKind.COMMENT):
        following += 1
    if following < len(stream) and stream[following].text == "(":
        close = match_bracket(stream, following)
        if close is not None:
            return close + 1
    return index + 1
