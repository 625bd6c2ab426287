"""Functions that a text declares without a body."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from porter.source.lexer import Token, TokenKind, significant, tokens


@lru_cache(maxsize=256)
def prototypes(text: str) -> frozenset[str]:
    """The functions that `text` declares without a body, outside of any class or function."""
    return frozenset(_prototypes(text))


def _prototypes(text: str) -> Iterator[str]:
    scopes, statement = list[bool](), list[Token]()
    for token in (t for t in significant(tokens(text)) if t.kind is not TokenKind.DIRECTIVE):
        statement.append(token)
        if token.text == "{":
            scopes.append(_is_of_declarations([t.text for t in statement]))
        elif token.text == "}":
            del scopes[-1:]
        elif token.text == ";":
            if all(scopes) and (name := _declared_function(statement)):
                yield name
        else:
            continue
        statement = []


def _is_of_declarations(words: Sequence[str]) -> bool:
    """Returns whether a brace opens a namespace or `extern "C" {`, and no body of a function that is extern."""
    return "namespace" in words or (words[:1] == ["extern"] and "(" not in words)


def _declared_function(statement: Sequence[Token]) -> str:
    """The name in `T name(...);`; empty for any other statement."""
    words = [t.text for t in statement]
    opening = words.index("(") if "(" in words else 0
    is_declaration = opening > 1 and words[-2] == ")" and not {"=", "using", "typedef"} & {*words[:opening]}
    return words[opening - 1] if is_declaration and statement[opening - 1].kind is TokenKind.IDENTIFIER else ""
