"""Options that several commands take, as one parameter: a frozen dataclass whose fields are options."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import is_dataclass
from typing import get_type_hints

_Group = Callable[..., object]


def spread(command: Callable[..., int]) -> Callable[..., int]:
    """`command` as typer reads it: instead of each parameter that is a group it takes the options in that."""
    hints: Mapping[str, object] = get_type_hints(command, include_extras=True)
    groups = {name: kind for name, kind in hints.items() if isinstance(kind, type) and is_dataclass(kind)}

    def spreading(**given: object) -> int:
        for name, group in groups.items():
            given[name] = group(**{option.name: given.pop(option.name) for option in _parameters(group, {})})
        return command(**given)

    parameters = list(_parameters(command, groups))
    spreading.__name__, spreading.__module__, spreading.__doc__ = command.__name__, command.__module__, command.__doc__
    spreading.__signature__ = inspect.Signature(parameters, return_annotation=int)  # type: ignore[attr-defined]
    spreading.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return spreading


def _parameters(taking: Callable[..., object], groups: Mapping[str, _Group]) -> Iterator[inspect.Parameter]:
    """Those of what takes them, with their types; of `groups` the options instead."""
    hints = get_type_hints(taking, include_extras=True)
    for parameter in inspect.signature(taking).parameters.values():
        if parameter.name in groups:
            yield from _parameters(groups[parameter.name], {})
        else:
            yield parameter.replace(annotation=hints[parameter.name], kind=inspect.Parameter.KEYWORD_ONLY)
