"""Macro expansion: object and function macros, `#`, `##`, `__VA_ARGS__`, `__VA_OPT__`, each token knowing its origin.

By default only those macros are expanded that a C++ grammar could not read past: they bring statements, braces,
qualifiers, launches or halves of brackets. `BLOCK_SIZE` and `CEIL_DIV(a, b)` stay as written, so that what porter shows
and rewrites is the user's text.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from porter.source.lexer import Token, TokenKind, tokens
from porter.source.macro_kinds import MacroKind, generates, macro_kind, names_types
from porter.source.pragmas import with_pragma_operators
from porter.source.program import Macro

MOST_TOKENS = 1_000_000  # that macros may bring into one source; a header of 339 lines was seen to need 560,802
_DEEPEST = 8  # macros within macros looked into
_LONGEST_CHAIN = 100  # of macros that count by each naming the one before: no more is looked for what must be expanded


class Origin(NamedTuple):
    """The place in the file that a token comes from; `copied` says that it stands there itself."""

    start: int
    end: int
    copied: bool


class Piece(NamedTuple):
    """A token under expansion. `hidden` are the macros it came out of, which must not expand in it again."""

    kind: TokenKind
    text: str
    spaced: bool  # blanks stand before it
    origin: Origin
    hidden: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Definition:
    """A macro ready for use: `rest` is the name of the variadic parameter, empty when there is none."""

    name: str
    params: tuple[str, ...] | None
    rest: str
    body: tuple[Token, ...]
    kind: MacroKind

    @classmethod
    def of(cls, macro: Macro) -> Definition:
        """The definition `macro` gives."""
        params, rest = macro.params, ""
        if params and params[-1].endswith("..."):
            params, rest = params[:-1], params[-1].removesuffix("...") or "__VA_ARGS__"
        body = tuple(
            t for t in tokens(with_pragma_operators(macro.body), line_start=False) if t.kind is not TokenKind.COMMENT
        )
        return cls(macro.name, params, rest, body, macro_kind(body))


@dataclass
class MacroTable:
    """The macros in force at one place of a file, and how many tokens they have produced."""

    definitions: dict[str, Definition] = field(default_factory=dict)
    produced: int = 0
    most_tokens: int = MOST_TOKENS
    _must_expand: dict[str, bool] = field(default_factory=dict)

    @property
    def is_exhausted(self) -> bool:
        """Returns whether expansion had to stop: from there on macros stay names."""
        return self.produced > self.most_tokens

    def define(self, definition: Definition) -> None:
        """`#define`."""
        self.definitions[definition.name] = definition
        self._must_expand.clear()

    def undefine(self, name: str) -> None:
        """`#undef`."""
        self.definitions.pop(name, None)
        self._must_expand.clear()

    def must_expand(self, name: str, depth: int = 0) -> bool:
        """Returns whether the grammar would stumble over the macro `name`, or miss a kernel or launch in it."""
        if depth > _LONGEST_CHAIN:
            return False
        known = self._must_expand.get(name)
        if known is not None:
            return known
        definition = self.definitions.get(name)
        self._must_expand[name] = False  # a macro that mentions itself decides nothing
        answer = definition is not None and (
            definition.kind is MacroKind.SYNTAX or generates(definition.body) or self._matters_inside(definition, depth)
        )
        self._must_expand[name] = answer
        return answer

    def _matters_inside(self, definition: Definition, depth: int) -> bool:
        """Returns whether a macro in the body decides: within a complete statement only one that launches or
        defines.
        """
        inner = {t.text for t in definition.body if t.kind is TokenKind.IDENTIFIER and t.text in self.definitions}
        if definition.kind is MacroKind.STATEMENT:
            return any(self._generates(name, depth=0) for name in inner)
        return any(self.must_expand(name, depth + 1) for name in inner)

    def _generates(self, name: str, depth: int) -> bool:
        definition = self.definitions.get(name)
        if definition is None or depth > _DEEPEST:
            return False
        inner = {t.text for t in definition.body if t.text in self.definitions and t.text != name}
        return generates(definition.body) or any(self._generates(n, depth + 1) for n in inner)

    def pastes(self, name: str, depth: int = 0) -> bool:
        """Returns whether `name` uses `#` or `##`, itself or through macros in its body: then arguments expand in
        full.
        """
        definition = self.definitions.get(name)
        if definition is None or depth > _DEEPEST:
            return False
        words = {t.text for t in definition.body}
        inner = (w for w in words if w in self.definitions and w != name)
        return bool(words & {"#", "##"}) or any(self.pastes(w, depth + 1) for w in inner)


Chooser = Callable[[str], bool]


def expand(table: MacroTable, stream: Iterable[Piece], chosen: Chooser) -> list[Piece]:
    """`stream` with every macro expanded that `chosen` accepts."""
    waiting = deque(stream)
    result: list[Piece] = []
    while waiting:
        piece = waiting.popleft()
        definition = table.definitions.get(piece.text) if piece.kind is TokenKind.IDENTIFIER else None
        if definition is None or piece.text in piece.hidden or table.is_exhausted:
            result.append(piece)
            continue
        arguments, consumed = _arguments(waiting, definition)
        if arguments is None or not (
            chosen(piece.text) or names_types([Token(p.kind, p.text, 0, 0) for p in islice(waiting, consumed)])
        ):
            result.append(piece)
            continue
        origin = piece.origin
        if consumed:
            origin = Origin(origin.start, max(origin.end, waiting[consumed - 1].origin.end), copied=False)
        for _ in range(consumed):
            waiting.popleft()
        body = _substitute(table, definition, arguments, piece._replace(origin=origin._replace(copied=False)), chosen)
        table.produced += len(body)
        waiting.extendleft(reversed(body))
    return result


def _arguments(waiting: Sequence[Piece], definition: Definition) -> tuple[list[list[Piece]] | None, int]:
    """The arguments that follow a macro's name and how many pieces they take; None when it is not used as a macro."""
    if definition.params is None:
        return [], 0
    if not waiting or waiting[0].text != "(":
        return None, 0
    arguments: list[list[Piece]] = [[]]
    depth = 0
    for count, piece in enumerate(waiting, 1):
        opens, closes = piece.text in ("(", "[", "{"), piece.text in (")", "]", "}")
        if piece.kind is TokenKind.PUNCTUATION and closes:
            depth -= 1
            if depth == 0:
                return arguments, count
        separate = (
            depth == 1 and piece.text == "," and not (definition.rest and len(arguments) > len(definition.params))
        )
        if separate:
            arguments.append([])
        elif depth > 0:
            arguments[-1].append(piece)
        depth += piece.kind is TokenKind.PUNCTUATION and opens
    return None, 0


def _substitute(
    table: MacroTable, definition: Definition, arguments: list[list[Piece]], use: Piece, chosen: Chooser
) -> list[Piece]:
    """The body of `definition` with its parameters replaced; what is the body's own comes from where `use` does."""
    names = (*(definition.params or ()), *((definition.rest,) if definition.rest else ()))
    raw = {name: arguments[i] if i < len(arguments) else [] for i, name in enumerate(names)}
    within: Chooser = (lambda _: True) if table.pastes(definition.name) else chosen
    result: list[Piece] = []
    body = _pieces(definition.body, use.origin, use.spaced)
    index = 0
    while index < len(body):
        piece, following = body[index], body[index + 1] if index + 1 < len(body) else None
        if following and piece.text == "#" and definition.params is not None and following.text in raw:
            result.append(_quoted(raw[following.text], piece))
            index += 2
        elif following and piece.text == "##" and result:
            _paste(result, raw.get(following.text, [following]), use.origin)
            index += 2
        elif piece.text in raw:
            pasted = following is not None and following.text == "##"
            argument = raw[piece.text] if pasted else expand(table, raw[piece.text], within)
            result.extend(_led_by(argument, piece.spaced) or ([_nothing(use.origin)] if pasted else []))
            index += 1
        else:
            result.append(piece)
            index += 1
    return _hiding(result, use.hidden | {definition.name})


def _quoted(argument: Sequence[Piece], hash_: Piece) -> Piece:
    """The string literal that `#` makes of an argument."""
    text = " ".join("".join((" " if p.spaced else "") + p.text for p in argument).split())
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return Piece(TokenKind.STRING, f'"{escaped}"', hash_.spaced, hash_.origin)


def _hiding(pieces: Sequence[Piece], hidden: frozenset[str]) -> list[Piece]:
    """`pieces` in which the macros `hidden` are not expanded again; equal sets of names are one object."""
    merged: dict[frozenset[str], frozenset[str]] = {frozenset(): hidden}
    for piece in pieces:
        if piece.hidden not in merged:
            merged[piece.hidden] = piece.hidden | hidden
    return [Piece(kind, text, spaced, place, merged[own]) for kind, text, spaced, place, own in pieces if text]


def _nothing(origin: Origin) -> Piece:
    """Stands for an empty argument that `##` joins to something."""
    return Piece(TokenKind.BLANK, "", spaced=False, origin=origin)


def _led_by(argument: Sequence[Piece], spaced: bool) -> list[Piece]:
    return [argument[0]._replace(spaced=spaced), *argument[1:]] if argument else []


def _pieces(body: Sequence[Token], origin: Origin, spaced: bool) -> list[Piece]:
    """Body tokens as pieces; blanks become the `spaced` of the next."""
    result: list[Piece] = []
    for token in body:
        if token.kind is TokenKind.BLANK:
            spaced = True
            continue
        result.append(Piece(token.kind, token.text, spaced, origin))
        spaced = False
    return result


def _paste(result: list[Piece], right: Sequence[Piece], origin: Origin) -> None:
    """Join the last of `result` and the first of `right` into one token; `, ## rest` drops the comma for no rest."""
    left = result.pop()
    if left.text == ",":
        result.extend([left, *right] if right else [])
        return
    if not right:
        result.append(left)
        return
    text = left.text + right[0].text
    kind = TokenKind.IDENTIFIER if text.isidentifier() else tokens(text)[0].kind if text else TokenKind.BLANK
    result.append(Piece(kind, text, left.spaced, origin, left.hidden & right[0].hidden))
    result.extend(right[1:])
