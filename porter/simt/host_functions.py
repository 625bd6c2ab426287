"""Functions of the host where kernels stand alone: a mark in each tells when a kernel calls it.

A compiler of a device refuses a kernel that calls a function without `__device__`. A C++ compiler does not, so each
such function refers to a symbol that nobody has: where the object of the kernels still does, one of them calls it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from porter.source.directives import directives, macros
from porter.source.edit import Edit, apply_edits
from porter.source.lexer import TokenKind, match_bracket, significant, tokens
from porter.source.parse import parse
from porter.source.program import Function
from porter.source_text import Source

PREFIX = "host_function_"
_OF_DEVICES = frozenset(("__device__", "__global__"))
_ANYWHERE = frozenset(("constexpr", "consteval"))
_WITH_BRACKETS = frozenset(("__launch_bounds__", "__attribute__", "alignas", "__align__", "decltype", "noexcept"))
_FORCED = "force_cuda_host_device"


def with_marks(files: Sequence[Source], defines: tuple[str, ...]) -> tuple[Source, ...]:
    """`files` with a mark in each function that a device does not have."""
    if any(_FORCED in file.text for file in files):
        return tuple(files)
    words = _device_words(files)
    declared = frozenset(name for file in files for name in _declared(file.text, words))
    return tuple(_marked(file, words, declared, defines) for file in files)


def _device_words(files: Iterable[Source]) -> frozenset[str]:
    """Returns what says that a function is a device's: the qualifiers, and macros that any branch makes of them."""
    bodies = [(m.name, set(re.findall(r"\w+", m.body))) for f in files for m in macros(f, directives(f.text))]
    words = set(_OF_DEVICES)
    while more := {name for name, body in bodies if words & body} - words:
        words |= more
    return frozenset(words)


def _declared(text: str, words: frozenset[str]) -> Iterator[str]:
    """The functions that a declaration anywhere gives to devices: a definition elsewhere need not say it again."""
    code = [t for t in significant(tokens(text)) if t.kind is not TokenKind.DIRECTIVE]
    for start in (index for index, token in enumerate(code) if token.text in words):
        index = start + 1
        while index < len(code) and code[index].text not in (";", "{", "}", "="):
            if code[index].text == "(":
                if code[index - 1].text not in _WITH_BRACKETS:
                    yield code[index - 1].text
                    break
                index = match_bracket(code, index) or len(code)
            index += 1


def _marked(file: Source, words: frozenset[str], declared: frozenset[str], defines: tuple[str, ...]) -> Source:
    hosts = [f for f in parse(file, defines=defines).host_functions if f.space == "host" and f.name not in declared]
    edits = (edit for function in hosts for edit in _mark(file.text, function, words))
    return Source(file.path, apply_edits(file.text, edits), file.first_line)


def _mark(text: str, function: Function, words: frozenset[str]) -> Iterator[Edit]:
    """Nothing where a macro made the function, or where it may run anywhere."""
    said = set(re.findall(r"\w+", text[function.span.start : function.body.start]))
    if text[function.body.start : function.body.start + 1] == "{" and not said & (words | _ANYWHERE):
        name = re.sub(r"\W", "_", function.name)
        yield Edit(function.body.start + 1, function.body.start + 1, f" PORTER_HOST_ONLY({name})")
