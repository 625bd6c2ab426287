"""Reads the types that sources enumerate, and their values: the possible values of a parameter of such a type."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from porter.contract.model.expressions import evaluate
from porter.contract.model.syntax import ExpressionError
from porter.source.constants import enumerators
from porter.source.lexer import Token, TokenKind, match_bracket, significant, tokens

# The last one, which only says how many there are.
_COUNT = re.compile(r"(?i)k?num_?[a-z_]*|[a-z_]*count")


def enumerations(texts: Iterable[str]) -> Mapping[str, tuple[int, ...]]:
    """Returns the values of each `enum` by its name, or the name in `typedef enum {...} Name`, each value once."""
    found: dict[str, tuple[int, ...]] = {}
    for text in (text for text in texts if "enum" in text):
        words = significant(tokens(text))
        for i, word in enumerate(words):
            values = _values(enumerators(text, words, i)) if word.text == "enum" else ()
            found |= dict.fromkeys(_names(words, i), values) if values else {}
    return found


def enumerated(text: str) -> Mapping[str, int]:
    """Returns the numbers of the enumerators of `text`, by their own names and by names with their type in front."""
    found: dict[str, int] = {}
    words = significant(tokens(text)) if "enum" in text else []
    for i, word in enumerate(words):
        known = _known(enumerators(text, words, i)) if word.text == "enum" else {}
        found |= known
        found |= (
            {f"{type_}::{name}": value for type_ in _names(words, i) for name, value in known.items()} if known else {}
        )
    return found


def _values(named: Mapping[str, str]) -> tuple[int, ...]:
    """Returns the numbers, without the count of them; none where one depends on something defined elsewhere."""
    known = dict(_known(named))
    if len(known) < len(named):
        return ()
    if len(known) > 1 and _COUNT.fullmatch(next(reversed(known))):
        known.popitem()
    return tuple(dict.fromkeys(known.values()))


def _known(named: Mapping[str, str]) -> Mapping[str, int]:
    """Returns the numbers up to the first one that hangs on what is defined elsewhere."""
    known: dict[str, int] = {}
    try:
        for name, text in named.items():
            known[name] = evaluate(text, known)
    except ExpressionError:
        pass
    return known


def _names(words: list[Token], index: int) -> list[str]:
    """Returns the name behind `enum`, and the one behind its closing bracket."""
    first = next(word for word in words[index + 1 :] if word.text not in ("class", "struct"))
    opening = next(i for i in range(index, len(words)) if words[i].text == "{")
    close = match_bracket(words, opening) or index
    return [word.text for word in (first, *words[close + 1 : close + 2]) if word.kind is TokenKind.IDENTIFIER]
