"""Finds the conditions on an operator's sizes: its checks, launches that can start, divisions that come out even."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from porter.contract.analysis.body import comparisons, walk
from porter.contract.analysis.scope import Scope
from porter.contract.analysis.usage import Usage
from porter.contract.infer.scalars import dimensions, launches_in
from porter.contract.model.expressions import evaluate, free_names, render
from porter.contract.model.syntax import Binary, Call, ExpressionError, Name, Node, Number
from porter.source.program import Function

MAX_THREADS = 1024


def conditions(
    usage: Usage,
    function: Function,
    template: tuple[str, ...],
    expressed: Callable[[Node], Node],
    symbols: frozenset[str],
) -> tuple[str, ...]:
    """Returns the requirements of `function`, instantiated with `template`, on the symbols alone.

    `expressed` writes host code's expressions in the symbols.
    """
    values = {
        t.name: Number(int(given)) for t, given in zip(function.template, template, strict=False) if given.isdigit()
    }
    return _Conditions(usage, function, lambda node: _valued(expressed(node), values), symbols).texts()


@dataclass(frozen=True)
class _Conditions:
    usage: Usage
    function: Function
    expressed: Callable[[Node], Node]
    symbols: frozenset[str]

    def texts(self) -> tuple[str, ...]:
        """Returns the texts of all that have a value and say something, in order."""
        stated = [self.expressed(r) for r in self.usage.requirements(self.function)]
        found = [n for n in stated if self._about(free_names(n)) and any(True for _ in comparisons(n))]
        found += [*self._even_shares(), *_exact_quotients(found), *self._starting_launches()]
        texts = (render(n) for n in found if _has_value(n, self.symbols) and not _is_identity(n))
        return tuple(dict.fromkeys(texts))

    def _about(self, names: frozenset[str]) -> bool:
        return bool(names) and names <= self.symbols

    def _starting_launches(self) -> Iterator[Node]:
        """Yields conditions for blocks no larger than a device takes."""
        scope = Scope(self.usage, self.function)
        for launch in launches_in(self.usage, self.function):
            block = [self.expressed(n) for n in dimensions(scope, launch.block.text)]
            if block and self._about(frozenset[str]().union(*map(free_names, block))):
                total = block[0]
                for edge in block[1:]:
                    total = Binary("*", total, edge)
                yield Binary("<=", total, Number(MAX_THREADS))

    def _even_shares(self) -> list[Node]:
        """Returns that a size which host code divides by another is a multiple of it: a head has `hidden / heads`."""
        if self.function.space != "host":
            return []
        body = self.usage.body(self.function)
        written = [n for nodes in body.definitions.values() for n in nodes]
        written += [a for _, arguments in body.calls for a in arguments if a is not None]
        shares = (part for node in written for part in walk(self.expressed(node)))
        return [
            Binary("==", Binary("%", share.left, share.right), Number(0))
            for share in dict.fromkeys(shares)
            if isinstance(share, Binary) and share.operator == "/"
            and isinstance(share.left, Name) and isinstance(share.right, Name)
            and {share.left.name, share.right.name} <= self.symbols
        ]  # fmt: skip


def _valued(node: Node, values: Mapping[str, Number]) -> Node:
    """Replaces template parameters by their arguments."""
    match node:
        case Name(name) if name in values:
            return values[name]
        case Binary(operator, left, right):
            return Binary(operator, _valued(left, values), _valued(right, values))
        case Call(callee, arguments):
            return Call(callee, tuple(_valued(a, values) for a in arguments))
        case _:
            return node


def _exact_quotients(conditions: list[Node]) -> Iterator[Node]:
    """Yields `n % 4 == 0` for `n / 4 == 32`: of all sizes with that quotient the exact one is meant."""
    for equality in (c for node in conditions for c in comparisons(node) if c.operator == "=="):
        if isinstance(equality.left, Binary) and equality.left.operator == "/":
            yield Binary("==", Binary("%", equality.left.left, equality.left.right), Number(0))


def _is_identity(node: Node) -> bool:
    return isinstance(node, Binary) and node.operator == "==" and node.left == node.right


def _has_value(node: Node, symbols: frozenset[str]) -> bool:
    try:
        evaluate(render(node), dict.fromkeys(symbols, 8))
    except ExpressionError:
        return False
    return True
