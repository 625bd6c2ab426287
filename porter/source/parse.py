"""CUDA text to `Program`: preprocess, mask, read the tree, and ask it and the tokens what the file defines."""

from __future__ import annotations

from porter.source.directives import includes, macros
from porter.source.expansion import unexpanded
from porter.source.functions import find_functions
from porter.source.host import find_bindings, host_form
from porter.source.launches import find_launches
from porter.source.lexer import tokens
from porter.source.program import Program
from porter.source.reading import Reading
from porter.source.shared import constant_variables
from porter.source.text import Source


def parse(source: Source) -> Program:
    """What `source` defines. Never raises: what could not be understood is in `not_understood`."""
    stream = tokens(source.text)
    reading = Reading(source, unexpanded(source.text), stream)
    defined = find_functions(reading)
    launches = find_launches(reading, defined)
    functions = [d.function for d in defined]
    hosts = tuple(f for f in functions if f.space in ("host", "host device"))
    bindings = find_bindings(reading)
    return Program(
        source=source,
        form=host_form(reading, bindings, hosts, launches),
        kernels=tuple(f for f in functions if f.space == "global"),
        device_functions=tuple(f for f in functions if f.space == "device"),
        host_functions=hosts,
        launches=launches,
        macros=tuple(macros(source, stream)),
        includes=tuple(includes(source, stream)),
        constants=constant_variables(reading, [(d.start, d.end) for d in defined]),
        bindings=bindings,
    )
