"""Host functions of which a body does not compile: declared, they harm no kernel, and a call of one is told of.

Where a header is not there, what host code does with its names does not compile; the signatures mostly do. A
declaration in the place of a definition changes no choice among overloads, so what is left means the same. The linker
finds such a function undefined, as it does one that another file defines (`undefined.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from porter.source.edit import Edit, apply_edits
from porter.source.parse import parse
from porter.source.program import Function
from porter.source_text import Source

_INITIALISERS = re.compile(r"(?<!:):(?!:)")  # of a constructor, behind its parameters
_REFUSAL = re.compile(r"^([ \t]*)#[ \t]*(?:error|warning)\b.*$", re.MULTILINE)

_USING = re.compile(r"\busing namespace (?P<name>\w+(?:::\w+)*)\s*;")

Lines = frozenset[tuple[str, int]]  # each with the name of its file


def with_declarations(
    files: Sequence[Source], lines: Lines, defines: tuple[str, ...], kept: frozenset[str] = frozenset()
) -> tuple[Source, ...]:
    """`files` with a declaration in the place of each host function in whose body one of `lines` stands.

    Every line stays where it was. Functions that may run on the device, or while it is compiled, stay whole, and so do
    those whose qualified names are `kept`: they are to be called.
    """
    rows = ({line for name, line in lines if name == file.path.name} for file in files)
    return tuple(_declared(file, own, defines, kept) for file, own in zip(files, rows, strict=True))


def without_refusals(text: str) -> str:
    """`text` without the lines that refuse to be compiled: where headers are not there, what they ask for is not."""
    return _REFUSAL.sub(r"\1", text)


def with_namespaces(text: str, names: frozenset[str]) -> str:
    """`text` with the namespaces opened that it uses, where the last part of their names is one of `names`."""

    def opened(found: re.Match[str]) -> str:
        *outer, last = found["name"].split("::")
        if last not in names:
            return found[0]
        heads = " ".join(f"namespace {name} {{" for name in (*outer, last))
        return f"{heads} {'}' * (len(outer) + 1)} {found[0]}"

    return _USING.sub(opened, text)


def _declared(file: Source, lines: set[int], defines: tuple[str, ...], kept: frozenset[str]) -> Source:
    if not lines:
        return file
    hosts = parse(file, defines=defines).host_functions
    functions = [f for f in hosts if f.qualified not in kept and _may_go(file, f)]
    edits = [edit for f in functions if lines & _rows(file, f) for edit in _without_body(file.text, f)]
    return Source(file.path, apply_edits(file.text, edits), file.first_line) if edits else file


def _may_go(file: Source, function: Function) -> bool:
    """Returns whether `function` is of the host alone, and written out rather than made by a macro."""
    head = file.slice(function.header).split()
    written = file.text[function.body.start : function.body.start + 1] == "{"
    return function.space == "host" and written and not {"constexpr", "consteval", "auto"}.intersection(head)


def _rows(file: Source, function: Function) -> set[int]:
    """The lines from the end of the parameters on: a list of initialisers belongs to the body."""
    begin, end = (file.text.count("\n", 0, at) for at in (_body_start(file.text, function), function.body.end))
    return set(range(file.first_line + begin, file.first_line + end + 1))


def _body_start(text: str, function: Function) -> int:
    """Returns where the body begins, with the initialisers before it."""
    parameters = text.rfind(")", function.header.start, function.body.start)
    first = text.find("(", function.header.start, function.body.start)
    colon = _INITIALISERS.search(text, _closing(text, first), function.body.start) if 0 <= first < parameters else None
    return colon.start() if colon else function.body.start


def _closing(text: str, opening: int) -> int:
    """Returns where the bracket that opens at `opening` is closed."""
    depth = 0
    for at in range(opening, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return at
    return len(text)


def _without_body(text: str, function: Function) -> Iterator[Edit]:
    start, end = _body_start(text, function), function.body.end
    yield Edit(start, end, ";" + "\n" * text.count("\n", start, end))
