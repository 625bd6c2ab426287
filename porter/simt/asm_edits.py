"""`asm("…" : … )` as the C++ that does the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from porter.simt.ptx import Unsupported, lower, parse_asm
from porter.simt.ptx_text import UnreadableAsmError
from porter.source.edit import Edit
from porter.source.lexer import Token, TokenKind, match_bracket
from porter.source.vocabulary import ASM

_QUALIFIERS = frozenset(("volatile", "__volatile__", "inline"))


def asm_edits(text: str, code: Sequence[Token]) -> Iterator[Edit]:
    """Edits for every inline PTX statement of `code`; the number of lines stays.

    What has no C++ form becomes a fault where it is reached: much code carries instructions that a run never meets.
    """
    for index, token in enumerate(code):
        if token.kind is not TokenKind.IDENTIFIER or token.text not in ASM:
            continue
        opening = index + 1
        while opening < len(code) and code[opening].text in _QUALIFIERS:
            opening += 1
        closing = match_bracket(code, opening) if opening < len(code) and code[opening].text == "(" else None
        if closing is not None:
            yield _edit(text, token.start, code[closing].end)


def _edit(text: str, start: int, end: int) -> Edit:
    newline = "\\\n" if "\\\n" in text[start:end] else "\n"
    return Edit(start, end, _statement(text[start:end]) + newline * text.count("\n", start, end))


def _statement(asm: str) -> str:
    try:
        lowered = lower(parse_asm(asm), "simt")
    except UnreadableAsmError as unread:
        lowered = Unsupported(unread.instruction, unread.reason)
    if isinstance(lowered, str):
        return lowered
    message = " ".join(f"inline PTX is not modelled: {lowered.reason}".replace("\\", "/").replace('"', "'").split())
    return f'::porter::ptx::refuse("{message}")'
