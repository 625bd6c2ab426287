"""The preprocessor: conditionals decided, macros that change the syntax expanded, every character's origin kept.

Lines of branches not taken become blank, so a file without such macros keeps its text, length and lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from porter.source.calls import Calls
from porter.source.conditions import is_true
from porter.source.directives import directive_name, directives, includes, read_macro
from porter.source.expanded_text import ExpandedText
from porter.source.expansion import Expansion
from porter.source.headers import HeaderFinder
from porter.source.lexer import Token, TokenKind, tokens
from porter.source.macro_kinds import MacroKind, names_types, statements_in_call
from porter.source.macros import MOST_TOKENS, Definition, MacroTable, Origin, Piece, expand
from porter.source.mask import blank
from porter.source.program import Include, Macro
from porter.source.unknown_macros import Guess, guess
from porter.source.vocabulary import WITH_PARENTHESIS
from porter.source_text import Source

PREDEFINED = (
    "__CUDACC__=1", "__NVCC__=1", "__CUDA_ARCH__=800", "__CUDACC_VER_MAJOR__=12", "__CUDACC_VER_MINOR__=4",
    "CUDA_VERSION=12040", "CUDART_VERSION=12040", "__cplusplus=201703L", "__GNUC__=12", "__linux__=1", "__x86_64__=1",
    "__SIZEOF_INT128__=16", "TORCH_VERSION_MAJOR=2", "TORCH_VERSION_MINOR=6", "TORCH_VERSION_PATCH=0",
    "CUDNN_VERSION=90000", "NCCL_VERSION_CODE=22000",
)  # fmt: skip

MOST_HEADERS = 400  # read for one source


@dataclass(frozen=True, slots=True)
class Inclusion:
    """An `#include` the compiler comes to: the file that says it, the name, and the header if it is at hand."""

    includer: Source
    include: Include
    header: Source | None


@dataclass(frozen=True, slots=True)
class Preprocessed:
    """The source as the compiler sees it. `skipped` are the extents of branches not taken, `used` the macros expanded.

    `inclusions` are those of the source and of the headers it comes to, in the order they are met. `changed` is False
    when the text is the source's own; `exhausted` says that the macros wanted more than allowed.
    """

    expansion: Expansion
    skipped: tuple[tuple[int, int], ...]
    used: frozenset[str]
    inclusions: tuple[Inclusion, ...]
    changed: bool
    exhausted: bool


@dataclass
class _Branch:
    """One `#if` group: whether its surroundings are live, a branch was taken already, and this one is."""

    outer: bool
    taken: bool
    live: bool


def preprocess(
    source: Source,
    stream: Sequence[Token],
    *,
    headers: HeaderFinder | None = None,
    defines: Iterable[str] = (),
    predefined: Iterable[str] = PREDEFINED,
    most_tokens: int = MOST_TOKENS,
) -> Preprocessed:
    """`source` with conditionals decided and macros expanded.

    `headers` finds what is included, whose macros count from there on; `defines` are `NAME` or `NAME=VALUE` as on a
    compiler's command line, `predefined` those of the compiler itself; `most_tokens` bounds what macros may bring in.
    """
    table = MacroTable(most_tokens=most_tokens)
    for line in (*predefined, *defines):
        name, _, value = line.partition("=")
        table.define(Definition.of(Macro(name, None, value if "=" in line else "1", source.span(0, 0))))
    return _Preprocessor(source, stream, table, headers, []).run()


@dataclass
class _Preprocessor:
    source: Source
    stream: Sequence[Token]
    table: MacroTable
    headers: HeaderFinder | None
    inclusions: list[Inclusion]
    branches: list[_Branch] = field(default_factory=list)
    written: ExpandedText = field(default_factory=ExpandedText)
    skipped: list[tuple[int, int]] = field(default_factory=list)
    used: set[str] = field(default_factory=set)
    rewritten: dict[int, str] = field(default_factory=dict)  # by index of the token
    changed: bool = False

    @property
    def is_live(self) -> bool:
        """Returns whether the compiler reads what stands here."""
        return not self.branches or self.branches[-1].live

    @cached_property
    def calls(self) -> Calls:
        """Returns where calls in the stream end."""
        return Calls(self.stream)

    def run(self) -> Preprocessed:
        """Walk the file once."""
        index = 0
        while index < len(self.stream):
            token = self.stream[index]
            if index in self.rewritten:
                self.written.copy(self.rewritten.pop(index), token)
            elif token.kind is TokenKind.DIRECTIVE:
                was_live = self.is_live
                self.directive(token)
                self.written.copy(token.text, token)
                if not (was_live or self.is_live):
                    self.note_skipped(token)
            elif not self.is_live:
                self.skip(token)
            elif token.kind is TokenKind.IDENTIFIER:
                index = self.name(index)
                continue
            else:
                self.written.copy(token.text, token)
            index += 1
        return Preprocessed(
            self.written.expansion(),
            tuple(self.skipped),
            frozenset(self.used),
            tuple(self.inclusions),
            self.changed,
            self.table.is_exhausted,
        )

    def skip(self, token: Token) -> None:
        """Blank a token of a branch not taken."""
        self.written.copy(blank(token.text), token)
        self.note_skipped(token)

    def note_skipped(self, token: Token) -> None:
        """Add a token to the extents of branches not taken."""
        if self.skipped and self.skipped[-1][1] == token.start:
            self.skipped[-1] = (self.skipped[-1][0], token.end)
        else:
            self.skipped.append((token.start, token.end))

    def directive(self, token: Token) -> None:
        """Conditionals move the branches; definitions count where the text is live."""
        name = directive_name(token, self.source.text)
        live = self.is_live
        if name in ("if", "ifdef", "ifndef"):
            truth = live and is_true(name, token, self.source.text, self.table, self.has_header)
            self.branches.append(_Branch(live, truth, truth))
        elif name in ("elif", "elifdef", "elifndef") and self.branches:
            top = self.branches[-1]
            top.live = (
                top.outer and not top.taken and is_true(name[2:], token, self.source.text, self.table, self.has_header)
            )
            top.taken = top.taken or top.live
        elif name == "else" and self.branches:
            top = self.branches[-1]
            top.live, top.taken = top.outer and not top.taken, True
        elif name == "endif" and self.branches:
            self.branches.pop()
        elif live and name == "define" and (macro := read_macro(self.source, token)) is not None:
            self.table.define(Definition.of(macro))
        elif live and name == "undef":
            self.table.undefine(token.text.split()[-1])
        elif live and name == "include" and self.headers is not None:
            self.include(token, self.headers)

    def has_header(self, name: str) -> bool:
        """Returns whether `__has_include` finds a header of the project by that name."""
        return self.headers is not None and self.headers(name, self.source) is not None

    def include(self, token: Token, finder: HeaderFinder) -> None:
        """Take over the macros of a header, once."""
        for include in includes(self.source, [token]):
            header = finder(include.path, self.source)
            walked = {self.source.path} | {i.header.path for i in self.inclusions if i.header is not None}
            self.inclusions.append(Inclusion(self.source, include, header))
            if header is not None and header.path not in walked and len(walked) <= MOST_HEADERS:
                inner = _Preprocessor(header, directives(header.text), self.table, finder, self.inclusions)
                for line in inner.stream:
                    inner.directive(line)

    def name(self, index: int) -> int:
        """Expand or rewrite what begins with the identifier at `index`; the index after what was used up."""
        token = self.stream[index]
        definition = self.table.definitions.get(token.text)
        called = self.calls.after_call(index) if definition is None or definition.params is not None else index + 1
        is_call = called > index + 1
        if definition is not None and (is_call or definition.params is None):
            if self.table.must_expand(token.text) or (is_call and names_types(self.stream[index + 1 : called])):
                return self.expand(index, called)
            if definition.kind is MacroKind.STATEMENT and not is_call:
                return self.expand(index, called)
        if is_call and token.text not in WITH_PARENTHESIS:
            holds = self.calls.holds_semicolon(index, called)
            statements = statements_in_call(self.stream, index, called) if holds else None
            if statements is not None:
                return self.as_block(index, statements, called)
            if (
                definition is not None
                and definition.kind is MacroKind.STATEMENT
                and not self.calls.is_terminated(called)
            ):
                return self.expand(index, called)
        if definition is None:
            return self.unknown(index, called)
        self.written.copy(token.text, token)
        return index + 1

    def unknown(self, index: int, end: int) -> int:
        """Copy a name, or blank it where it can only be a macro nobody defines; the index to go on from."""
        token = self.stream[index]
        how = guess(self.stream, index, end, self.written.previous)
        if how is Guess.NAME:
            self.written.copy(token.text, token)
            return index + 1
        self.changed = True
        opens = [t for t in self.stream[index:end] if t.kind is TokenKind.LAUNCH_OPEN or t.text == "{"]
        if how is Guess.STATEMENT and opens:  # NAME(f(x)) without a semicolon reads (f(x)) ;
            self.written.copy(blank(token.text), token)
            self.rewritten[index + 1] = " "
            self.rewritten[end - 1] = ";"
            return index + 1
        for hidden in self.stream[index:end]:
            if hidden.kind is TokenKind.DIRECTIVE:
                self.directive(hidden)
            self.written.copy(blank(hidden.text), hidden)
        return end

    def expand(self, index: int, end: int) -> int:
        """Replace the use of a macro, tokens `[index, end)`, by what it stands for; gives `end`."""
        name = self.stream[index].text
        self.used.add(name)
        self.changed = True
        meaning = expand(self.table, self.pieces(index, end), lambda n: n == name or self.table.must_expand(n))
        self.written.expanded(meaning)
        return end

    def as_block(self, index: int, statements: int, end: int) -> int:
        """Make a block of a macro call that is given statements: `DISPATCH(x, T, f(x);)` reads `{ f(x);}`.

        Only what follows is read; the macro's other arguments become blank. Gives the index of the first statement.
        """
        self.changed = True
        self.written.copy("{".ljust(len(self.stream[index].text)), self.stream[index])
        for token in self.stream[index + 1 : statements]:
            if token.kind is TokenKind.DIRECTIVE:
                self.directive(token)
            self.written.copy(blank(token.text), token)
        self.rewritten[end - 1] = "}"
        return statements

    def pieces(self, begin: int, end: int) -> list[Piece]:
        """The tokens `[begin, end)` ready for expansion, conditionals among them obeyed."""
        result: list[Piece] = []
        spaced = False
        for token in self.stream[begin:end]:
            if token.kind is TokenKind.DIRECTIVE:
                self.directive(token)
            if token.kind in (TokenKind.BLANK, TokenKind.COMMENT, TokenKind.DIRECTIVE):
                spaced = True
            elif not self.branches or self.branches[-1].live:
                result.append(Piece(token.kind, token.text, spaced, Origin(token.start, token.end, copied=True)))
                spaced = False
        return result


def preprocessed_tokens(result: Preprocessed, stream: Sequence[Token]) -> Sequence[Token]:
    """The tokens of the text after the preprocessor; `stream` itself where nothing changed."""
    if not result.changed and not result.skipped:
        return stream
    return tokens(result.expansion.text)
