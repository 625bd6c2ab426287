"""Replaces device functions and forms that MACA's compiler or headers lack."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from porter.backend import Target
from porter.diagnostics.findings import Finding
from porter.source.edit import Edit
from porter.source.lexer import Token, TokenKind, inside_directive, significant, split_arguments, tokens
from porter.source.pragmas import pragma_argument_edits, pragma_edits
from porter_maca.declared import Declared
from porter_maca.limits import SETS_ATTRIBUTE
from porter_maca.places import Places
from porter_maca.traced import Traced

_BFLOAT16 = frozenset(
    f"{prefix}bfloat16{width}"
    for prefix in ("__nv_", "nv_", "__maca_", "maca_", "__hpcc_", "hpcc_")
    for width in ("", "2")
)
_PLAIN = frozenset(
    {
        *("float", "double", "int", "unsigned", "long", "short", "char", "bool", "half", "__half", "half2", "__half2"),
        *("int32_t", "uint32_t", "int64_t", "uint64_t", "size_t", "float2", "float4"),
    }
)
_BETWEEN = frozenset({"*", "&", "const", "volatile", "__restrict__", "restrict", "__restrict"})


@dataclass(frozen=True, slots=True)
class Substitute:
    """`names` are replaced by `replacement`, which `helper` defines; `only_for` restricts it to one element type."""

    names: frozenset[str]
    replacement: str
    code: str
    lacks: str
    hint: str
    helper: str
    only_for: str = ""


@cache
def substitutes() -> tuple[Substitute, ...]:
    """Returns the rows of `device_functions.toml`."""
    rows = tomllib.loads((files("porter_maca") / "device_functions.toml").read_text("utf-8"))["function"]
    return tuple(Substitute(**{**row, "names": frozenset(row["names"])}) for row in rows)


def mend(traced: Traced, own: Declared, target: Target, places: Places) -> tuple[Traced, list[Finding], str]:
    """Returns `traced` without forms that MACA lacks, the findings, and the helper functions it now needs."""
    stream = tokens(traced.text)
    code = [t for t in significant(stream) if t.kind is not TokenKind.DIRECTIVE]
    lines = [(t, significant(inside_directive(t, traced.text))) for t in stream if t.kind is TokenKind.DIRECTIVE]
    macros = [words for _, words in lines if words and words[0].text == "define"]
    edits = [edit for directive, words in lines for edit in pragma_edits(directive, words)]
    findings: list[Finding] = []
    helpers: list[str] = []
    for words in (code, *macros):
        edits.extend((*_casts(words), *pragma_argument_edits(words)))
    for row in substitutes():
        if row.only_for == "bfloat16" and (target.bf16_atomics or not _mentions(code, _BFLOAT16)):
            continue
        helper = row.helper.strip("\n") + "\n"
        here = traced.text.find(helper)
        calls = [t for words in (code, *macros) for t in _calls(words, row) if t.text not in own.functions]
        calls = [t for t in calls if not 0 <= here <= t.start < here + len(helper)]
        if calls:
            edits.extend(Edit(t.start, t.end, row.replacement) for t in calls)
            names = ", ".join(dict.fromkeys(t.text for t in calls))
            spans = [traced.span(t.start, t.end) for t in calls]
            findings.append(places.finding(row.code, spans, f"{names} {row.lacks}", row.hint))
            helpers.extend([helper] if here < 0 else [])
    return traced.edited(edits), findings, "\n".join(helpers)


def _mentions(code: Sequence[Token], names: frozenset[str]) -> bool:
    return any(t.kind is TokenKind.IDENTIFIER and t.text in names for t in code)


def _calls(code: Sequence[Token], row: Substitute) -> Iterator[Token]:
    """Yields the names in `code` that are called, bare or in the global namespace."""
    for i, token in enumerate(code[:-1]):
        if token.kind is not TokenKind.IDENTIFIER or token.text not in row.names or code[i + 1].text != "(":
            continue
        if (i and code[i - 1].text in (".", "->")) or (i > 1 and code[i - 1].text == "::" and _is_name(code[i - 2])):
            continue
        if row.only_for and _is_plain(code, i):
            continue
        yield token


def _is_name(token: Token) -> bool:
    return token.kind is TokenKind.IDENTIFIER


def _is_plain(code: Sequence[Token], call: int) -> bool:
    """Returns whether the pointer passed first certainly points to a type that has the instruction."""
    arguments = split_arguments(code, call + 1)
    words = [t.text for t in arguments[0]] if arguments else []
    if any(w.endswith("_cast") for w in words):
        return any(w in _PLAIN for w in words)
    base = next((w for w in words if w.isidentifier() and w not in _BETWEEN), "")
    types = _declared_types(code, base)
    return bool(types) and types <= _PLAIN


def _declared_types(code: Sequence[Token], name: str) -> set[str]:
    """Returns the type names in front of every declaration of `name`."""
    types: set[str] = set()
    for i, token in enumerate(code):
        if token.text != name or i == 0:
            continue
        j = i - 1
        while j > 0 and code[j].text in _BETWEEN:
            j -= 1
        if _is_name(code[j]) and (j < i - 1 or code[j].text not in ("return", "else")):
            types.add(code[j].text)
        elif code[j].text == ">" and j < i - 1:
            types.add(">")
    return types


def _casts(code: Sequence[Token]) -> Iterator[Edit]:
    """Yields the kernel given to cudaFuncSetAttribute as `const void*`: MACA declares no overload for functions."""
    for i, token in enumerate(code[:-1]):
        if token.text not in SETS_ATTRIBUTE or code[i + 1].text != "(":
            continue
        arguments = split_arguments(code, i + 1)
        if len(arguments) != 3 or not arguments[0] or any(t.text == "void" for t in arguments[0]):
            continue
        start, end = arguments[0][0].start, arguments[0][-1].end
        yield Edit(start, start, "reinterpret_cast<const void*>(")
        yield Edit(end, end, ")")
