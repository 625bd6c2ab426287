"""Writes contracts as TOML: `porter inspect --as contract` prints it, users edit it, and `--contract` reads it back."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping

from porter.contract.model.contract import Argument, Contract, Distribution, Entry, Field, Question, TensorArg, Workload
from porter.contract.model.reader import loads

__all__ = ["dumps", "loads"]

_HEADER = """\
# How the operators of this source are called, and what a right answer is.
#
#   reference   the file with the right answers, a CUDA source or a Python reference, beside this one
#   symbols     the sizes everything below is written in
#   conditions  what the sizes must satisfy, as in C: "n % 4 == 0"
#   branches    what host code chooses by, where it does: a workload is drafted for either side
#   shares      sizes that others divide or are taken from: the first condition that is tried where the original breaks
#   argument    in call order. A tensor or device pointer has role (in, out, inout), dtype, shape (expressions over the
#               symbols) and values (normal, positive, whole, probability, index, sorted, boolean, zeros, ones; index
#               and sorted lie below `bound`), or, for an array of sizes, its `elements` (expressions), and `used`
#               where a call reads and writes no more of its elements, and `optional` where it may be a null pointer,
#               and in a `group` of how many its elements come, of structs or vectors; structs of several types are
#               groups of bytes with `fields`, each `at` a byte; half of normal whole numbers are among those `told`
#               from others; a scalar has its C++ type and a value, a number or an expression; `choices` are all values
#               that select
#   workload    sizes and a seed; `scale` multiplies normal values, `scalars` have another value in it, `dtypes` another
#               element type, `distribution` is that of the inputs (declared, uniform, constant rows, ties, sorted,
#               outlier, round numbers, zeros, denormal, infinite, nan); one that is device_only is never run on the
#               CPU; `takes` is the side of a branch that it was drafted for
#   tolerance   |got - want| <= atol + rtol * |want|, on top of what the original itself is seen to lose
#   question    something the source does not say; correct the field it is about, then delete it
"""


def dumps(contracts: tuple[Contract, ...]) -> str:
    """Returns `contracts` as TOML that `loads` reads back to equal values; without workloads of a judgement."""
    return _HEADER + "".join("\n" + "\n".join(_contract(contract)) + "\n" for contract in contracts)


def _contract(contract: Contract) -> Iterator[str]:
    yield "[[contract]]"
    yield f"name = {_string(contract.name)}"
    if contract.reference:
        yield f"reference = {_string(contract.reference)}"
    yield f"category = {_string(contract.category)}"
    yield f"symbols = {_strings(contract.symbols)}"
    yield f"conditions = {_strings(contract.conditions)}"
    if contract.branches:
        yield f"branches = {_strings(contract.branches)}"
    if contract.shares:
        yield f"shares = {_strings(contract.shares)}"
    yield from _entry(contract.entry)
    for argument in contract.arguments:
        yield from _argument(argument)
    for workload in contract.workloads:
        if not workload.is_drawn:
            yield from _workload(workload)
    if contract.tolerance:
        yield "\n[contract.tolerance]"
    for dtype, tolerance in contract.tolerance.items():
        yield f"{dtype.value} = {{ rtol = {_number(tolerance.rtol)}, atol = {_number(tolerance.atol)} }}"
    for question in contract.questions:
        yield from _question(question)


def _entry(entry: Entry) -> Iterator[str]:
    yield "\n[contract.entry]"
    yield f"kind = {_string(entry.kind.value)}"
    yield f"name = {_string(entry.name)}"
    if entry.template:
        yield f"template = {_strings(entry.template)}"
    if entry.launch is not None:
        launch = entry.launch
        yield f"grid = {_strings(launch.grid)}"
        yield f"block = {_strings(launch.block)}"
        yield f"shared_bytes = {_string(launch.shared_bytes)}"


def _argument(argument: Argument) -> Iterator[str]:
    yield "\n[[contract.argument]]"
    if not isinstance(argument, TensorArg):
        yield f"scalar = {_string(argument.name)}"
        yield f"type = {_string(argument.type)}"
        yield f"value = {_string(argument.value)}"
        if argument.choices:
            yield f"choices = {_strings(argument.choices)}"
        return
    yield f"tensor = {_string(argument.name)}"
    yield f"role = {_string(argument.role.value)}"
    yield f"dtype = {_string(argument.dtype.value)}"
    yield f"shape = {_strings(argument.shape)}"
    yield f"values = {_string(argument.values.value)}"
    if argument.bound:
        yield f"bound = {_string(argument.bound)}"
    if argument.used:
        yield f"used = {_string(argument.used)}"
    if argument.elements:
        yield f"elements = {_strings(argument.elements)}"
    if argument.group > 1:
        yield f"group = {argument.group}"
    if argument.told:
        yield f"told = {list(argument.told)}"
    if argument.fields:
        yield "fields = ["
        yield from (f"    {_field(field)}," for field in argument.fields)
        yield "]"
    if argument.optional:
        yield "optional = true"


def _field(field: Field) -> str:
    told = {"name": _string(field.name), "dtype": _string(field.dtype.value), "at": str(field.at)}
    told["values"] = _string(field.values.value)
    told |= {"bound": _string(field.bound)} if field.bound else {}
    return _pairs(told | ({"told": str(list(field.told))} if field.told else {}))


def _workload(workload: Workload) -> Iterator[str]:
    yield "\n[[contract.workload]]"
    yield f"name = {_string(workload.name)}"
    yield f"sizes = {_sizes(workload.sizes)}"
    yield f"seed = {workload.seed}"
    yield f"scale = {_number(workload.scale)}"
    if workload.scalars:
        yield f"scalars = {_pairs({name: _scalar(n) for name, n in workload.scalars.items()})}"
    if workload.dtypes:
        yield f"dtypes = {_pairs({name: _string(dtype.value) for name, dtype in workload.dtypes.items()})}"
    if workload.layouts:
        yield f"layouts = {_pairs({name: _string(layout.value) for name, layout in workload.layouts.items()})}"
    if workload.distribution is not Distribution.DECLARED:
        yield f"distribution = {_string(workload.distribution.value)}"
    if workload.device_only:
        yield "device_only = true"
    if workload.takes:
        yield f"takes = {_string(workload.takes)}"


def _question(question: Question) -> Iterator[str]:
    yield "\n# Open:"
    yield "[[contract.question]]"
    yield f"about = {_string(question.about)}"
    yield f"text = {_string(question.text)}"
    yield f"flag = {_string(question.flag)}"


def _string(text: str) -> str:
    # A JSON string is a TOML basic string, but for DEL, which TOML wants escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _strings(items: tuple[str, ...]) -> str:
    return f"[{', '.join(_string(item) for item in items)}]"


def _sizes(sizes: Mapping[str, int]) -> str:
    return _pairs({name: str(n) for name, n in sizes.items()})


def _scalar(value: float) -> str:
    return str(value) if isinstance(value, int) else _number(value)


def _pairs(values: Mapping[str, str]) -> str:
    pairs = ", ".join(
        f"{name if name.isidentifier() and name.isascii() else _string(name)} = {value}"
        for name, value in values.items()
    )
    return f"{{ {pairs} }}" if pairs else "{}"


def _number(value: float) -> str:
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    text = repr(float(value))
    # TOML wants a fraction or an exponent, and repr gives one of the two.
    return "nan" if math.isnan(value) else text
