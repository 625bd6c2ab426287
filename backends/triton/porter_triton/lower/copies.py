"""Names that only stand for others: what reads `v = total` reads `total`, as long as neither changes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from keyword import iskeyword

from porter_triton.lower.emit import Branch, Line, Loop, Suite, lines_of, suites_of

Meant = dict[str, str]
_READ = re.compile(r"(?<![\w.\"])[A-Za-z_]\w*(?!\w|=(?!=))")  # no attribute, and no keyword of a call


def read_originals(suite: Suite) -> None:
    """Let the statements of a function's body read what copies are made of; those that nobody reads then may go.

    Names that were made up here, and are read by a copy alone, have given it what they are before.
    """
    made_up = frozenset(line.target for line in lines_of(suite) if line.temporary)
    _within(suite, {}, made_up)


def _within(suite: Suite, meant: Meant, made_up: frozenset[str]) -> Meant:
    """Rewrite a suite, at whose begin names stand for what `meant` says; what they stand for at its end."""
    for node in suite.nodes:
        if isinstance(node, Line):
            node.text = _read(node.text, meant)
            meant = _unchanged(meant, frozenset(node.target.split(", ")))
            if _is_variable(node.text) and _is_variable(node.target) and node.text not in {node.target, *made_up}:
                meant[node.target] = node.text
        elif isinstance(node, Branch):
            node.condition, node.opposite = _read(node.condition, meant), _read(node.opposite, meant)
            _within(node.yes, dict(meant), made_up)
            _within(node.no, dict(meant), made_up)
            meant = _unchanged(meant, frozenset((*_set(node.yes), *_set(node.no))))
        elif isinstance(node, Loop):
            around = _unchanged(meant, frozenset((node.variable, *_set(node.body))))
            node.header = _read(node.header, meant if node.variable else around)
            _within(node.body, dict(around), made_up)
            meant = around
    return meant


def _is_variable(text: str) -> bool:
    return text.isidentifier() and not iskeyword(text)  # True and None are no variables


def _read(text: str, meant: Mapping[str, str]) -> str:
    return _READ.sub(lambda found: meant.get(found.group(), found.group()), text)


def _set(suite: Suite) -> Iterator[str]:
    """The names that a suite sets, loops' own among them."""
    for node in suite.nodes:
        if isinstance(node, Line):
            yield from node.target.split(", ")
        elif isinstance(node, Loop):
            yield node.variable
        for inner in suites_of(node):
            yield from _set(inner)


def _unchanged(meant: Mapping[str, str], names: frozenset[str]) -> Meant:
    """Returns what names still stand for behind assignments to `names`."""
    return {name: original for name, original in meant.items() if name not in names and original not in names}
