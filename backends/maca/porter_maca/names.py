"""Renames CUDA's names: functions, types, enums, macros and namespaces, token by token."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from porter.diagnostics.findings import Finding
from porter.source.edit import Edit
from porter.source.lexer import Token, TokenKind, inside_directive, significant, tokens
from porter_maca.api import OTHER_BRAND, ApiTable, Entry, Renamed, Unsupported
from porter_maca.continuations import aligned
from porter_maca.declared import Declared
from porter_maca.places import Places
from porter_maca.traced import Traced

SM_LEVEL = "(__MACA_ARCH__ ? 800 : 0)"
_ARCH = "__CUDA_ARCH__"
_COMPILER = "__MACACC__"  # defined wherever a version of the toolkit would be
_ASKS_WHETHER_DEFINED = frozenset({"defined", "ifdef", "ifndef", "define", "undef", "elifdef", "elifndef"})
_TEXT_ONLY = frozenset({"include", "error", "warning", "pragma", "line", "ident"})
_KEYWORDS = frozenset({"return", "else", "do", "case", "throw", "new", "delete", "using", "co_return", "const"})
_NEVER_CALLED = ("enum", "type")  # a macro of that name that takes arguments is not CUDA's
_LOOKS_LIKE_CUDA = re.compile(r"cuda[A-Z]\w*")


@dataclass(frozen=True, slots=True)
class Use:
    """A name from `start` to the end of its last `token`, with the significant tokens around it.

    `entry` is its row of the table; None for a name that looks like CUDA's and is not in the table.
    """

    start: int
    token: Token
    before: Sequence[Token]
    after: Token | None
    entry: Entry | None


def rename(
    traced: Traced, table: ApiTable, own: Declared, places: Places, *, other_brand: bool
) -> tuple[Traced, list[Finding]]:
    """Returns `traced` in MACA's names, with findings for the names that have none.

    `own` are the names the user's files declare; `other_brand` says whether `hc*` spelling is CUDA's here, too.
    """
    edits: list[Edit] = []
    missing: defaultdict[Unsupported, list[Use]] = defaultdict(list)
    notes: defaultdict[str, list[Use]] = defaultdict(list)
    for use in uses(traced.text, table, own):
        match use.entry:
            case None:
                notes["PORT1120"].append(use)
            case Unsupported(_, kind, reason):
                missing[Unsupported("", kind, reason)].append(use)
            case Renamed(kind=kind) if kind == OTHER_BRAND and not other_brand:
                continue
            case Renamed() as renamed:
                edits.append(_edit(use, renamed, traced.text))
                if use.token.text == _ARCH and not asks_whether_defined(use):
                    notes["PORT1130"].append(use)
    findings = [_missing(traced, row, found, places) for row, found in missing.items()]
    findings += [_note(traced, code, found, places) for code, found in notes.items()]
    return traced.edited(aligned(traced.text, edits)), findings


def _edit(use: Use, renamed: Renamed, text: str) -> Edit:
    """Returns the name itself, with the `struct` or `enum` before it where MACA's name is a typedef."""
    maca = renamed.maca
    if use.token.text == _ARCH and not asks_whether_defined(use):
        maca = SM_LEVEL
    elif maca.isdecimal() and asks_whether_defined(use):
        maca = _COMPILER
    end = use.token.end
    if not maca and text[end : end + 1] == " ":
        end += 1
    head = use.before[-1] if use.before else None
    is_elaborated = head is not None and head.text in ("struct", "enum") and maca.endswith("_t")
    return Edit(head.start if head and is_elaborated else use.start, end, maca)


def asks_whether_defined(use: Use) -> bool:
    """Returns whether a macro's being defined is asked for, not its value."""
    last = [t.text for t in use.before[-2:]]
    return bool(last) and (last[-1] in _ASKS_WHETHER_DEFINED or last == ["defined", "("])


def _missing(traced: Traced, row: Unsupported, found: Sequence[Use], places: Places) -> Finding:
    names = _names(traced, found)
    verb = "has" if names.count(",") + names.count(" and ") == 0 else "have"
    spans = [traced.span(use.start, use.token.end) for use in found]
    return places.finding("PORT1100", spans, f"{names} {verb} no counterpart on MACA ({row.kind})", row.reason)


def _note(traced: Traced, code: str, found: Sequence[Use], places: Places) -> Finding:
    spans = [traced.span(use.start, use.token.end) for use in found]
    return places.finding(code, spans, f"{_names(traced, found)}: {_NOTES[code][0]}", _NOTES[code][1])


_NOTES = {
    "PORT1120": ("looks like a CUDA name, but porter does not know it", "it is left unchanged"),
    "PORT1130": ("a compute capability is tested", "the port answers as a device of capability 8.0"),
}


def _names(traced: Traced, found: Iterable[Use]) -> str:
    """Lists the distinct names, the first three in full."""
    names = list(dict.fromkeys(traced.text[use.start : use.token.end] for use in found))
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def uses(text: str, table: ApiTable, own: Declared) -> Iterator[Use]:
    """Yields every name of `text` outside strings and comments that the table knows or that looks like CUDA's.

    The user's own names and members of the user's own things are left out.
    """
    known = _Lookup(table, own)
    stream = tokens(text)
    for token in stream:
        if token.kind is TokenKind.DIRECTIVE:
            line = significant(inside_directive(token, text))
            if line and line[0].text not in _TEXT_ONLY:
                yield from _uses(line, known)
    yield from _uses([t for t in significant(stream) if t.kind is not TokenKind.DIRECTIVE], known)


class _Lookup:
    """Looks up names in the table, except the user's own, and remembers the answers."""

    def __init__(self, table: ApiTable, own: Declared) -> None:
        self._table = table
        self._own = own
        self._known: dict[str, Entry | None] = {}

    def entry(self, name: str) -> Entry | None:
        """Returns what the table says of `name`, unless the user declared it."""
        if name not in self._known:
            self._known[name] = None if self._is_users(name) else self._table.look_up(name)
        return self._known[name]

    def template(self, name: str) -> Entry | None:
        """Returns what the table says of `name` where a template list follows."""
        return self._table.names.get(name + "<") or self.entry(name)

    def is_stray(self, name: str) -> bool:
        """Returns whether `name` looks like CUDA's and is not declared anywhere."""
        return _LOOKS_LIKE_CUDA.fullmatch(name) is not None and not self._is_users(name)

    def _is_users(self, name: str) -> bool:
        if name in self._own.functions or (name in self._own.others and not self._table.is_exact(name)):
            return True
        entry = self._table.names.get(name) if name in self._own.called else None
        return isinstance(entry, Renamed) and entry.kind in _NEVER_CALLED


def _uses(code: Sequence[Token], known: _Lookup) -> Iterator[Use]:
    for i, token in enumerate(code):
        if token.kind is not TokenKind.IDENTIFIER:
            continue
        before = code[max(0, i - 2) : i]
        after = code[i + 1] if i + 1 < len(code) else None
        name, start = token.text, token.start
        if len(before) == 2 and before[1].text == "::" and _names_space(before[0]):
            if i > 2 and code[i - 3].text == "::":
                continue
            if known.entry(before[0].text) is None:  # `cudaMemcpyKind::cudaMemcpyHostToDevice` is two names
                name, start = f"{before[0].text}::{name}", before[0].start
        elif before and before[-1].text in (".", "->") and not _returns(before, after):
            continue
        entry = known.template(name) if after is not None and after.text == "<" else known.entry(name)
        if entry is not None or known.is_stray(name):
            yield Use(start, token, before, after, entry)


def _names_space(token: Token) -> bool:
    """Returns whether a namespace or class stands before `::`; `return ::f()` means the global namespace."""
    return token.kind is TokenKind.IDENTIFIER and token.text not in _KEYWORDS


def _returns(before: Sequence[Token], after: Token | None) -> bool:
    """Returns whether a name behind `->` is a function's result type, not a member."""
    follows_head = (
        len(before) == 2 and before[1].text == "->" and before[0].text in (")", "const", "mutable", "noexcept")
    )
    return follows_head and after is not None and after.text in ("{", ";", "*", "&")
