"""Rewrites function bodies so that the fields of structs are variables: `p.n` is `p_n`, as contracts call it.

Structs are parameters, variables that are copies of these, and variables that a body declares and fills. Those that
parameters point to are taken apart in `struct_arrays.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from porter.contract.analysis.body import Body, statement_end
from porter.contract.analysis.records import Records, Structs, symbol
from porter.contract.analysis.struct_arrays import apart
from porter.contract.model.syntax import Name
from porter.source.lexer import Token, TokenKind, match_bracket, split_arguments
from porter.source.program import CType, Function, Param

_MEMBERS = (".", "->", "::")


@dataclass(frozen=True, slots=True)
class Unfolded:
    """A body with the structs that it unfolds.

    `structs` are the names of structs in `body`, each with its fields: `p.n` and `q.n` where `q` is a copy of `p`;
    pointers to structs of several types are among them. `fields` are those of parameters, by their names in `body`.
    """

    body: Body
    structs: Mapping[str, Mapping[str, str]]
    fields: Mapping[str, Param]


def unfolded(body: Body, records: Records, function: Function) -> Unfolded:
    """Returns `body`, that of `function`, with variables for the fields of its structs."""
    taken = {p.name: records.fields(function, p) for p in function.params if p.name}
    held = {name: fields for name, fields in (*taken.items(), *_declared(body, records, function)) if fields}
    structs = {n: {f.name.removeprefix(n): symbol(f.name) for f in fields} for n, fields in held.items()}
    structs |= {copy: structs[origin] for copy, origin in _copies(body, structs) if copy not in taken}
    behind = {p.name: _behind(p, found) for p in function.params if p.name and (found := records.structs(function, p))}
    arrays = {p: {f.name.removeprefix(p): symbol(f.name) for f in fields} for p, fields in behind.items()}
    if not structs and not arrays:
        return Unfolded(body, {}, {})
    fields = {symbol(f.name): f for held in (*taken.values(), *behind.values()) for f in held}
    inside = apart(body, arrays)
    return Unfolded(Body(" ".join(_words(inside.words, structs))), {**structs, **arrays}, fields)


def _behind(param: Param, structs: Structs) -> list[Param]:
    """Returns a pointer for each number of the structs that `param` points to."""
    types = ((n, CType(f"{n.type}*", n.type, 1, param.type.const)) for n in structs.numbers)
    return [replace(param, name=f"{param.name}{n.path}", type=type_, default="") for n, type_ in types]


def _declared(body: Body, records: Records, function: Function) -> Iterator[tuple[str, tuple[Param, ...]]]:
    """Yields the variables of structs that a body declares and fills field by field, with their fields.

    One that is given as a whole what is no struct of these (`int4 r = *(int4*)(x + i)`) stays what it was given.
    """
    words = body.words
    whole = {
        words[i].text
        for i in range(len(words) - 2)
        if words[i + 1].text == "=" and words[i + 2].text != "{" and (not i or words[i - 1].text not in _MEMBERS)
    }
    for i in range(1, len(words) - 1):
        kinds = {words[i - 1].kind, words[i].kind}
        is_variable = kinds == {TokenKind.IDENTIFIER} and words[i].text not in whole
        if is_variable and words[i + 1].text in (";", "{", "="):
            base = words[i - 1].text
            variable = Param(words[i].text, CType(base, base), "", function.body)
            yield variable.name, records.fields(function, variable)


def _copies(body: Body, structs: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yields the variables that are given a struct as it is, each with that struct."""
    for name, nodes in body.definitions.items():
        match nodes:
            case (Name(origin),) if origin in structs:
                yield name, origin


def _words(words: Sequence[Token], structs: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Yields the words of the body, a name for each field, an assignment to each that braces fill."""
    i = 0
    while i < len(words):
        fields = structs.get(words[i].text)
        if fields is None or (i and words[i - 1].text in _MEMBERS):
            yield words[i].text
            i += 1
            continue
        name, end = _field(words, i, fields)
        opening = end + (words[end].text == "=" if end < len(words) else 0)
        if not name and opening < len(words) and words[opening].text == "{":
            yield from _filled(words, i, opening, fields)
            end = statement_end(words, opening)
        else:
            yield name or words[i].text
        i = end


def _field(words: Sequence[Token], place: int, fields: Mapping[str, str]) -> tuple[str, int]:
    """Returns the name and the end of the field that the words at `place` name; no name where there is none."""
    path, name, end, i = "", "", place + 1, place + 1
    while i + 1 < len(words):
        if words[i].text == ".":
            path, i = f"{path}.{words[i + 1].text}", i + 2
        elif words[i].text == "[" and match_bracket(words, i) == i + 2:
            path, i = f"{path}[{words[i + 1].text}]", i + 3
        else:
            break
        if path in fields:
            name, end = fields[path], i
    return name, end


def _filled(words: Sequence[Token], place: int, opening: int, fields: Mapping[str, str]) -> Iterator[str]:
    """Yields `s; s_a = x; s_b = y` for `s{x, y}`."""
    yield words[place].text
    for name, value in zip(fields.values(), split_arguments(words, opening), strict=False):
        yield from (";", name, "=", *(word.text for word in value))
