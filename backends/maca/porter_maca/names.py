"""Renames CUDA's names: functions, types, enums, macros and namespaces, token by token."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from porter.findings import Finding
from porter.source.edit import Edit
from porter.source.lexer import Token, TokenKind, inside_directive, significant, tokens
from porter_maca.api import OTHER_BRAND, ApiTable, Renamed, Unsupported
from porter_maca.catalogue import finding
from porter_maca.declared import Declared
from porter_maca.traced import Traced

SM_LEVEL = "(__MACA_ARCH__ ? 800 : 0)"
_ARCH = "__CUDA_ARCH__"
_ASKS_WHETHER_DEFINED = frozenset({"defined", "ifdef", "ifndef", "define", "undef", "elifdef", "elifndef"})
_TEXT_ONLY = frozenset({"include", "error", "warning", "pragma", "line", "ident"})


@dataclass(frozen=True, slots=True)
class Use:
    """A name the table knows, from `start` to the end of its last `token`, with the significant tokens around it."""

    start: int
    token: Token
    before: Sequence[Token]
    after: Token | None
    entry: Renamed | Unsupported


def rename(traced: Traced, table: ApiTable, own: Declared, *, other_brand: bool) -> tuple[Traced, list[Finding]]:
    """`traced` in MACA's names, with a finding for each name that has none.

    `own` are the names the user's files declare; `other_brand` says whether `hc*` spelling is CUDA's here, too.
    """
    edits: list[Edit] = []
    findings: list[Finding] = []
    for use in uses(traced.text, table, own):
        span = traced.span(use.start, use.token.end)
        match use.entry:
            case Unsupported(cuda, kind, reason):
                findings.append(finding("PORT1100", span, f"{cuda} has no counterpart on MACA ({kind})", reason))
            case Renamed(kind=kind) if kind == OTHER_BRAND and not other_brand:
                continue
            case Renamed() as renamed:
                edits.append(_edit(use, renamed, traced.text))
                if use.token.text == _ARCH and not _asks_whether_defined(use.before):
                    findings.append(finding("PORT1130", span, "a compute capability is tested"))
    return traced.edited(edits), findings


def _edit(use: Use, renamed: Renamed, text: str) -> Edit:
    """The name itself, and the `struct` or `enum` before it where MACA's name is a typedef."""
    maca = renamed.maca
    if use.token.text == _ARCH and not _asks_whether_defined(use.before):
        maca = SM_LEVEL
    end = use.token.end
    if not maca and text[end : end + 1] == " ":
        end += 1
    head = use.before[-1] if use.before else None
    is_elaborated = head is not None and head.text in ("struct", "enum") and maca.endswith("_t")
    return Edit(head.start if head and is_elaborated else use.start, end, maca)


def _asks_whether_defined(before: Sequence[Token]) -> bool:
    last = [t.text for t in before[-2:]]
    return bool(last) and (last[-1] in _ASKS_WHETHER_DEFINED or last == ["defined", "("])


def uses(text: str, table: ApiTable, own: Declared) -> Iterator[Use]:
    """Every identifier of `text` outside strings and comments that the table knows and that is not the user's own."""
    known = _Lookup(table, own)
    stream = tokens(text)
    for token in stream:
        if token.kind is TokenKind.DIRECTIVE:
            line = significant(inside_directive(token, text))
            if line and line[0].text not in _TEXT_ONLY:
                yield from _uses(line, known)
    yield from _uses([t for t in significant(stream) if t.kind is not TokenKind.DIRECTIVE], known)


class _Lookup:
    """The table without the user's own names, remembering what it was asked."""

    def __init__(self, table: ApiTable, own: Declared) -> None:
        self._table = table
        self._own = own
        self._known: dict[str, Renamed | Unsupported | None] = {}

    def __call__(self, name: str) -> Renamed | Unsupported | None:
        if name not in self._known:
            self._known[name] = None if self._is_users(name) else self._table.look_up(name)
        return self._known[name]

    def _is_users(self, name: str) -> bool:
        return name in self._own.functions or (name in self._own.others and not self._table.is_exact(name))


def _uses(code: Sequence[Token], known: Callable[[str], Renamed | Unsupported | None]) -> Iterator[Use]:
    for i, token in enumerate(code):
        if token.kind is not TokenKind.IDENTIFIER:
            continue
        after = code[i + 1] if i + 1 < len(code) else None
        before = code[max(0, i - 2) : i]
        name, start = token.text, token.start
        if len(before) == 2 and before[1].text == "::" and before[0].kind is TokenKind.IDENTIFIER:
            name, start = f"{before[0].text}::{name}", before[0].start
            if i > 2 and code[i - 3].text == "::":
                continue
        elif before and before[-1].text in (".", "->"):
            continue
        entry = known(name + "<") if after is not None and after.text == "<" else None
        if (entry := entry or known(name)) is not None:
            yield Use(start, token, before, after, entry)
