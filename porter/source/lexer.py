"""CUDA text as tokens: every character belongs to exactly one, so the texts of all tokens joined are the text.

A preprocessor line is one token with its continuation lines; `inside_directive` gives the tokens within it.
`<<<` and `>>>` are tokens of their own only where a kernel launch opens and closes; elsewhere `>>>` closes templates.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum, auto
from functools import lru_cache
from typing import NamedTuple


class TokenKind(Enum):
    """The kinds of tokens. A launch chevron may be written with blanks inside (`<< <`)."""

    BLANK = auto()  # spaces, newlines and continuation backslashes
    COMMENT = auto()
    DIRECTIVE = auto()  # from `#` up to the newline that ends the preprocessor line, exclusive
    IDENTIFIER = auto()  # names and keywords
    NUMBER = auto()
    STRING = auto()  # with its prefix, raw ones included
    CHARACTER = auto()
    LAUNCH_OPEN = auto()  # <<<
    LAUNCH_CLOSE = auto()  # >>>
    PUNCTUATION = auto()
    OTHER = auto()  # a character no C++ token begins with


class Token(NamedTuple):
    """`text[start:end]` of the whole text; a NamedTuple because a file has a hundred thousand of them."""

    kind: TokenKind
    text: str
    start: int
    end: int


OPENING = {"(": ")", "[": "]", "{": "}"}
CLOSING = frozenset(OPENING.values())
_TOKEN = re.compile(
    r"""
      (?P<BLANK>        (?: [\s\ufeff] | \\[ \t]*\r?\n )++ )
    | (?P<COMMENT>      //(?: [^\n\\] | \\\r?\n | \\ )*+ | /\*.*?(?:\*/|\Z) )
    | (?P<STRING>       (?:u8|[uUL])?R"(?P<delimiter>[^()\\\s"]{0,16})\(.*?\)(?P=delimiter)"
                      | (?:u8|[uUL])?"(?: [^"\\\n] | \\\r?\n | \\. )*+"? )
    | (?P<CHARACTER>    (?:u8|[uUL])?'(?: [^'\\\n] | \\. )++' )
    | (?P<IDENTIFIER>   [^\W\d][\w$]* )
    | (?P<NUMBER>       0[xX](?: [0-9a-fA-F.] | '[0-9a-fA-F] )++(?:[pP][+-]?[0-9]+)?\w*
                      | \.?[0-9](?: [eE][+-][0-9] | '[0-9A-Za-z] | [\w.] )*+ )
    | (?P<LAUNCH_OPEN>  <[ \t]*<[ \t]*<(?![<=]) )
    | (?P<PUNCTUATION>  <=>|<<=|>>=|\.\.\.|->\*|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\#\#|\.\*
                      | [-+*/%&|^~!=<>?:;,.(){}\[\]\#] )
    | (?P<OTHER>        . )
    """,
    re.VERBOSE | re.DOTALL,
)
_DIRECTIVE = re.compile(
    r"""\#(?: [^\n\\/"] | \\[ \t]*\r?\n | \\ | //[^\n\\]*+ | /\*.*?(?:\*/|\Z) | / | "[^"\n\\]*+"? )*+""",
    re.VERBOSE | re.DOTALL,
)
_OPAQUE = re.compile(  # where a `#` at the beginning of a line begins no directive, or a line that does
    r"""//(?: [^\n\\] | \\\r?\n | \\ )*+ | /\*.*?(?:\*/|\Z) | R"(?P<delimiter>[^()\\\s"]{0,16})\(.*?\)(?P=delimiter)"
      | "(?: [^"\\\n] | \\\r?\n | \\. )*+ | (?: ^ | \A\ufeff ) [ \t\ufeff]*+ (?P<line>\#)""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_DIRECTIVE_HEAD = re.compile(r"\#[ \t]*")
_CLOSERS = re.compile(r">(?:[ \t]*>){2,}")
_AFTER_LAUNCH = re.compile(r"(?:\s|\\\r?\n|/\*.*?\*/)*(?:\(|\Z)", re.S)
_LONG = 4096  # characters: bodies of functions and of macros are shorter, and read in a millisecond
_BRACKETS = frozenset("()[]{}")
_NOT_IN_TEMPLATE = frozenset((";", "&&", "||", "{", "}", ")", "]"))
_KINDS = {kind.name: kind for kind in TokenKind}


class _Launches:
    """The launches whose `>>>` has not come yet, innermost last, with the template brackets opened since each."""

    def __init__(self) -> None:
        self.depth = 0
        self.open: list[tuple[int, int]] = []  # bracket depth of the `<<<`, template brackets open at that depth

    def begin(self) -> None:
        """A `<<<`."""
        self.open.append((self.depth, 0))

    def pass_bracket(self, word: str) -> None:
        """A parenthesis, bracket or brace; a launch whose surroundings close without `>>>` is given up."""
        self.depth += 1 if word in OPENING else -1
        while self.open and self.open[-1][0] > self.depth:
            self.open.pop()

    def pass_angle(self, text: str, position: int, stop: int, word: str) -> tuple[TokenKind, str]:
        """The token that begins with `<` or `>` at `position`, read as `word` so far."""
        if not self.open or self.open[-1][0] != self.depth or word not in ("<", ">", ">>"):
            return TokenKind.PUNCTUATION, word
        _, angles = self.open[-1]
        run = _CLOSERS.match(text, position, stop)
        count = run.group().count(">") if run else 0
        if run and count == 3 and angles < 3 and _AFTER_LAUNCH.match(text, run.end(), stop):
            self.open.pop()
            return TokenKind.LAUNCH_CLOSE, run.group()
        if count > 3:
            word = ">"
        change = 1 if word == "<" else -len(word)
        self.open[-1] = (self.depth, max(0, angles + change))
        return TokenKind.PUNCTUATION, word


def tokens(text: str, *, line_start: bool = True) -> list[Token]:
    """All tokens of `text`, in order; `"".join(t.text for t in tokens(text)) == text`.

    `line_start` is False for text from the middle of a line, such as a macro's body, where `#` begins no directive.
    """
    if len(text) < _LONG:
        return list(_scan(text, 0, len(text), fresh_line=line_start))
    return list(_remembered(text, line_start=line_start))


@lru_cache(maxsize=128)
def _remembered(text: str, *, line_start: bool) -> tuple[Token, ...]:
    """The tokens of the latest files: one pass after the other asks for those of the same text, and between them for
    those of many short ones, which would push them out.
    """
    return tuple(_scan(text, 0, len(text), fresh_line=line_start))


def directives(text: str) -> list[Token]:
    """The preprocessor lines of `text`: what `tokens` finds, several times faster, for headers read only for these."""
    found: list[Token] = []
    position = 0
    while (opaque := _OPAQUE.search(text, position)) is not None:
        position = opaque.end()
        if opaque["line"] and (line := _DIRECTIVE.match(text, opaque.start("line"))) is not None:
            found.append(Token(TokenKind.DIRECTIVE, line.group(), line.start(), line.end()))
            position = line.end()
    return found


def inside_directive(directive: Token, text: str) -> list[Token]:
    """The tokens after the `#` of a DIRECTIVE token of `text`; offsets count in `text`."""
    return list(_inside(text, directive.start, directive.end))


@lru_cache(maxsize=8192)
def _inside(text: str, start: int, end: int) -> tuple[Token, ...]:
    """Returns the tokens between `start` and `end`, of the directives of the latest files."""
    head = _DIRECTIVE_HEAD.match(text, start)
    return tuple(_scan(text, head.end() if head else start, end, fresh_line=False))


def significant(stream: Iterable[Token]) -> list[Token]:
    """`stream` without blanks and comments."""
    return [t for t in stream if t.kind is not TokenKind.BLANK and t.kind is not TokenKind.COMMENT]


def match_bracket(stream: Sequence[Token], index: int) -> int | None:
    """Index of the token that closes the bracket at `index`; None when nothing does.

    The bracket is one of `( [ {`, a launch's `<<<`, or `<` taken as a template bracket: then the closer may be a `>>`
    that closes an outer one as well, and None also says that `<` is rather a comparison.
    """
    opening = stream[index]
    if opening.text == "<":
        return _match_angle(stream, index)
    if opening.kind is TokenKind.LAUNCH_OPEN:
        return _match_launch(stream, index)
    depth = 0
    for i in range(index, len(stream)):
        token = stream[i]
        if token.kind is not TokenKind.PUNCTUATION:
            continue
        if token.text in OPENING:
            depth += 1
        elif token.text in CLOSING:
            depth -= 1
            if depth == 0:
                return i if OPENING.get(opening.text) == token.text else None
    return None


def split_arguments(stream: Sequence[Token], open_index: int, *, templates: bool = True) -> list[list[Token]]:
    """The comma-separated arguments within the bracket at `open_index`, blanks and comments at their ends dropped.

    `templates` keeps the commas of `f<a, b>(c)` together; the preprocessor, which knows no templates, does not.
    No argument at all gives an empty list; an unclosed bracket ends with `stream`.
    """
    close = match_bracket(stream, open_index)
    stop = len(stream) if close is None else close
    arguments: list[list[Token]] = []
    begin = i = open_index + 1
    while i < stop:
        token = stream[i]
        if token.kind is TokenKind.PUNCTUATION and token.text == ",":
            arguments.append(_trimmed(stream[begin:i]))
            begin = i + 1
        elif _opens(token, templates=templates) and (inner := match_bracket(stream, i)) is not None and inner <= stop:
            if inner == stop:  # the first half of a `>>` ends this argument, the second the list
                shared = stream[stop]
                return [*arguments, [*stream[begin:stop], Token(shared.kind, ">", shared.start, shared.start + 1)]]
            i = inner
        i += 1
    last = _trimmed(stream[begin:stop])
    return [*arguments, last] if arguments or last else []


def _opens(token: Token, *, templates: bool) -> bool:
    if token.kind is TokenKind.LAUNCH_OPEN:
        return True
    return token.kind is TokenKind.PUNCTUATION and (token.text in OPENING or (templates and token.text == "<"))


def _trimmed(stream: Sequence[Token]) -> list[Token]:
    empty = (TokenKind.BLANK, TokenKind.COMMENT)
    begin, end = 0, len(stream)
    while begin < end and stream[begin].kind in empty:
        begin += 1
    while end > begin and stream[end - 1].kind in empty:
        end -= 1
    return list(stream[begin:end])


def _match_launch(stream: Sequence[Token], index: int) -> int | None:
    """The `>>>` of a launch: no statement ends and no other launch begins before it."""
    for i in range(index + 1, len(stream)):
        token = stream[i]
        if token.kind is TokenKind.LAUNCH_CLOSE:
            return i
        if token.kind is TokenKind.LAUNCH_OPEN or (token.kind is TokenKind.PUNCTUATION and token.text == ";"):
            return None
    return None


def _match_angle(stream: Sequence[Token], index: int) -> int | None:
    """The closer of a template bracket: logic operators and statement ends outside parentheses say it is none."""
    depth = 0
    i = index
    while i < len(stream):
        token = stream[i]
        if token.text == "<" and token.kind is TokenKind.PUNCTUATION:
            depth += 1
        elif token.text in (">", ">>") and token.kind is TokenKind.PUNCTUATION:
            depth -= len(token.text)
            if depth <= 0:
                return i
        elif token.kind is TokenKind.PUNCTUATION and token.text in ("(", "[", "{"):
            close = match_bracket(stream, i)
            if close is None:
                return None
            i = close
        elif token.text in _NOT_IN_TEMPLATE and token.kind is TokenKind.PUNCTUATION:
            return None
        i += 1
    return None


def _scan(text: str, start: int, stop: int, *, fresh_line: bool) -> Iterator[Token]:
    """Tokens of `text[start:stop]`; `fresh_line` says whether a `#` here would begin a directive."""
    launches = _Launches()
    position, previous, whole_lines = start, "", fresh_line
    while position < stop:
        found = _TOKEN.match(text, position, stop)
        assert found is not None, "OTHER matches any character"
        kind, word = _KINDS[found.lastgroup or "OTHER"], found.group()
        if kind is TokenKind.PUNCTUATION:
            if word == "#" and fresh_line:
                line = _DIRECTIVE.match(text, position, stop)
                kind, word = TokenKind.DIRECTIVE, line.group() if line else word
            elif word in _BRACKETS:
                launches.pass_bracket(word)
            elif launches.open and word[0] in "<>":
                kind, word = launches.pass_angle(text, position, stop, word)
        elif kind is TokenKind.LAUNCH_OPEN:
            if previous == "operator":  # operator<< <T>
                kind, word = TokenKind.PUNCTUATION, "<<"
            else:
                launches.begin()
        yield Token(kind, word, position, position + len(word))
        position += len(word)
        if kind is TokenKind.BLANK:
            fresh_line = whole_lines and (fresh_line or "\n" in word)
        elif kind is not TokenKind.COMMENT:
            fresh_line = False
            previous = word
