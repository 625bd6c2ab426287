"""CUDA's device functions as Triton expressions: `functions.toml`, and which overload a call means.

The form of a row
- `names`: every spelling, without `std::`, `at::` and the like: namespaces are dropped before looking up.
- `parameters`: types by Triton's names (`float32`, `uint64`, `int1` for bool). `T` is any of `types`, the same for all
  parameters that say `T`. `float16x2` is a vector: a record with the fields x, y, z, w as far as they go. `T*` is a
  pointer or an address, which only `outputs` may use.
- `result`: a type, or absent for `void`.
- `expression`: text with `{0}`, `{1}` for the arguments, which the caller has converted to the parameters' types (those
  of `computed` where given) and put in brackets where they bind less tightly than an attribute access
  (`{0}.to(tl.int32)` is written that way). `{T}` is `tl.float32`. The text binds as an atom or a call unless `level`
  names an operator of it (`level = "+"`); identifiers that are helpers need `helper_source`.
  A vector result has one expression for all its components when the arguments are vectors (each of them, or a scalar
  for all), or a list of them; `{0.x}` is a component of a vector argument.
- `computed = "float32"`: the arguments are converted to it and the result, of this type, is converted to `result`: how
  CUDA's 16-bit arithmetic is defined.
- `number`: an argument may be written as a Python number if another one is a Triton value of type `T`.
- `outputs`: the positions of pointer parameters that are written, in the order of the values that `expression` makes: a
  list, the result first if there is one. Their element type is the parameter's.
- `pure = false`: the call has an effect or depends on more than its arguments; it must not be dropped or moved.
Python's own names in an expression: `tl` is triton.language.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from porter.source.qualified import unqualified

_SIZES = {"int1": 0, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 3, "uint32": 4, "int64": 5, "uint64": 6,
          "float16": 7, "bfloat16": 7, "float32": 8, "float64": 9}  # fmt: skip
_VECTOR = re.compile(r"(\w+)x([1-4])")


@dataclass(frozen=True, slots=True)
class DeviceFunction:
    """One row of the table; see the module for what its fields say."""

    names: tuple[str, ...]
    parameters: tuple[str, ...]
    expressions: tuple[str, ...]
    result: str = ""
    types: tuple[str, ...] = ()
    computed: str = ""
    level: str = ""
    number: bool = False
    outputs: tuple[int, ...] = ()
    pure: bool = True


@dataclass(frozen=True, slots=True)
class Overload:
    """What a call means: `T` is filled in everywhere, and arguments are to be converted to `parameters`.

    `expressions` still have `{0}`; one a value: the result, or its components, then the outputs.
    """

    function: DeviceFunction
    parameters: tuple[str, ...]
    expressions: tuple[str, ...]
    result: str


@cache
def functions() -> Mapping[str, tuple[DeviceFunction, ...]]:
    """The rows of the table by name, in order."""
    rows = tomllib.loads((files("porter_triton.device") / "functions.toml").read_text("utf-8"))["function"]
    table: dict[str, list[DeviceFunction]] = {}
    for row in rows:
        for name in row["names"]:
            table.setdefault(name, []).append(_function(row))
    return {name: tuple(overloads) for name, overloads in table.items()}


def overload(name: str, arguments: Sequence[str]) -> Overload | None:
    """The row that C++ would call for arguments of these types (`float32`, `float16x2`, `int32*`); None for none.

    Of several that fit, the one whose parameters need the fewest and the smallest conversions.
    """
    plain = unqualified(name)
    best: tuple[tuple[int, int], Overload] | None = None
    for candidate in overloads(plain):
        cost = _cost(arguments, candidate.parameters)
        if cost is not None and (best is None or cost < best[0]):
            best = cost, candidate
    return best[1] if best else None


def overloads(name: str) -> tuple[Overload, ...]:
    """Every row called `name`, once for each type that T may be."""
    return tuple(_filled(row, type_) for row in functions().get(name, ()) for type_ in (row.types or ("",)))


def vector(type_: str) -> tuple[str, int] | None:
    """The component type and the number of components of `float16x2`; None for a scalar."""
    found = _VECTOR.fullmatch(type_)
    return (found[1], int(found[2])) if found else None


def _function(row: Mapping[str, object]) -> DeviceFunction:
    fields: dict[str, object] = {k: tuple(v) if isinstance(v, list) else v for k, v in row.items() if k != "expression"}
    text = row["expression"]
    return DeviceFunction(expressions=tuple(text) if isinstance(text, list) else (text,), **fields)  # type: ignore[arg-type]


def _filled(row: DeviceFunction, type_: str) -> Overload:
    """`row` for one value of T."""

    def fill(text: str) -> str:
        return re.sub(r"\bT(?=\b|x[1-4])", type_, text)

    return Overload(
        row,
        tuple(fill(p) for p in row.parameters),
        tuple(e.replace("{T}", f"tl.{type_}") for e in row.expressions),
        fill(row.result),
    )


def _cost(arguments: Sequence[str], parameters: Sequence[str]) -> tuple[int, int] | None:
    """The number of lossy conversions and the sum of all their lengths; None where an argument has none."""
    if len(arguments) != len(parameters):
        return None
    costs = [_conversion(a, p) for a, p in zip(arguments, parameters, strict=True)]
    if any(cost is None for cost in costs):
        return None
    return sum(c[0] for c in costs if c), sum(c[1] for c in costs if c)


def _conversion(argument: str, parameter: str) -> tuple[int, int] | None:
    if argument == parameter:
        return (0, 0)
    if argument not in _SIZES or parameter not in _SIZES:
        return None
    step = _SIZES[parameter] - _SIZES[argument]
    if _is_float(argument) == _is_float(parameter) and step > 0:
        return (0, step)
    # C++ converts an integer to double where float and double are both there: its own overloads for integers do.
    if parameter == "float64" and not _is_float(argument):
        return (1, 1)
    return (1, 20 + abs(step))


def _is_float(type_: str) -> bool:
    return "float" in type_
