"""Kernel launches, from the tokens: a launch is found even where the grammar understands nothing around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from porter.source.functions import Defined
from porter.source.lexer import Token, TokenKind, match_bracket, split_arguments
from porter.source.program import Expr, Launch
from porter.source.reading import Reading


def find_launches(reading: Reading, functions: Sequence[Defined]) -> tuple[Launch, ...]:
    """Every `kernel<<<...>>>(...)` in `reading`, in order."""
    words = reading.words
    return tuple(
        launch
        for i, token in enumerate(words)
        if token.kind is TokenKind.LAUNCH_OPEN
        for launch in _launch(reading, i, functions)
    )


def _launch(reading: Reading, opening: int, functions: Sequence[Defined]) -> Iterator[Launch]:
    words = reading.words
    close = match_bracket(words, opening)
    begin, callee = _callee(words, opening)
    if close is None or not callee:
        return
    config = [reading.expression(a) for a in split_arguments(words, opening) if a]
    if len(config) < 2:
        return
    args, last = _arguments(reading, close + 1)
    kernel, template_args = _split_callee(reading, callee)
    yield Launch(
        kernel=kernel,
        template_args=template_args,
        grid=config[0],
        block=config[1],
        shared_bytes=_nth(config, 2),
        stream=_nth(config, 3),
        args=args,
        inside=enclosing(functions, words[opening].start),
        span=reading.span(words[begin].start, words[last].end),
    )


def _nth(config: Sequence[Expr], index: int) -> Expr | None:
    return config[index] if index < len(config) else None


def _arguments(reading: Reading, opening: int) -> tuple[tuple[Expr, ...], int]:
    """The arguments in the parenthesis at `opening`, and the index of the launch's last token."""
    words = reading.words
    if opening >= len(words) or words[opening].text != "(":
        return (), opening - 1
    close = match_bracket(words, opening)
    args = tuple(reading.expression(a) for a in split_arguments(words, opening) if a)
    return args, len(words) - 1 if close is None else close


def enclosing(functions: Sequence[Defined], offset: int) -> str:
    """The qualified name of the innermost function whose body holds `offset`; empty when none does."""
    holding = [d for d in functions if d.body <= offset < d.end]
    return max(holding, key=lambda d: d.body).function.qualified if holding else ""


def _callee(words: Sequence[Token], opening: int) -> tuple[int, list[Token]]:
    """Index where the callee before a `<<<` begins, and its tokens: `a::k<T, 4>`, `(k<T>)`, `*k`."""
    if opening == 0:
        return opening, []
    if words[opening - 1].text == ")":
        begin = _back(words, opening - 1, "(", ")")
        return begin, list(words[begin + 1 : opening - 1])
    begin = opening
    while begin > 0:
        name = _back(words, begin - 1, "<", ">")
        if name < begin - 1:
            name -= 1
        if name < 0 or words[name].kind is not TokenKind.IDENTIFIER:
            break
        begin = name
        if begin == 0 or words[begin - 1].text != "::":
            break
        begin -= 1
        if begin == 0 or (words[begin - 1].kind is not TokenKind.IDENTIFIER and words[begin - 1].text[0] != ">"):
            break
    return begin, list(words[begin:opening])


def _back(words: Sequence[Token], last: int, opening: str, closing: str) -> int:
    """Index of the bracket that `words[last]` closes; `last` itself when that closes none."""
    depth = 0
    for i in range(last, -1, -1):
        text = words[i].text
        if text and text == closing * len(text):
            depth += len(text)
        elif text == opening:
            depth -= 1
        if depth <= 0:
            return i
    return last


def _split_callee(reading: Reading, callee: Sequence[Token]) -> tuple[str, tuple[str, ...]]:
    """`a::k<T, 4>` as `a::k` and its template arguments."""
    angle = next((i for i, t in enumerate(callee) if t.text == "<" and _closes_at_end(callee, i)), len(callee))
    name = "".join(t.text for t in callee[:angle]).lstrip("&*:")
    return name, tuple(reading.written(a) for a in split_arguments(callee, angle)) if angle < len(callee) else ()


def _closes_at_end(callee: Sequence[Token], index: int) -> bool:
    return match_bracket(callee, index) == len(callee) - 1
