"""Template arguments that a source asks for by itself: `template void f<float>(float*);`, and by types alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from porter.source.deduction import deduced_from_types
from porter.source.lexer import Token, TokenKind, significant, split_arguments, tokens
from porter.source.program import Function, Program


def explicit_arguments(program: Program, function: Function) -> tuple[tuple[str, ...], ...]:
    """The template arguments of each explicit instantiation of `function` that gives them all."""
    words = [t for t in significant(tokens(program.source.text)) if t.kind is not TokenKind.DIRECTIVE]
    return tuple(arguments for arguments in _instantiations(words, function) if all(arguments))


def _instantiations(words: Sequence[Token], function: Function) -> Iterator[tuple[str, ...]]:
    """One argument for each template parameter: as written, else deduced, else the default, else empty."""
    for index, word in enumerate(words[:-1]):
        if word.text == "template" and words[index + 1].text != "<":
            stop = next((k for k in range(index, len(words)) if words[k].text in ("(", ";")), index)
            at = next((k for k in range(index, stop) if words[k].text == function.name), None)
            if at is not None:
                angled = split_arguments(words, at + 1) if words[at + 1].text == "<" else []
                written = tuple("".join(t.text for t in a) for a in angled)
                types = split_arguments(words, stop) if words[stop].text == "(" else []
                deduced = deduced_from_types(function, types)
                yield (*written, *(deduced.get(t.name) or t.default for t in function.template[len(written) :]))
