"""A source and its headers as words with every macro expanded: the text a compiler would parse, lines kept."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from os.path import normpath
from pathlib import Path

from porter.source.conditions import is_true
from porter.source.directives import directive_name, includes, read_macro
from porter.source.expansion import Expansion, Segment
from porter.source.lexer import Token, TokenKind, tokens
from porter.source.macros import Definition, MacroTable, Origin, Piece, expand
from porter.source.preprocess import PREDEFINED
from porter.source.program import Macro
from porter.source.reading import Reading
from porter.source.unknown_macros import Guess, guess
from porter.source_text import Source

_UNROLL = re.compile(r"#[ \t]*pragma[ \t]+(?:GCC[ \t]+)?unroll\b(.*)", re.DOTALL)
_EMPTY = (TokenKind.BLANK, TokenKind.COMMENT)
# What PyTorch's headers, which are never at hand here, define and kernels are written with.
_TOOLKIT_MACROS = """
#define CUDA_KERNEL_LOOP_TYPE(i, n, index_type) \\
  int64_t i##_next = blockIdx.x * blockDim.x + threadIdx.x; \\
  for (index_type i = i##_next; i##_next < (n); i##_next += blockDim.x * gridDim.x, i = i##_next)
#define CUDA_KERNEL_LOOP(i, n) CUDA_KERNEL_LOOP_TYPE(i, n, int)
#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_HOST __host__
#define C10_RESTRICT __restrict__
#define C10_ALWAYS_INLINE inline
#define C10_LAUNCH_BOUNDS_0 __launch_bounds__(256, 4)
#define C10_LAUNCH_BOUNDS_1(threads) __launch_bounds__(threads)
#define C10_LAUNCH_BOUNDS_2(threads, blocks) __launch_bounds__(threads, blocks)
#define C10_LIKELY(condition) (condition)
#define C10_UNLIKELY(condition) (condition)
#define C10_UNLIKELY_OR_CONST(condition) (condition)
#define C10_DIAGNOSTIC_PUSH_AND_IGNORED_IF_DEFINED(warning)
#define C10_DIAGNOSTIC_POP()
#define C10_NOINLINE
#define C10_UNUSED
#define C10_NODISCARD
#define C10_FALLTHROUGH
#define C10_EXPORT
#define C10_HIDDEN
#define C10_API
#define C10_CUDA_API
#define TORCH_API
#define TORCH_CUDA_CU_API
#define TORCH_CUDA_CPP_API
"""


@dataclass(frozen=True)
class Words:
    """One file after the preprocessor. `lines[i]` is the line of the file that `words[i]` comes from.

    A `#pragma unroll` is a word of the kind DIRECTIVE, its text the argument; no other directive is left.
    """

    reading: Reading
    words: Sequence[Token]
    lines: Sequence[int]


@lru_cache(maxsize=2)  # types, enumerations and trees are read of the same text
def translation_unit(
    source: Source, headers: tuple[Source, ...], defines: tuple[str, ...], behind: tuple[Source, ...]
) -> tuple[Words, ...]:
    """Returns what `expanded` returns; the latest are remembered."""
    return expanded(source, headers, defines, behind)


def expanded(
    source: Source, headers: Sequence[Source], defines: Iterable[str] = (), behind: Sequence[Source] = ()
) -> tuple[Words, ...]:
    """`source`, before it those of `headers` that it includes, each once, in the order they are first needed, and then
    what stands `behind` it in the same translation unit.
    """
    table = MacroTable()
    for line in (*PREDEFINED, f'__FILE__="{source.path.name}"', *defines):
        name, _, value = line.partition("=")
        table.define(Definition.of(Macro(name, None, value if "=" in line else "1", source.span(0, 0))))
    toolkit = Source(Path("toolkit"), _TOOLKIT_MACROS)
    _File(toolkit, table, (), set()).read()
    file = _File(source, table, headers, {source.path})
    own = file.read()
    return (*file.before, own, *(_File(other, table, (), set()).read() for other in behind))


@dataclass
class _File:
    """One file being preprocessed; `before` are the headers that it brought in."""

    source: Source
    table: MacroTable
    headers: Sequence[Source]
    included: set[Path]
    before: list[Words] = field(default_factory=list)
    branches: list[_Branch] = field(default_factory=list)
    waiting: list[Piece] = field(default_factory=list)
    done: list[Piece] = field(default_factory=list)
    previous: str = ""

    def read(self) -> Words:
        """Walk the file once."""
        stream = tokens(self.source.text)
        spaced, index = True, 0
        while index < len(stream):
            token = stream[index]
            if token.kind is TokenKind.DIRECTIVE:
                self.directive(token)
                spaced = True
            elif token.kind in _EMPTY:
                spaced = True
            elif not self.branches or self.branches[-1].live:
                skip = self.unknown(stream, index) if token.kind is TokenKind.IDENTIFIER else 0
                if skip:
                    index += skip
                    continue
                self.waiting.append(Piece(token.kind, token.text, spaced, Origin(token.start, token.end, True)))
                self.previous, spaced = token.text, False
            index += 1
        self.flush()
        return _words(self.source, self.done)

    def unknown(self, stream: Sequence[Token], index: int) -> int:
        """Returns how many tokens a name takes that can only be a qualifier-like macro nobody defines; 0 for any
        other.
        """
        text = stream[index].text
        if not text.isupper() or text in self.table.definitions:
            return 0
        return 1 if guess(stream, index, index + 1, self.previous) is Guess.NOTHING else 0

    def flush(self) -> None:
        """Expand what was read while the macros were as they are now."""
        pieces = map(self.numbered, expand(self.table, self.waiting, lambda _: True))
        self.done.extend(_operators(list(pieces)))
        self.waiting.clear()

    def numbered(self, piece: Piece) -> Piece:
        """`__LINE__` is the line that it stands in, or the macro it came out of."""
        if piece.text != "__LINE__":
            return piece
        line = self.source.span(piece.origin.start, piece.origin.end).line
        return piece._replace(kind=TokenKind.NUMBER, text=str(line))

    def directive(self, token: Token) -> None:
        """Conditionals move the branches; definitions and headers count where the text is live."""
        name = directive_name(token, self.source.text)
        if self.branch(name, token):
            return
        if self.branches and not self.branches[-1].live:
            return
        if name == "define" and (macro := read_macro(self.source, token)) is not None:
            self.flush()
            self.table.define(Definition.of(macro))
        elif name == "undef":
            self.flush()
            self.table.undefine(token.text.split()[-1])
        elif name == "include":
            self.include(token)
        elif name == "pragma" and (unroll := _UNROLL.match(token.text)):
            self.unroll(token, unroll.group(1))

    def branch(self, name: str, token: Token) -> bool:
        """Obey a conditional; False for any other directive."""
        live = not self.branches or self.branches[-1].live
        if name in ("if", "ifdef", "ifndef"):
            truth = live and is_true(name, token, self.source.text, self.table, self.has_header)
            self.branches.append(_Branch(live, truth, truth))
            return True
        if not self.branches or name not in ("elif", "elifdef", "elifndef", "else", "endif"):
            return False
        top = self.branches[-1]
        if name == "endif":
            self.branches.pop()
            return True
        top.live = top.outer and not top.taken
        if name != "else":
            top.live = top.live and is_true(name[2:], token, self.source.text, self.table, self.has_header)
        top.taken = top.taken or top.live
        return True

    def include(self, token: Token) -> None:
        """Read a header that is at hand, once."""
        for include in includes(self.source, [token]):
            header = _find(include.path, self.source, self.headers)
            if header is None or header.path in self.included:
                return
            self.flush()
            self.included.add(header.path)
            inner = _File(header, self.table, self.headers, self.included)
            words = inner.read()
            self.before.extend((*inner.before, words))

    def has_header(self, name: str) -> bool:
        """Returns whether `__has_include` finds a header by that name."""
        return _find(name, self.source, self.headers) is not None

    def unroll(self, token: Token, argument: str) -> None:
        """Keep a `#pragma unroll`, its argument expanded, for the loop after it."""
        self.flush()
        origin = Origin(token.start, token.end, copied=False)
        pieces = [Piece(t.kind, t.text, True, origin) for t in tokens(argument) if t.kind not in _EMPTY]
        text = "".join(p.text for p in expand(self.table, pieces, lambda _: True))
        self.done.append(Piece(TokenKind.DIRECTIVE, text or " ", True, origin))


def _operators(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """The pieces with each `_Pragma("unroll 4")` as the directive it stands for, and with the number behind it; other
    pragmas are left out.
    """
    index = 0
    while index < len(pieces):
        texts = [p.text for p in pieces[index : index + 4]]
        if len(texts) < 4 or (texts[0], texts[1], texts[3]) != ("_Pragma", "(", ")"):
            yield pieces[index]
            index += 1
            continue
        argument = pieces[index + 4] if index + 4 < len(pieces) else None
        told = argument.text if argument is not None and argument.kind is TokenKind.NUMBER else ""
        if unroll := _UNROLL.match("#pragma " + texts[2].strip('"')):
            yield Piece(TokenKind.DIRECTIVE, unroll.group(1) or told or " ", True, pieces[index].origin)
        index += 5 if told else 4


@dataclass
class _Branch:
    """One `#if` group: whether its surroundings are live, a branch was taken already, and this one is."""

    outer: bool
    taken: bool
    live: bool


def _find(name: str, includer: Source, headers: Sequence[Source]) -> Source | None:
    """The header meant by `name`: beside the includer, or the one whose path ends so."""
    beside = Path(normpath(includer.path.parent / name))
    plain = normpath(name)
    for header in headers:
        if header.path == beside:
            return header
    return next((h for h in headers if f"/{h.path.as_posix()}".endswith(f"/{plain}")), None)


def _words(source: Source, pieces: Sequence[Piece]) -> Words:
    """The pieces as a text of their own, two that did not touch in the file a blank apart."""
    texts: list[str] = []
    segments: list[Segment] = []
    words: list[Token] = []
    at, reached = 0, -1
    for piece in pieces:
        start, end, copied = piece.origin
        if piece.spaced or not copied or start != reached:
            texts.append(" ")
            segments.append(Segment(1, start, start, copied=False))
            at += 1
        texts.append(piece.text)
        segments.append(Segment(len(piece.text), start, end, copied and end - start == len(piece.text)))
        words.append(Token(piece.kind, piece.text, at, at + len(piece.text)))
        at += len(piece.text)
        reached = end if copied else -1
    reading = Reading(source, Expansion("".join(texts), segments), words)
    return Words(reading, words, _lines(source, pieces))


def _lines(source: Source, pieces: Sequence[Piece]) -> list[int]:
    """The line each piece comes from; origins mostly ascend, so the last line is tried first."""
    starts = (*source.line_starts, len(source.text) + 1)
    row, lines = 0, []
    for piece in pieces:
        at = piece.origin.start
        while starts[row] > at:
            row -= 1
        while starts[row + 1] <= at:
            row += 1
        lines.append(source.first_line + row)
    return lines
