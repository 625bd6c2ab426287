"""Reads calls and template names in token streams: the file itself and the body of each macro."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from porter.source.lexer import CLOSING, OPENING, Token, TokenKind, inside_directive, tokens

_SILENT = (TokenKind.BLANK, TokenKind.COMMENT)
_NOT_IN_TEMPLATE_ARGUMENTS = frozenset({";", "{", "}", "&&", "||", "=", "+=", "-=", "?"})


@dataclass(frozen=True, slots=True)
class Stream:
    """Significant tokens that belong together. `macro` names the `#define` whose body they are, empty for the file."""

    macro: str
    tokens: tuple[Token, ...]


@dataclass(frozen=True, slots=True)
class Argument:
    """`text[start:end]`, trimmed of blanks and comments at both ends; `end == start` where nothing is written."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Brackets:
    """An opening token and its partner: the offsets of the two, and the arguments between them, split at commas."""

    open: int
    close: int
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class _TemplateEnd:
    """The token that closes template arguments and the offset at which it does: `>>` may close two."""

    index: int
    offset: int


def streams(text: str) -> tuple[Stream, ...]:
    """Returns the file without its directives, then the body of each `#define` in order."""
    everything = tokens(text)
    file = Stream("", tuple(t for t in everything if t.kind not in _SILENT and t.kind is not TokenKind.DIRECTIVE))
    directives = (t for t in everything if t.kind is TokenKind.DIRECTIVE)
    return (file, *filter(None, (_macro_body(directive, text) for directive in directives)))


def _macro_body(directive: Token, text: str) -> Stream | None:
    """Returns the replacement of a `#define`; None for any other directive and for an empty one."""
    inside = [t for t in inside_directive(directive, text) if t.kind is not TokenKind.COMMENT]
    words = [i for i, t in enumerate(inside) if t.kind is not TokenKind.BLANK]
    if len(words) < 3 or inside[words[0]].text != "define":
        return None
    name, first = words[1], words[1] + 1
    if inside[first].text == "(":  # parameters, only when the parenthesis touches the name
        first = next((i + 1 for i in range(first, len(inside)) if inside[i].text == ")"), len(inside))
    body = tuple(t for t in inside[first:] if t.kind is not TokenKind.BLANK)
    return Stream(inside[name].text, body) if body else None


def call_after(stream: Sequence[Token], name: int) -> Brackets | None:
    """Returns the parentheses of a call whose name is token `name`; None when none follow or they do not close."""
    if name + 1 >= len(stream) or stream[name + 1].text != "(":
        return None
    depth, cuts = 0, [name + 1]
    position = name + 1
    while position < len(stream):
        word = stream[position].text
        if word in OPENING:
            depth += 1
        elif word in CLOSING:
            depth -= 1
            if depth == 0:
                return _brackets(stream, [*cuts, position], stream[position].start)
        elif word == "," and depth == 1:
            cuts.append(position)
        elif word == "<" and (end := _template_end(stream, position)) is not None and _calls(stream, end.index + 1):
            position = end.index
        position += 1
    return None


def template_after(stream: Sequence[Token], name: int) -> Brackets | None:
    """Returns the template arguments that follow token `name`; None when there are none."""
    opening = name + 1
    end = _template_end(stream, opening) if opening < len(stream) and stream[opening].text == "<" else None
    if end is None:
        return None
    depth, cuts = 0, [opening]
    for position in range(opening, end.index):
        word = stream[position].text
        depth += (word in OPENING or word == "<") - (word in CLOSING or word == ">") - 2 * (word == ">>")
        if word == "," and depth == 1:
            cuts.append(position)
    return _brackets(stream, [*cuts, end.index], end.offset)


def _template_end(stream: Sequence[Token], opening: int) -> _TemplateEnd | None:
    """Returns the `>` that could close template arguments opened by token `opening`."""
    if stream[opening - 1].kind is not TokenKind.IDENTIFIER:
        return None
    angles, brackets = 0, 0
    for position in range(opening, len(stream)):
        word = stream[position].text
        brackets += (word in OPENING) - (word in CLOSING)
        if brackets < 0 or word in _NOT_IN_TEMPLATE_ARGUMENTS:
            return None
        if brackets == 0:
            angles += (word == "<") - (word == ">") - 2 * (word == ">>")
            if angles <= 0:
                return _TemplateEnd(position, stream[position].start + (word == ">>" and angles == 0))
    return None


def _calls(stream: Sequence[Token], position: int) -> bool:
    """Returns whether what follows a `>` makes it the end of template arguments where both readings are possible."""
    return position < len(stream) and stream[position].text in {"(", "::", "{"}


def _brackets(stream: Sequence[Token], cuts: Sequence[int], close: int) -> Brackets:
    """Returns brackets that end at offset `close`, from the indices of opening token, commas and closing token."""
    arguments = tuple(_arguments(stream, cuts, close))
    empty = len(arguments) == 1 and arguments[0].start == arguments[0].end
    return Brackets(stream[cuts[0]].start, close, () if empty else arguments)


def _arguments(stream: Sequence[Token], cuts: Sequence[int], close: int) -> Iterator[Argument]:
    for before, after in pairwise(cuts):
        if after == before + 1:
            yield Argument(stream[before].end, stream[before].end)
        else:
            end = stream[after - 1].end
            yield Argument(stream[before + 1].start, close if stream[after].start < close <= stream[after].end else end)
