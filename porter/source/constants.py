"""The constants a source defines: `#define`, `constexpr`, `static const`, enumerators, functions of one `return`."""

from __future__ import annotations

import re

from porter.source.folding import Environment
from porter.source.lexer import Token, TokenKind, significant, split_arguments, tokens
from porter.source.macros import Definition, MacroTable
from porter.source.program import Function, Program
from porter.source.vocabulary import STATEMENT_ENDS


def environment_of(program: Program, headers: Program | None = None) -> Environment:
    """The constants `program` itself defines: macros, `const` integers, enumerators and one-line functions."""
    table = MacroTable()
    expressions: dict[str, str] = {}
    for part in (headers, program):
        if part is None:
            continue
        for macro in part.macros:
            table.define(Definition.of(macro))
        expressions.update(named_constants(part.source.text))
    one_liners = {
        f.name: one for f in program.host_functions + program.device_functions if (one := _one_liner(program, f))
    }
    return Environment({}, expressions, table, one_liners)


def named_constants(text: str) -> dict[str, str]:
    """`const` and `constexpr` variables and enumerators of `text` with their initializers, at any scope."""
    words = significant(tokens(text))
    found: dict[str, str] = {}
    for i, token in enumerate(words):
        if token.text in ("const", "constexpr"):
            found.update(_initialised(text, words, i))
        elif token.text == "enum":
            found.update(enumerators(text, words, i))
    return found


def _initialised(text: str, words: list[Token], index: int) -> dict[str, str]:
    """`const T name = value;` that begins at `index`; nothing when another construct stands there."""
    for i in range(index + 1, min(index + 12, len(words) - 1)):
        if words[i].text in (";", "(", ")", "{", "}", ",", "*", "&", "["):
            return {}
        if words[i].text == "=" and words[i - 1].kind is TokenKind.IDENTIFIER:
            stop = next((k for k in range(i, len(words)) if words[k].text in STATEMENT_ENDS), len(words) - 1)
            return {words[i - 1].text: text[words[i].end : words[stop].start]}
    return {}


def enumerators(text: str, words: list[Token], index: int) -> dict[str, str]:
    """The names that the `enum` at `index` defines, with their values as written or in terms of the one before."""
    opening = next((i for i in range(index, min(index + 8, len(words))) if words[i].text in ("{", ";", "(")), index)
    if words[opening].text != "{":
        return {}
    found: dict[str, str] = {}
    previous = ""
    for entry in split_arguments(words, opening):
        if not entry:
            continue
        name = entry[0].text
        given = len(entry) > 2 and entry[1].text == "="
        default = f"({previous}) + 1" if previous else "0"
        found[name] = text[entry[2].start : entry[-1].end] if given else default
        previous = name
    return found


def _one_liner(program: Program, function: Function) -> tuple[tuple[str, ...], str] | None:
    """Parameters and result of a function whose body is one `return`; None for any other."""
    body = re.fullmatch(r"\{\s*return\s+([^;]+);\s*\}", program.source.slice(function.body))
    return (tuple(p.name for p in function.params), body.group(1)) if body else None
