"""Finds the words that a program is run with: numbers, if its `main` reads numbers and ends without them.

Other words - names of files, of modes - cannot be guessed; a program that wants one is run without any.
"""

from __future__ import annotations

import re
from itertools import chain

from porter.contract.analysis.body import written
from porter.contract.analysis.usage import Usage
from porter.contract.model.contract import ScalarArg
from porter.source.program import Function

# The functions of the C and C++ libraries that read a number from a word.
_WHOLE = r"ato(?:i|l|ll)|sto(?:i|l|ll|ul|ull)|strto(?:l|ll|ul|ull)"
_REAL = r"atof|sto(?:f|d|ld)|strto(?:f|d|ld)"
# More than a block of 256 has threads, a multiple of a wave, and few enough for a count of repetitions.
_GUESS = {"int": "320", "float": "0.5"}
# By how many more words the condition wants than the number it names.
_MORE = {"!=": 0, "<": 0, "<=": 1, "==": 1}


def program_arguments(usage: Usage, main: Function) -> tuple[ScalarArg, ...]:
    """Returns the words behind the program's name, `argv[1]` and on; none if one is not a number, or none is wanted."""
    if len(main.params) < 2:
        return ()
    count, words = (re.escape(p.name) for p in main.params[:2])
    text = written(usage.body(main).words)
    types = {int(place): "int" for place in _read(_WHOLE, words, text)}
    types |= {int(place): "float" for place in _read(_REAL, words, text)}
    places = range(1, _wanted(count, text))
    if not all(place in types for place in places):
        return ()
    return tuple(ScalarArg(f"{main.params[1].name}[{p}]", types[p], _GUESS[types[p]]) for p in places)


def _read(functions: str, words: str, text: str) -> list[str]:
    """Returns the places of the words that one of `functions` is given."""
    return re.findall(rf"\b(?:{functions})\({words}\[(\d+)\]", text)


def _wanted(count: str, text: str) -> int:
    """Returns how many words a program needs, its own name among them, for it not to end at once."""
    ends = r"\)\{?(?:[^{}]*?;)?(?:return\b|(?:std::)?exit\()"
    found = re.findall(rf"\bif\([^;{{}}]*?\b{count}(!=|<=|<|==)(\d+)[^;{{}}]*?{ends}", text)
    turned = re.findall(rf"\bif\([^;{{}}]*?\b(\d+)(!=|>=|>|==){count}\b[^;{{}}]*?{ends}", text)
    flipped = ((symbol.replace(">", "<"), number) for number, symbol in turned)
    return max((int(number) + _MORE[symbol] for symbol, number in chain(found, flipped)), default=0)
