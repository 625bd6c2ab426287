"""Finds counts that kernels take apart: `n = index / C` of an `index` below a count says that it counts rows of C."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from porter.contract.analysis.body import comparisons, parsed, substitute
from porter.contract.analysis.pointers import is_integer
from porter.contract.analysis.scope import Scope
from porter.contract.analysis.usage import Usage
from porter.contract.model.contract import Contract, TensorArg
from porter.contract.model.expressions import free_names, render
from porter.contract.model.resized import multiplied
from porter.contract.model.syntax import Binary, Cast, Name, Node
from porter.source.lexer import Token, match_bracket
from porter.source.program import Function

_DEEPEST_CALL = 4
_ROUNDS = 3  # quotients of quotients of an index


@dataclass(frozen=True, slots=True)
class Planes:
    """`count` is a multiple of the product of `axes`, innermost first; in terms of the function asked about."""

    count: Node
    axes: tuple[Node, ...]


def taken_apart(contract: Contract, found: Iterable[tuple[str, tuple[str, ...]]]) -> Contract:
    """Returns `contract` with each size of `found`, where only a tensor's count was stated, times its axes.

    The tensor gets them as axes, the innermost last.
    """
    for size, axes in found:
        counted = [t.name for t in contract.tensors if t.shape == (size,)]
        if size in contract.symbols and counted and size not in axes and all(_is_size(a, contract) for a in axes):
            shape = (size, *reversed(axes))
            contract = multiplied(contract, size, axes)
            arguments = (
                replace(a, shape=shape) if isinstance(a, TensorArg) and a.name in counted else a
                for a in contract.arguments
            )
            contract = replace(contract, arguments=tuple(arguments))
    return contract


def _is_size(axis: str, contract: Contract) -> bool:
    return axis in contract.symbols or axis.isdigit()


def of_planes(contract: Contract, usage: Usage, kernel: Function) -> Contract:
    """Returns a kernel's `contract` in which counts that it takes apart by several sizes are multiples of these.

    A count that is divided by a single size may well end within a row. A number that is not a size, such as the step of
    a window that divides a place in a row, makes no planes.
    """
    for found in _Kernel(usage, kernel).planes():
        size, axes = render(found.count), tuple(a for a in map(render, found.axes) if a in contract.symbols)
        if len(axes) > 1 and size in contract.symbols and size not in axes:
            contract = multiplied(contract, size, axes)
    return contract


def planes(usage: Usage, function: Function, depth: int = 0) -> Iterator[Planes]:
    """Yields the counts that `function` passes to kernels, itself or through host functions, which take them apart."""
    scope, body = Scope(usage, function), usage.body(function)
    for place, name, arguments in body.sites if depth < _DEEPEST_CALL else ():
        callee = usage.callee(name, len(arguments))
        if callee is None or callee is function or callee.space == "device":
            continue
        latest = {n: body.latest(n, place) or Name(n) for a in arguments if isinstance(a, Name) for n in (a.name,)}
        given = {
            p.name: scope.resolve(substitute(a, latest, 1))
            for p, a in zip(callee.params, arguments, strict=False)
            if a is not None
        }
        inner = _Kernel(usage, callee).planes() if callee.space == "global" else planes(usage, callee, depth + 1)
        for found in inner:
            yield Planes(substitute(found.count, given, 1), tuple(substitute(axis, given, 1) for axis in found.axes))


@dataclass(frozen=True)
class _Kernel:
    usage: Usage
    function: Function

    def planes(self) -> Iterator[Planes]:
        """Yields the counts among its parameters that indices stay below, with the divisors of those indices."""
        for index, count in dict.fromkeys(self._limits()):
            axes = dict.fromkeys(axis for axis in self._divisors(index) if axis != count)
            if axes:
                yield Planes(Name(count), tuple(map(Name, axes)))

    @cached_property
    def _sizes(self) -> frozenset[str]:
        """The parameters that are sizes."""
        types = {p.name: self.usage.types.of(p, self.function) for p in self.function.params}
        return frozenset(name for name, type_ in types.items() if is_integer(type_.base) and not type_.pointers)

    def _limits(self) -> Iterator[tuple[str, str]]:
        """Yields `index < count`, `index >= count`, and the loops of a macro: `KERNEL_LOOP(index, count)`."""
        body = self.usage.body(self.function)
        for c in (c for node in body.conditions for c in comparisons(node)):
            match c:
                case Binary("<" | ">=", Name(index), Name(count)) if count in self._sizes:
                    yield index, count
        declared = {*body.definitions, *(p.name for p in self.function.params)}
        for _, arguments in body.calls:
            match arguments:
                case (Name(index), Name(count)) if count in self._sizes and index not in declared:
                    yield index, count

    def _divisors(self, index: str) -> Iterator[str]:
        """Yields the parameters that divide `index`, and what is left of it: also those of `index / (H * W)`."""
        definitions = self.usage.body(self.function).definitions
        scope = Scope(self.usage, self.function)
        parts = {index}
        for _ in range(_ROUNDS):
            parts |= {name for name, nodes in definitions.items() if any(_leading(n) in parts for n in nodes)}
        words = self.usage.body(self.function).words
        for i in range(1, len(words) - 2):
            if words[i].text in parts and words[i - 1].text != ")":  # a cast, as to a fraction
                for divisor in _chain(words, i + 1):
                    names = free_names(scope.resolve(divisor))
                    yield from (name for name in sorted(names) if name in self._sizes)


def _chain(words: Sequence[Token], start: int) -> Iterator[Node]:
    """Yields `W` and `H` of `/ W) % H`."""
    while start + 1 < len(words) and words[start].text in ("/", "%"):
        bracket = match_bracket(words, start + 1) if words[start + 1].text == "(" else start + 1
        end = start + 1 if bracket is None else bracket
        divisor = parsed(words[start + 1 : end + 1])
        if divisor is not None:
            yield divisor
        start = end + 1
        while start < len(words) and words[start].text == ")":
            start += 1


def _leading(node: Node) -> str:
    """Returns `index` of `index`, and of `(index / W) % H`."""
    match node:
        case Name(name):
            return name
        case Cast(_, operand):
            return _leading(operand)
        case Binary("/" | "%", left, _):
            return _leading(left)
        case _:
            return ""
