"""Reads the types that a dispatch gives to kernels launched within it: `kernel<scalar_t><<<...>>>(...)`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from porter.contract.analysis.elements import element_type
from porter.contract.analysis.usage import Usage
from porter.contract.model.dtype import DType
from porter.source.program import Function, Launch

_POINTER_TO = re.compile(
    r"data_ptr ?<([^<>]+)>|_cast ?<(?:const )?([\w:]+)(?: const)? ?\*>|\((?:const )?([\w:]+) ?\*\)"
)


def preferred_type(types: Sequence[str]) -> DType | None:
    """Returns the element type to run of those that a dispatch has: float32 or int32 where it is one of them.

    They are what kernels are surely meant for; without both it is the first, and None without any.
    """
    known = [found for name in types if (found := element_type(name)) is not None]
    return next((t for t in (DType.FLOAT32, DType.INT32) if t in known), known[0] if known else None)


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
