"""What nobody reads goes; what is read once, by the next statement, moves there."""

from __future__ import annotations

import re

from porter_triton.lower.copies import read_originals
from porter_triton.lower.emit import (
    Branch,
    Comment,
    Leave,
    Line,
    Loop,
    Node,
    Suite,
    assigned,
    lines_of,
    names_in,
    suites_of,
)
from porter_triton.lower.naming import settled_length

_LINE_LENGTH = 88  # of statement text, which leaves room for its indentation within 100 columns


def drop_dead(suite: Suite) -> None:
    """Drop statements of a function's body whose results nobody reads."""
    _prune(suite, frozenset())


def prune(suite: Suite) -> None:
    """Drop dead statements from a function's body, copies among them, and move what is read once."""
    drop_dead(suite)
    _rename(suite, _reader_counts(suite))
    read_originals(suite)
    drop_dead(suite)
    while _fold(suite):
        pass
    _unpack(suite, _reader_counts(suite))
    _settle_comments(suite)


def _prune(suite: Suite, live: frozenset[str]) -> frozenset[str]:
    """Drop what is dead given the names read afterwards; the names that are read before."""
    kept: list[Node] = []
    for node in reversed(suite.nodes):
        if isinstance(node, Line):
            if not node.effect and node.target not in live:
                continue
            if node.target not in live:
                node.target = ""
            live = (live - {node.target}) | node.reads
        elif isinstance(node, Branch):
            before = _prune(node.yes, live) | _prune(node.no, live)
            if not _acts(node.yes) and not _acts(node.no):
                continue
            if not _acts(node.yes):
                node.condition, node.opposite, node.yes, node.no = node.opposite, node.condition, node.no, Suite()
            live = before | names_in(node.condition)
        elif isinstance(node, Loop):
            live_in = live_around(node, live)
            _prune(node.body, live_in)
            if not any(x.effect for x in lines_of(node.body)) and not assigned(node.body) & live:
                continue
            live = live_in - ({node.variable} - live if node.variable else frozenset()) | names_in(node.header)
        elif isinstance(node, Leave):
            live = frozenset()
        kept.append(node)
    suite.nodes = kept[::-1]
    return live


def _acts(suite: Suite) -> bool:
    return any(not isinstance(node, Comment) for node in suite.nodes)


def live_around(loop: Loop, after: frozenset[str]) -> frozenset[str]:
    """The names read at the head of a loop: by its body, by its condition, or after it."""
    live = after | (frozenset() if loop.variable else names_in(loop.header))
    while True:
        wider = live | (live_before(loop.body, live) - {loop.variable})
        if wider == live:
            return live
        live = wider


def live_before(suite: Suite, live: frozenset[str]) -> frozenset[str]:
    """The names read by a suite, or after it as `live` says, before they are assigned."""
    for node in reversed(suite.nodes):
        if isinstance(node, Line):
            if node.effect or node.target in live:
                live = (live - {node.target}) | node.reads
        elif isinstance(node, Branch):
            live = live_before(node.yes, live) | live_before(node.no, live) | names_in(node.condition)
        elif isinstance(node, Loop):
            live = (live_around(node, live) - {node.variable}) | live | names_in(node.header)
        elif isinstance(node, Leave):
            live = frozenset()
    return live


def _rename(suite: Suite, counts: dict[str, int]) -> None:
    """`x = f(); y = x` as `y = f()`, where nobody else reads what `x` is then."""
    nodes: list[Node] = []
    for node in suite.nodes:
        for inner in suites_of(node):
            _rename(inner, counts)
        match nodes[-1:], node:
            case [Line(count=1) as made], Line(text=text, target=target) if text == made.target and counts[text] == 1:
                made.target, made.temporary = target, node.temporary
            case _:
                nodes.append(node)
    suite.nodes = nodes


def _fold(suite: Suite) -> bool:
    """Move temporaries into the statement that follows their making and is their only reader."""
    counts = _reader_counts(suite)
    return _fold_within(suite, counts)


def _reader_counts(suite: Suite) -> dict[str, int]:
    counts: dict[str, int] = {}

    def count(text: str) -> None:
        for name in re.findall(r"(?<![\w.\"])[A-Za-z_]\w*", text):
            counts[name] = counts.get(name, 0) + 1

    def visit(inside: Suite) -> None:
        for node in inside.nodes:
            if isinstance(node, Line):
                count(node.text)
            elif isinstance(node, Branch | Loop):
                count(node.condition if isinstance(node, Branch) else node.header)
            for inner in suites_of(node):
                visit(inner)

    visit(suite)
    return counts


def _fold_within(suite: Suite, counts: dict[str, int]) -> bool:
    changed = False
    index = 0
    while index < len(suite.nodes):
        node = suite.nodes[index]
        for inner in suites_of(node):
            changed |= _fold_within(inner, counts)
        if isinstance(node, Line) and node.temporary and counts.get(node.target) == 1:
            reader = _reader_after(suite, index, node)
            if reader is not None and _substitute(reader, node):
                del suite.nodes[index]
                changed = True
                continue
        index += 1
    return changed


def _reader_after(suite: Suite, index: int, line: Line) -> Line | Branch | None:
    """The statement that reads `line`'s target, if only statements stand between that `line` may pass."""
    for node in suite.nodes[index + 1 :]:
        if isinstance(node, Comment):
            continue
        if isinstance(node, Branch):
            return node if line.target in names_in(node.condition) else None
        if not isinstance(node, Line):
            return None
        if line.target in node.reads:
            return node
        if node.effect or node.target in line.reads:
            return None
    return None


def _substitute(reader: Line | Branch, line: Line) -> bool:
    """Write `line`'s text where its target stood, unless that makes the statement long."""
    name = re.compile(rf"(?<![\w.\"]){line.target}(?!\w)")
    text = reader.text if isinstance(reader, Line) else reader.condition
    found = name.search(text)
    if found is None:
        return False
    before, after = text[: found.start()], text[found.end() :]
    alone = (not before or before.endswith(("(", "[", ", ", "="))) and (not after or after[0] in ",)]")
    inner = line.text if line.level >= 11 or alone else f"({line.text})"
    longer = name.sub(lambda _: inner, text)
    extra = settled_length(reader.target) + 3 if isinstance(reader, Line) and reader.target else 3
    if settled_length(longer) + extra > _LINE_LENGTH:
        return False
    if isinstance(reader, Line):
        reader.text = longer
        reader.loads |= line.loads
    else:
        reader.condition = longer
        opposite_inner = inner
        reader.opposite = name.sub(lambda _: opposite_inner, reader.opposite)
    return True


def _unpack(suite: Suite, counts: dict[str, int]) -> None:
    """`values = f(); x = values[0]; y = values[1]` as `x, y = f()`, where nobody else reads the values."""
    nodes: list[Node] = []
    made: Line | None = None
    parts: list[str] = []
    for node in suite.nodes:
        for inner in suites_of(node):
            _unpack(inner, counts)
        nodes.append(node)
        if isinstance(node, Line) and node.count > 1:
            made, parts = node, []
        elif (
            made is not None and isinstance(node, Line) and node.target and node.text == f"{made.target}[{len(parts)}]"
        ):
            parts.append(node.target)
            if len(parts) == made.count == counts.get(made.target):
                made.target, made.count = ", ".join(parts), 1
                del nodes[-len(parts) :]
        else:
            made = None
    suite.nodes = nodes


def _settle_comments(suite: Suite) -> None:
    """Comments that head nothing go; one heads all simple statements up to the next loop."""
    kept: list[Node] = []
    heading: Comment | None = None
    for node in suite.nodes:
        if isinstance(node, Comment):
            if kept and kept[-1] is heading and heading is not None:
                kept.pop()  # it heads nothing
                heading = None
            if heading is not None and not heading.alone and not node.alone:
                heading.first, heading.last = min(heading.first, node.first), max(heading.last, node.last)
                continue
            heading = node
        elif not isinstance(node, Line):
            kept.append(node)
            heading = None
            continue
        kept.append(node)
    if kept and kept[-1] is heading:
        kept.pop()
    suite.nodes = kept
