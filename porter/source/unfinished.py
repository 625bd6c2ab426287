"""Files that end within a bracket, a branch or a comment: cut off, or short of a brace. No compiler takes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from porter.errors import InputError
from porter.source.directives import directive_name
from porter.source.lexer import CLOSING, OPENING, Token, TokenKind
from porter.source.program import Program
from porter.source.reading import Reading
from porter.source.vocabulary import STATEMENT_ENDS
from porter.source_text import Source, Span

CODE = "PORT2014"
Unfinished = tuple[Span, str]


def unfinished(
    reading: Reading, stream: Sequence[Token], skipped: Iterable[tuple[int, int]], *, all_headers: bool
) -> Unfinished | None:
    """Returns the place that the file never finishes, with what is wrong there; None for a whole one, or a string.

    Macros may hold halves of brackets, and so may what porter makes of macros that it does not know: the file's own
    text and what the preprocessor made of it both have to lack one. A header that was not found (not `all_headers`)
    may close the namespace that the file opens, but no function.
    """
    source = reading.source
    if source.path.suffix == ".py":  # whose strings may be put together
        return None
    for span, what in (*_open_comments(source, stream), *_open_branches(source, stream)):
        return span, f"{what} is never closed"
    left_out = tuple(skipped)
    compiled = [t for t in stream if t.kind is TokenKind.PUNCTUATION and not any(a <= t.start < b for a, b in left_out)]
    if _unmatched(compiled) is None or (place := _unmatched(reading.words)) is None:
        return None
    bracket = reading.words[place]
    if not all_headers and (bracket.text in CLOSING or _opens_scope(reading.words, place)):
        return None
    span = reading.span_of([bracket])
    if bracket.text in CLOSING:
        return span, f"`{bracket.text}` closes nothing"
    return span, f"`{bracket.text}` is never closed"


def refuse_unfinished(program: Program) -> None:
    """Raises `InputError` for a program whose file is not whole, at the line that shows it."""
    for found in program.findings:
        if found.code == CODE and found.span is not None:
            path, span = program.source.path, found.span
            line = program.source.line(span.line).strip()
            raise InputError(f"{path}:{span.line}:{span.column}: syntax error: {found.message}: {line}", found.hint)


def _unmatched(words: Sequence[Token]) -> int | None:
    """Index of the innermost bracket that lacks its other half, of the first that does; None where all have one."""
    opened: list[int] = []
    for index, word in enumerate(words):
        if word.kind is not TokenKind.PUNCTUATION:
            continue
        if word.text in OPENING:
            opened.append(index)
        elif word.text in CLOSING:
            if word.text not in (OPENING[words[other].text] for other in opened):
                return index
            if OPENING[words[opened[-1]].text] != word.text:
                return opened[-1]
            opened.pop()
    return opened[-1] if opened else None


def _opens_scope(words: Sequence[Token], index: int) -> bool:
    """Returns whether the brace at `index` opens a namespace or a linkage, whose other half a header may hold."""
    begin = index
    while begin > 0 and words[begin - 1].text not in STATEMENT_ENDS:
        begin -= 1
    head = [word.text for word in words[begin:index]]
    return "namespace" in head or (head[:1] == ["extern"] and "(" not in head)


def _open_comments(source: Source, stream: Sequence[Token]) -> Iterator[Unfinished]:
    for token in stream[-1:]:
        if token.kind is TokenKind.COMMENT and token.text.startswith("/*") and not token.text[2:].endswith("*/"):
            yield source.span(token.start, token.start + 2), "the comment"


def _open_branches(source: Source, stream: Sequence[Token]) -> Iterator[Unfinished]:
    """The innermost `#if` without its `#endif`."""
    opened: list[Token] = []
    for token in stream:
        if token.kind is TokenKind.DIRECTIVE:
            name = directive_name(token, source.text)
            if name in ("if", "ifdef", "ifndef"):
                opened.append(token)
            elif name == "endif":
                del opened[-1:]
    for token in opened[-1:]:
        yield source.span(token.start, token.end), f"#{directive_name(token, source.text)}"
