"""Device functions of CUDA's libraries, as CUDA text that the builder inlines like the source's own."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

from porter.source.parse import parse
from porter.source.text import Source
from porter.syntax.nodes import Name, TypeName
from porter.syntax.read import read_unit
from porter.syntax.unit import Unit
from porter.syntax.walk import walk

_LIBRARIES = {  # by what their names begin with
    "cub::": "cub.cuh",
    "cuda::": "cuda.cuh",
    "cooperative_groups::": "cooperative_groups.cuh",
    "__syncthreads_": "block_votes.cuh",
}


def with_libraries(unit: Unit) -> Unit:
    """Returns `unit` with what it may call of the libraries that it mentions."""
    for prefix, file in _LIBRARIES.items():
        if _mentions(unit, prefix):
            found = _library(file)
            unit = Unit(
                (*found.functions, *unit.functions),
                (*found.structs, *unit.structs),
                (*found.aliases, *unit.aliases),
                (*found.variables, *unit.variables),
                unit.unread,
            )
    return unit


@cache
def _library(file: str) -> Unit:
    text = files(__name__).joinpath(file).read_text("utf-8")
    return read_unit(parse(Source(Path(file), text)))


def _mentions(unit: Unit, prefix: str) -> bool:
    trees = (*unit.functions, *(method for struct in unit.structs for method in struct.methods), *unit.aliases)
    return any(isinstance(n, TypeName | Name) and n.name.startswith(prefix) for tree in trees for n in walk(tree))
