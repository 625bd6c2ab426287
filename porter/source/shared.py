"""Variables with CUDA storage: `__shared__` ones, and `__constant__` and `__device__` ones outside of functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from porter.source.lexer import Token, match_bracket
from porter.source.mask import after_arguments
from porter.source.program import ConstantVariable, SharedArray
from porter.source.reading import Reading
from porter.source.vocabulary import QUALIFIERS, STATEMENT_ENDS, WITH_ARGUMENTS

_NOT_PART_OF_TYPE = frozenset(("extern", "static", "volatile", "typename", "constexpr", "const"))


def shared_arrays(reading: Reading, start: int, end: int) -> tuple[SharedArray, ...]:
    """The `__shared__` variables declared in `reading.text[start:end]`."""
    words = reading.words
    found: list[SharedArray] = []
    for i in range(reading.index_at(start), reading.index_at(end)):
        if words[i].text == "__shared__":
            begin, stop = _statement(words, i)
            found.extend(_declared(reading, words[begin:stop]))
    return tuple(found)


def outer_shared_arrays(reading: Reading, functions: Sequence[tuple[int, int]]) -> tuple[SharedArray, ...]:
    """Returns the `__shared__` variables declared outside of `functions`, which several of these may use."""
    every = shared_arrays(reading, 0, len(reading.text))
    within = {array.span for start, end in functions for array in shared_arrays(reading, start, end)}
    return tuple(array for array in every if array.span not in within)


def constant_variables(reading: Reading, bodies: Sequence[tuple[int, int]]) -> tuple[ConstantVariable, ...]:
    """`__constant__` variables, and `__device__` ones outside the function extents `bodies`."""
    words = reading.words
    found: list[ConstantVariable] = []
    for i, token in enumerate(words):
        if token.text not in ("__constant__", "__device__", "__managed__") or _inside(token.start, bodies):
            continue
        begin, stop = _statement(words, i)
        statement = words[begin:stop]
        if token.text == "__device__" and (begin != i and words[begin].text == "__constant__"):
            continue
        name = _variable(statement)
        if name and not any(f.span == reading.span_of(statement) for f in found):
            found.append(ConstantVariable(name, reading.written(statement), reading.span_of(statement)))
    return tuple(found)


def _inside(offset: int, extents: Sequence[tuple[int, int]]) -> bool:
    return any(a <= offset < b for a, b in extents)


def _statement(words: Sequence[Token], index: int) -> tuple[int, int]:
    """Extent of the declaration around `words[index]`, without its semicolon."""
    begin = index
    while begin > 0 and words[begin - 1].text not in STATEMENT_ENDS:
        begin -= 1
    stop = index
    while stop < len(words) and words[stop].text not in (";", "}"):
        close = match_bracket(words, stop) if words[stop].text in ("(", "[", "{") else None
        stop = stop + 1 if close is None else close + 1
    return begin, stop


def _variable(statement: Sequence[Token]) -> str:
    """The name a declaration gives; empty for a function and for what is no declaration."""
    words = _without_qualifiers(statement)
    if not words or words[0].text in ("using", "typedef", "template", "struct", "class", "enum", "namespace", "extern"):
        return ""
    for i, token in enumerate(words):
        if token.text in ("(", ")", "]") and i < len(words):
            return ""
        following = words[i + 1].text if i + 1 < len(words) else ""
        if i > 0 and token.text.isidentifier() and following in ("[", "=", "{", "", ","):
            return token.text
    return ""


def _without_qualifiers(words: Sequence[Token]) -> list[Token]:
    kept: list[Token] = []
    index = 0
    while index < len(words):
        if words[index].text in WITH_ARGUMENTS:
            index = after_arguments(words, index)
            continue
        if words[index].text not in QUALIFIERS:
            kept.append(words[index])
        index += 1
    return kept


def _declared(reading: Reading, statement: Sequence[Token]) -> Iterator[SharedArray]:
    """Every variable of one `__shared__` declaration: `extern`, a type, and declarators with their extents."""
    dynamic = any(t.text == "extern" for t in statement)
    words = [t for t in _without_qualifiers(statement) if t.text not in _NOT_PART_OF_TYPE]
    kind_end = _type_end(words)
    element = reading.written(words[:kind_end])
    for declarator in _declarators(words[kind_end:]):
        if not declarator or not declarator[0].text.isidentifier():
            continue
        extents = tuple(_extents(reading, declarator[1:]))
        place = reading.span(statement[0].start, statement[-1].end)
        yield SharedArray(declarator[0].text, element, extents, dynamic, place)


def _type_end(words: Sequence[Token]) -> int:
    """Index of the first declared name: the last identifier before an extent, a comma, `=`, `{`, `(` or the end."""
    index = 0
    while index < len(words):
        text = words[index].text
        close = match_bracket(words, index) if text == "<" else None
        if close is not None:
            index = close
        elif text in ("[", ",", "=", "{", "("):
            return max(0, index - 1)
        index += 1
    return max(0, len(words) - 1)


def _declarators(words: Sequence[Token]) -> Iterator[Sequence[Token]]:
    begin = index = 0
    while index < len(words):
        close = match_bracket(words, index) if words[index].text in ("(", "[", "{") else None
        if words[index].text == ",":
            yield words[begin:index]
            begin = index + 1
        index = index + 1 if close is None else close + 1
    yield words[begin:]


def _extents(reading: Reading, words: Sequence[Token]) -> Iterator[str]:
    index = 0
    while index < len(words) and words[index].text == "[":
        close = match_bracket(words, index)
        if close is None:
            return
        yield reading.written(words[index + 1 : close])
        index = close + 1
