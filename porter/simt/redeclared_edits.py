"""Edits of what sources say about the language itself: prototypes of CUDA's functions, macros in the place of keywords,
the linkage of what nobody can link.

nvcc takes all of these; g++ does not, or they would be ambiguous beside the executor's functions and its own text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile

from porter.source.edit import Edit
from porter.source.lexer import Token, match_bracket

_OF_CUDA = "__"  # with which names begin that no source may define
_AUTO = ("auto", "__auto_type")  # a word of C for what C++ has a keyword for


def prototype_edits(code: Sequence[Token]) -> Iterator[Edit]:
    """Yields the prototypes of functions of the device that are CUDA's: `__device__ void __syncthreads(void);`."""
    for index, token in enumerate(code):
        if token.text != "__device__" or (index and code[index - 1].text == "__device__"):
            continue
        opening = next((i for i in range(index, len(code)) if code[i].text in ("(", ";", "{", "=")), len(code))
        close = match_bracket(code, opening) if opening < len(code) and code[opening].text == "(" else None
        if close is None or not code[opening - 1].text.startswith(_OF_CUDA) or code[close + 1 : close + 2] == []:
            continue
        start = index - 1 if index and code[index - 1].text == "extern" else index
        if code[close + 1].text == ";" and opening - 1 > index:
            yield from (Edit(t.start, t.end, "") for t in code[start : close + 1])


def linkage_edits(code: Sequence[Token]) -> Iterator[Edit]:
    """Yields the `extern "C"` of functions that are `static`, and so have no name outside of their file."""
    for index, token in enumerate(code[:-2]):
        if token.text != "extern" or code[index + 1].text != '"C"':
            continue
        head = takewhile(lambda t: t.text not in ("(", "{", ";", "="), code[index + 2 :])
        if any(t.text == "static" for t in head):
            yield from (Edit(t.start, t.end, "") for t in code[index : index + 2])


def is_keyword_of_c(words: Sequence[Token]) -> bool:
    """Returns whether the words of a directive are `define auto __auto_type`."""
    return tuple(word.text for word in words[1:]) == _AUTO
