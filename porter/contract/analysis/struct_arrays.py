"""Rewrites the fields of structs in arrays as elements of an array of their own: `p[i].n` is `p_n[i]`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from porter.contract.analysis.body import Body
from porter.contract.model.expressions import render
from porter.contract.model.syntax import Binary, Name, Node, Subscript, Unary
from porter.source.lexer import Token, match_bracket

_MEMBERS = (".", "->", "::")
_FIRST = "0"
_CHAIN = 3  # a view of a view of a view
Paths = Mapping[str, str]  # names by paths: "p_cell_x" by ".cell.x"


@dataclass(frozen=True, slots=True)
class _View:
    """A variable that is a struct of an array, or points to one: the place `index` of the array with these fields."""

    paths: Paths
    index: str


def apart(body: Body, arrays: Mapping[str, Paths]) -> Body:
    """Returns `body` with an array for each field of `arrays`, whose names it gives by the field's path.

    Variables that are one of the structs, a reference or a pointer to it, or a copy, are read as that struct itself.
    """
    return Body(" ".join(_words(body.words, _views(body, arrays)))) if arrays else body


def _views(body: Body, arrays: Mapping[str, Paths]) -> Mapping[str, _View]:
    """Returns the arrays themselves, and the variables that are given one of their structs once and for all."""
    found = {name: _View(paths, _FIRST) for name, paths in arrays.items()}
    for _ in range(_CHAIN):
        for name, nodes in body.definitions.items():
            view = _view(nodes[0], found) if len(nodes) == 1 and name not in found else None
            if view is not None:
                found[name] = view
    return found


def _view(node: Node, known: Mapping[str, _View]) -> _View | None:
    match node:
        case Subscript(Name(array), index) | Unary("&", Subscript(Name(array), index)) if array in known:
            return _View(known[array].paths, _sum(known[array].index, index))
        case Binary("+", Name(array), index) if array in known:
            return _View(known[array].paths, _sum(known[array].index, index))
        case Unary("*" | "&", Name(array)) | Name(array) if array in known:
            return known[array]
        case _:
            return None


def _sum(start: str, index: Node) -> str:
    return render(index) if start == _FIRST else f"{start} + {render(index)}"


def _words(words: Sequence[Token], views: Mapping[str, _View]) -> Iterator[str]:
    i = 0
    while i < len(words):
        view = views.get(words[i].text) if not (i and words[i - 1].text in _MEMBERS) else None
        found = _element(words, i, view) if view is not None else None
        if view is None or found is None:
            yield words[i].text
            i += 1
            continue
        name, index, i = found
        yield from (name, "[", *(_words(index, views) if index else (view.index,)), "]")


def _element(words: Sequence[Token], place: int, view: _View) -> tuple[str, Sequence[Token], int] | None:
    """Returns the name of the field that the words at `place` lead to, its subscript, if there is one, and its end."""
    i, index = place + 1, words[:0]
    if i < len(words) and words[i].text == "[" and (close := match_bracket(words, i)) is not None:
        index, i = words[i + 1 : close], close + 1
    path, name, end = "", "", i
    for step in count():
        if i + 1 < len(words) and (words[i].text == "." or (step == 0 and not index and words[i].text == "->")):
            path, i = f"{path}.{words[i + 1].text}", i + 2
        elif path and i < len(words) and words[i].text == "[" and match_bracket(words, i) == i + 2:
            path, i = f"{path}[{words[i + 1].text}]", i + 3
        else:
            break
        if path in view.paths:
            name, end = view.paths[path], i
    return (name, index, end) if name else None
