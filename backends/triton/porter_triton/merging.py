"""Instances of a kernel whose texts differ only in numbers that their template arguments give become one.

Putting an instance's arguments back for the names gives its own text, so each launch computes what it did.
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from porter_triton.kernel_records import LaunchInfo, LoweredKernel, LoweredParameter, ParameterKind

Key = tuple[str, int, LaunchInfo]  # the kernel's name and where it stands in the source, and how it is launched

_NUMBER = re.compile(r"(?<![\w.])(?<!\de[-+])\d+(?![\w.])")
# What needs no brackets of its own.
_ALONE = re.compile(r"([\[(]|, |^ +\w+ = )\((\w+ // \d+|\(\w+ \+ \d+\) // \d+)\)(?=[,)\]]|$)", re.MULTILINE)
_RESERVED = frozenset(keyword.kwlist) | frozenset(dir(builtins)) | {"tl", "triton", "torch"}


@dataclass(frozen=True, slots=True)
class Instance:
    """A lowered kernel, and the template parameters of its instance that are integers."""

    kernel: LoweredKernel
    numbers: tuple[tuple[str, int], ...]


def merged(instances: Mapping[Key, Instance]) -> dict[Key, LoweredKernel]:
    """The kernels that take the place of instances, by the instances' keys; those left as they are do not occur."""
    alike: dict[tuple[str, str], dict[Key, Instance]] = {}
    for key, instance in instances.items():
        kernel = instance.kernel
        alike.setdefault((kernel.head, _NUMBER.sub("#", kernel.body)), {})[key] = instance
    found: dict[Key, LoweredKernel] = {}
    for group in alike.values():
        if len({instance.kernel.body for instance in group.values()}) > 1:
            found |= zip(group, _one(tuple(group.values())), strict=False)
    return found


def _one(instances: tuple[Instance, ...]) -> list[LoweredKernel]:
    """The instances with one text; nothing where a number that differs is none of their template's."""
    text = instances[0].kernel.body
    taken = {parameter.name for parameter in instances[0].kernel.parameters}
    columns = list(zip(*(map(int, _NUMBER.findall(i.kernel.body)) for i in instances), strict=True))
    spelled: list[str] = []
    used: dict[str, None] = {}
    for column in columns:
        name, spelling = ("", str(column[0])) if len(set(column)) == 1 else _spelled(column, instances)
        if not spelling or name in taken or (name and re.search(rf"\b{name}\b", text)):
            return []
        spelled.append(spelling)
        used |= {name: None} if name else {}
    parts = iter(spelled)
    body = _ALONE.sub(r"\1\2", _NUMBER.sub(lambda _: next(parts), text))
    return [_with(i, tuple(used), body) for i in instances]


def _spelled(column: tuple[int, ...], instances: tuple[Instance, ...]) -> tuple[str, str]:
    """The template parameter that a number is, or is a fixed part of, and how the text says so."""
    for name, _ in instances[0].numbers:
        values = [dict(i.numbers).get(name, 0) for i in instances]
        most = max(values)
        whole = column[values.index(most)]
        part = most // whole if whole > 0 else 0
        if part < 1 or name in _RESERVED:
            continue
        if all(v // part == n for v, n in zip(values, column, strict=True)):
            return name, name if part == 1 else f"({name} // {part})"
        if all(-(-v // part) == n for v, n in zip(values, column, strict=True)):
            return name, f"(({name} + {part - 1}) // {part})"
    return "", ""


def _with(instance: Instance, names: tuple[str, ...], body: str) -> LoweredKernel:
    kernel, numbers = instance.kernel, dict(instance.numbers)
    more = [LoweredParameter(n, ParameterKind.TEMPLATE, "int32", n, numbers[n]) for n in names]
    return replace(kernel, body=body, parameters=(*kernel.parameters, *more))
