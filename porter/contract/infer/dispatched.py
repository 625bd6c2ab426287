"""Reads the types that a dispatch gives to kernels launched within it: `kernel<scalar_t><<<...>>>(...)`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from porter.contract.analysis.usage import Usage
from porter.source.program import Function, Launch

_POINTER_TO = re.compile(
    r"data_ptr ?<([^<>]+)>|_cast ?<(?:const )?([\w:]+)(?: const)? ?\*>|\((?:const )?([\w:]+) ?\*\)"
)


def dispatched_arguments(usage: Usage, kernel: Function) -> Mapping[str, str]:
    """Returns the type parameters of `kernel` that a launch fills by a name of a dispatch around it, with types.

    Of several types it is float where that is one of them, else the first.
    """
    found: dict[str, str] = {}
    for launch in usage.program.launches_of(kernel):
        around = next((f for f in usage.program.host_functions if f.qualified == launch.inside), None)
        meanings = usage.meanings(around) if around is not None else {}
        for parameter, name in _named(kernel, launch):
            if types := meanings.get(name):
                found.setdefault(parameter, "float" if "float" in types else types[0])
    return found


def _named(kernel: Function, launch: Launch) -> Iterator[tuple[str, str]]:
    """Yields each type parameter with its name in `launch`: of an argument, else of what a pointer points to."""
    types = {t.name for t in kernel.template if t.kind.startswith("typename")}
    for parameter, given in zip(kernel.template, launch.template_args, strict=False):
        if parameter.name in types:
            yield parameter.name, given.strip()
    for param, argument in zip(kernel.params, launch.args, strict=False):
        named = _POINTER_TO.search(argument.text)
        if param.type.base in types and named is not None:
            yield param.type.base, next(filter(None, named.groups())).strip()
