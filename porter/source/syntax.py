"""The C++ grammar and the questions asked of its trees, which live in `grammars/*.scm`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import tree_sitter_cpp
from tree_sitter import Language, Node, Parser, Query, QueryCursor, Tree

from porter.resources import resource


@cache
def _language() -> Language:
    return Language(tree_sitter_cpp.language())


@cache
def _query(question: str) -> Query:
    return Query(_language(), (resource("grammars") / f"{question}.scm").read_text("utf-8"))


def parse_masked(text: str) -> Tree:
    """The tree of `text`, which must be ASCII (`porter.source.mask.mask` makes it so): offsets are characters."""
    return Parser(_language()).parse(text.encode("ascii"))


def ask(question: str, node: Node) -> Iterator[dict[str, list[Node]]]:
    """The captures of every match of `grammars/<question>.scm` within `node`, in order of their place."""
    for _, captures in QueryCursor(_query(question)).matches(node):
        yield captures
