"""Takes lists of numbers apart into arguments, `mean[0]`, `mean[1]`: as many as the source is seen to read.

A list is a `std::vector`, a `std::array` or an `ArrayRef`. The caller of the entry puts it together again
(`simt/driver.py`). Of one that code reads in another way nothing says how long it is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from porter.contract.analysis.body import comparisons, quietly, written
from porter.contract.analysis.passing import passed_on
from porter.contract.analysis.scope import Scope
from porter.contract.analysis.usage import Usage
from porter.contract.infer.size_lists import subscripts
from porter.contract.model.contract import Argument
from porter.contract.model.syntax import Name, Node, Number
from porter.source.arithmetic_types import Kind, arithmetic
from porter.source.program import CType, Function, Param

_LIST = re.compile(r"(?:(?:std|c10|at|torch)::)?(?:vector|ArrayRef) ?<(?P<element>[^<>]+)>")
_ARRAY = re.compile(r"(?:std::)?array ?<(?P<element>[^<>,]+),(?P<count>[^<>,]+)>")
_OF_INT64 = re.compile(r"(?:(?:c10|at|torch)::)?IntArrayRef")
_READ_AT = r"(?<![\w.>]){name}(?:\[|\.at\()(\d+)[\])]"
_CHECKED = r"(?<![\w.>]){name}\.size\(\)(?:==|!=|>=|<)(\d+)", r"(?<![\w.])(\d+)(?:==|!=|<=|>){name}\.size\(\)"
_MOST = 16
_ELEMENT = re.compile(r"(?P<name>\w+)\[\d+\]")


def elements(usage: Usage, function: Function, param: Param) -> tuple[Param, ...]:
    """Returns the elements of a list of numbers that `function` takes.

    None for any other parameter, for a list that is changed, and for one of which one element at most is read.
    """
    type_ = usage.types.of(param, function)
    if type_.pointers or (type_.reference and not type_.const):
        return ()
    element, count = _taken_apart(usage, function, type_)
    number = arithmetic(element)
    if number is None or number.kind is Kind.BOOL:
        return ()
    count = count or max(_read(usage, function, param.name), default=0)
    if not 1 < count <= _MOST:
        return ()
    one = CType(element, element)
    return tuple(replace(param, name=f"{param.name}[{i}]", type=one, default="") for i in range(count))


def lists(arguments: Sequence[Argument]) -> Mapping[str, int]:
    """Returns the lists that `arguments` have the elements of, each with how many."""
    return Counter(found["name"] for a in arguments if (found := _ELEMENT.fullmatch(a.name)))


def places(arguments: Sequence[Argument]) -> tuple[tuple[int, int], ...]:
    """Returns for each list the place of its first element among `arguments`, and how many it has."""
    names = [argument.name for argument in arguments]
    return tuple((names.index(f"{name}[0]"), count) for name, count in lists(arguments).items())


def _taken_apart(usage: Usage, function: Function, type_: CType) -> tuple[str, int]:
    """Returns the type of the elements of a list, empty for another type, and how many it has by its type, or 0."""
    if _OF_INT64.fullmatch(type_.base):
        return "int64_t", 0
    found = _LIST.fullmatch(type_.base) or _ARRAY.fullmatch(type_.base)
    if found is None:
        return "", 0
    named = found["element"].strip()
    element = usage.types.followed(CType(named, named), function.scope).base
    return element, _number(Scope(usage, function), found.groupdict().get("count", "0"))


def _number(scope: Scope, text: str) -> int:
    """Returns the number that `text` stands for; 0 where it is not known."""
    node = quietly(text)
    found = scope.resolve(node) if node is not None else None
    return found.value if isinstance(found, Number) and isinstance(found.value, int) else 0


def _read(usage: Usage, function: Function, name: str) -> Iterator[int]:
    """Yields how many elements a list has at least by what code does with it: what it reads at, and asks for."""
    for inner, alias in passed_on(usage, function, name):
        body, escaped = usage.body(inner), re.escape(alias)
        text = written(body.words)
        yield from (int(place) + 1 for place in re.findall(_READ_AT.format(name=escaped), text))
        yield from (int(count) for checked in _CHECKED for count in re.findall(checked.format(name=escaped), text))
        walked = {index.name for index in subscripts(body, {alias}) if isinstance(index, Name)}
        scope = Scope(usage, inner)
        for comparison in (c for node in body.conditions for c in comparisons(node)):
            if comparison.operator in ("<", "<=") and _names(comparison.left, walked):
                limit = scope.resolve(comparison.right)
                if isinstance(limit, Number) and isinstance(limit.value, int):
                    yield limit.value + (comparison.operator == "<=")


def _names(node: Node, names: set[str]) -> bool:
    return isinstance(node, Name) and node.name in names
