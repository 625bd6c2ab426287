"""Translates inline PTX, which MACA's compiler does not accept, to C++ (`grammars/ptx.toml`, column `maca`)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from porter.backend import Target
from porter.diagnostics.findings import Finding
from porter.simt.ptx import Unsupported, lower, parse_asm
from porter.simt.ptx_text import UnreadableAsmError
from porter.source.edit import Edit, apply_edits
from porter.source.lexer import Token, TokenKind, inside_directive, match_bracket, significant, tokens
from porter.source.parse import parse
from porter.source.vocabulary import ASM
from porter.source_text import Source, Span
from porter_maca.places import Places
from porter_maca.traced import Traced
from porter_maca.wave import rewrite

_QUALIFIERS = frozenset({"volatile", "__volatile__", "__volatile", "inline", "goto"})
_SINGLE = re.compile(r"do \{ (?P<statement>[^{};]*); \} while \(0\)")
_WARP_OPERATION = re.compile(r"\b__(shfl|ballot|any|all|activemask|match|reduce|syncwarp)\w*")
_SCOPE = "__device__ void statement() {{ {}; }}"  # what the wave rewrite is given of a single statement


@dataclass(frozen=True, slots=True)
class Statement:
    """One `asm` statement, up to its closing parenthesis."""

    text: str
    start: int
    end: int


def translate_ptx(traced: Traced, target: Target, places: Places) -> tuple[Traced, list[Finding], str]:
    """Returns `traced` with its inline PTX as C++, the findings, and the helpers that C++ about warps needs.

    An empty template is not PTX but a fence for the compiler, and stays.
    """
    edits: list[Edit] = []
    written: list[Span] = []
    refused: defaultdict[str, list[tuple[str, Span]]] = defaultdict(list)
    helpers = ""
    for statement in statements(traced.text):
        span = traced.span(statement.start, statement.end)
        code = _lowered(statement)
        if isinstance(code, Unsupported):
            refused[code.reason].append((code.instruction.split()[0] if code.instruction.split() else "asm", span))
        elif code:
            code, needed = _confined(code, traced.source, target)
            helpers = helpers or needed
            edits.append(Edit(statement.start, statement.end, code))
            written.append(span)
    findings = [_refusal(reason, found, places) for reason, found in refused.items()]
    if written:
        findings.append(places.finding("PORT1170", written, "inline PTX is written as C++", "read the new lines once"))
    return traced.edited(edits), findings, helpers


def statements(text: str) -> Iterator[Statement]:
    """Yields the `asm` statements of `text`, also within macros."""
    stream = tokens(text)
    for token in stream:
        if token.kind is TokenKind.DIRECTIVE:
            yield from _statements(significant(inside_directive(token, text)), text)
    yield from _statements([t for t in significant(stream) if t.kind is not TokenKind.DIRECTIVE], text)


def _statements(code: Sequence[Token], text: str) -> Iterator[Statement]:
    for i, token in enumerate(code):
        if token.text not in ASM or token.kind is not TokenKind.IDENTIFIER:
            continue
        opening = i + 1
        while opening < len(code) and code[opening].text in _QUALIFIERS:
            opening += 1
        close = match_bracket(code, opening) if opening < len(code) and code[opening].text == "(" else None
        if close is not None:
            yield Statement(text[token.start : code[close].end], token.start, code[close].end)


def _lowered(statement: Statement) -> str | Unsupported:
    """Returns C++ for the statement; empty when it should stay."""
    try:
        parsed = parse_asm(statement.text)
    except UnreadableAsmError as unread:
        return Unsupported(unread.instruction, unread.reason)
    if not parsed.template.strip(" \t\n;"):
        return ""
    code = lower(parsed, "maca")
    if isinstance(code, Unsupported):
        return code
    if "__lane_id" in code:
        return Unsupported("%laneid", "a register of the warp is read in the middle of a longer statement")
    single = _SINGLE.fullmatch(code)
    return single["statement"] if single else code


def _confined(code: str, source: Source, target: Target) -> tuple[str, str]:
    """Returns `code` with its warp operations confined to 32 lanes, and the helpers for that."""
    if not _WARP_OPERATION.search(code):
        return code, ""
    head, tail = _SCOPE.format("\0").split("\0")
    scope = Source(source.path, head + code + tail)
    wave = rewrite(parse(scope), scope, target)
    return apply_edits(scope.text, wave.edits).removeprefix(head).removesuffix(tail), wave.helpers


def _refusal(reason: str, found: Sequence[tuple[str, Span]], places: Places) -> Finding:
    names = ", ".join(list(dict.fromkeys(f"`{instruction}`" for instruction, _ in found))[:4])
    return places.finding(
        "PORT1171", [span for _, span in found], f"inline PTX without a form on MACA: {names}", reason
    )
