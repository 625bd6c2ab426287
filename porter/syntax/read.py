"""Read what a program and its headers define into trees."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from porter.source.program import Program
from porter.source_text import Source
from porter.syntax.cursor import Scopes
from porter.syntax.definitions import DefinitionReader
from porter.syntax.outside_methods import with_outside_methods
from porter.syntax.prototypes import with_defaults
from porter.syntax.structs import Found
from porter.syntax.unit import Unit
from porter.syntax.words import translation_unit


def read_unit(program: Program, headers: tuple[Source, ...] = (), defines: Iterable[str] = ()) -> Unit:
    """Returns what `program` and those of `headers` that it includes define, macros expanded.

    Never raises: what could not be read is Unread where it stands. `defines` are `NAME` or `NAME=VALUE`.
    """
    return _read(program.source, tuple(headers), tuple(defines), program.elsewhere)


@lru_cache(maxsize=2)  # a contract and a port ask for the same text
def _read(source: Source, headers: tuple[Source, ...], defines: tuple[str, ...], behind: tuple[Source, ...]) -> Unit:
    found, scopes = Found(), Scopes()
    for file in translation_unit(source, headers, defines, behind):
        DefinitionReader(file, scopes, found).file_scope()
    functions = with_defaults(found.functions, found.prototypes)
    return Unit(
        functions,
        with_outside_methods(found.structs, functions),
        tuple(found.aliases),
        tuple(found.variables),
        tuple(found.unread),
        tuple(found.declared),
    )
