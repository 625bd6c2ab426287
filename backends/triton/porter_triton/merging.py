"""Instances of a kernel that differ only in numbers which their template arguments give become one kernel.

Their functions in the IR are compared. Each instance is printed with names for these numbers, as what it is; where all
come to one text, the numbers decided on nothing in it, and that text is the kernel, to which a launch gives its own.
"""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace

from porter.ir.simt.cleanup import changed
from porter.ir.simt.ops import Block, Function, Op, Value
from porter.ir.simt.types import Scalar, Type
from porter_triton.kernel_records import LaunchInfo, LoweredKernel, LoweredParameter, ParameterKind
from porter_triton.refusal import Refusal
from porter_triton.thread_level.expressions import Expression, Level, infix, literal
from porter_triton.thread_level.kernel import PreparedKernel, print_kernel

Key = tuple[str, int, LaunchInfo]  # the kernel's name and where it stands in the source, and how it is launched

_RESERVED = frozenset(keyword.kwlist) | frozenset(dir(builtins)) | {"tl", "triton", "torch"}


@dataclass(frozen=True, slots=True)
class Instance:
    """A kernel printed alone, the function it is printed from, and the integers among its template's parameters."""

    kernel: LoweredKernel
    prepared: PreparedKernel
    numbers: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Spelling:
    """A number that is a `part`th of a template parameter, rounded up if `up`."""

    name: str
    part: int = 1
    up: bool = False

    def text(self, type_: Type) -> Expression:
        """Returns the number as the kernel says it."""
        assert isinstance(type_, Scalar)
        whole = Expression(self.name, type_, loose=True)
        if self.up:
            whole = infix("+", Level.SUM, whole, literal(self.part - 1, type_), type_)
        return whole if self.part == 1 else infix("//", Level.PRODUCT, whole, literal(self.part, type_), type_)


def merged(instances: Mapping[Key, Instance]) -> dict[Key, LoweredKernel]:
    """Returns the kernels that replace instances, by the instances' keys; unchanged ones do not occur."""
    alike: dict[Hashable, dict[Key, Instance]] = {}
    for key, instance in instances.items():
        alike.setdefault((instance.kernel.head, _form(instance.prepared.function.body, {})), {})[key] = instance
    found: dict[Key, LoweredKernel] = {}
    for group in alike.values():
        if len({instance.kernel.body for instance in group.values()}) > 1:
            found |= zip(group, _one(tuple(group.values())), strict=False)
    return found


def _form(block: Block, places: dict[Value, int]) -> Hashable:
    """Returns what a block is but for its whole numbers and all types; `places` has values that are known in it."""
    form: list[Hashable] = [_placed(block.arguments, places)]
    for op in block.ops:
        if _number(op) is None:
            operands = tuple(places.get(operand) for operand in op.operands)  # a whole number has no place
            regions = tuple(_form(region, places) for region in op.regions)
            form.append((op.kind, operands, op.attributes, regions, _placed(op.results, places)))
    return tuple(form)


def _placed(values: tuple[Value, ...], places: dict[Value, int]) -> Hashable:
    """Gives places to values; returns their names."""
    for value in values:
        places[value] = len(places)
    return tuple(value.name for value in values)


def _number(op: Op) -> int | None:
    """Returns the whole number of a constant; None for any other operation."""
    type_ = op.results[0].type if op.kind == "constant" else None
    if not isinstance(type_, Scalar) or not type_.is_integer:
        return None
    return int(op.attribute("value"))


@dataclass
class _Apart:
    """A function in which each use of a whole number is a constant of its own: `constants` has them in order."""

    constants: list[Op] = field(default_factory=list)
    _shared: dict[Value, Op] = field(default_factory=dict)

    def function(self, function: Function) -> Function:
        """Returns `function` with constants for each use in the beginning."""
        ops = self._ops(function.body)
        return replace(function, body=Block((), (*self.constants, *ops)))

    def _ops(self, block: Block) -> tuple[Op, ...]:
        found = []
        for op in block.ops:
            if _number(op) is not None:
                self._shared[op.result] = op
                continue
            operands = tuple(map(self._own, op.operands))
            found.append(changed(op, operands, tuple(Block(r.arguments, self._ops(r)) for r in op.regions)))
        return tuple(found)

    def _own(self, value: Value) -> Value:
        if value not in self._shared:
            return value
        own = Value(value.type, value.name)
        self.constants.append(replace(self._shared[value], results=(own,)))
        return own


def _one(instances: tuple[Instance, ...]) -> list[LoweredKernel]:
    """Returns the instances with one text; nothing where a differing number does not come from their template."""
    parts = [_Apart() for _ in instances]
    functions = [part.function(instance.prepared.function) for part, instance in zip(parts, instances, strict=True)]
    spellings: list[Spelling | None] = []
    for ops in zip(*(part.constants for part in parts), strict=True):
        column = tuple(number for op in ops if (number := _number(op)) is not None)
        spelling = _spelled(column, instances) if len(set(column)) > 1 else None
        if spelling is None and len(set(column)) > 1:
            return []
        spellings.append(spelling)
    printed = []
    for instance, function, part in zip(instances, functions, parts, strict=True):
        said = {op.result: spelling for op, spelling in zip(part.constants, spellings, strict=True) if spelling}
        printed.append(_printed(replace(instance.prepared, function=function), said, dict(instance.numbers)))
    kernels = [kernel for kernel in printed if kernel is not None]
    is_one = len(kernels) == len(instances) and len({kernel.text for kernel in kernels}) == 1
    return kernels if is_one else []


def _spelled(column: tuple[int, ...], instances: tuple[Instance, ...]) -> Spelling | None:
    """Returns the template parameter that a number is, or is a fixed part of; None where there is none."""
    for name, _ in instances[0].numbers:
        values = [dict(i.numbers).get(name, 0) for i in instances]
        most = max(values)
        whole = column[values.index(most)]
        part = most // whole if whole > 0 else 0
        if part < 1 or name in _RESERVED:
            continue
        if all(v // part == n for v, n in zip(values, column, strict=True)):
            return Spelling(name, part)
        if all(-(-v // part) == n for v, n in zip(values, column, strict=True)):
            return Spelling(name, part, up=True)
    return None


def _printed(
    prepared: PreparedKernel, said: Mapping[Value, Spelling], numbers: Mapping[str, int]
) -> LoweredKernel | None:
    """Returns the kernel with names for numbers; None where its text uses such a name already."""
    names = dict.fromkeys(spelling.name for spelling in said.values())
    template = [LoweredParameter(name, ParameterKind.TEMPLATE, "int32", name, numbers[name]) for name in names]
    try:
        return print_kernel(prepared, template, {value: spelling.text(value.type) for value, spelling in said.items()})
    except Refusal:
        return None
