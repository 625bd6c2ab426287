"""Functions of the SIMT IR as text, which `parser.py` reads back.

```
kernel scale(%x: ptr<f32, global> = 0, %n: i32 = 1+0) {
  %0 = thread_index {axis = 0} : u32
  if %2 {
    ...
  }
  return
}
```
A value is called as in the source where it has a name; a second one of that name has a number behind it. Behind a
parameter stands the number of the kernel's argument, and the byte of it where there are several.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

from porter.ir.simt.operations import OPERATIONS
from porter.ir.simt.ops import Block, Function, Op, Parameter, Value

_INDENT = "  "


def printed(function: Function, *, locations: bool = False) -> str:
    """Returns `function` as text, with the line of each operation behind it where `locations` are wanted."""
    return "\n".join(_Printer(locations).lines(function)) + "\n"


class _Printer:
    """Prints one function; values get their names in the order of definition."""

    def __init__(self, locations: bool) -> None:
        self._locations = locations
        self._names: dict[Value, str] = {}
        self._taken: Counter[str] = Counter()
        self._next = 0

    def lines(self, function: Function) -> Iterator[str]:
        parameters = ", ".join(self._parameter(parameter) for parameter in function.parameters)
        yield f"kernel {quoted(function.name)}({parameters}) {{"
        yield from self._block(function.body, _INDENT)
        yield "}"

    def _parameter(self, parameter: Parameter) -> str:
        at = f"{parameter.argument}+{parameter.offset}" if parameter.offset else str(parameter.argument)
        at = quoted(parameter.variable) if parameter.variable else at
        return f"{self._define(parameter.value)}: {parameter.value.type} = {at}"

    def _define(self, value: Value) -> str:
        name = value.name
        if not name:
            name, self._next = str(self._next), self._next + 1
        elif number := self._taken[name]:
            name = f"{name}.{number}"
        self._taken[value.name] += bool(value.name)
        self._names[value] = f"%{name}"
        return self._names[value]

    def _block(self, block: Block, indent: str) -> Iterator[str]:
        for op in block.ops:
            if op.kind == "yield" and not op.operands and not self._locations:
                continue  # is what a region without results ends with
            yield from self._op(op, indent)

    def _op(self, op: Op, indent: str) -> Iterator[str]:
        used = ", ".join(self._names.get(operand, "%?") for operand in op.operands)
        results = ", ".join(self._define(result) for result in op.results)
        types = f" : {', '.join(str(result.type) for result in op.results)}" if op.results else ""
        place = f" @{op.location}" if self._locations and op.location.line else ""
        attributes = f" {{{', '.join(f'{n} = {number(v)}' for n, v in op.attributes)}}}" if op.attributes else ""
        defining, taking = f"{results} = " if results else "", f" {used}" if used else ""
        head = f"{indent}{defining}{op.kind}{taking}{attributes}{types}{place}"
        if not op.regions:
            yield head
            return
        for count, region in enumerate(op.regions):
            arguments = ", ".join(f"{self._define(a)}: {a.type}" for a in region.arguments)
            opening = f" ({arguments})" if arguments else ""
            yield f"{head if count == 0 else f'{indent}}}'}{opening} {{"
            yield from self._block(region, indent + _INDENT)
        yield f"{indent}}}"


def number(value: object) -> str:
    """Returns an attribute as text: a float always has a point, an exponent or a word."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else f"float({value})"
    if isinstance(value, int):
        return str(value)
    return quoted(str(value))


def quoted(text: str) -> str:
    """Returns a text in quotes, unless it is a word."""
    if text.isidentifier() and text not in OPERATIONS and text not in ("true", "false", "float"):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
