"""Brings the nodes of an execution to their normal forms."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from porter.contract.model.dtype import DType
from porter.lift.arithmetic import add, multiply, quotient_of_decimals
from porter.lift.cases import of_the_larger
from porter.lift.choices import extreme, operation
from porter.lift.forms import GATHER, READ, UNDEFINED, Form, Forms, Gather, Operation, Read, Weighted
from porter.lift.nodes import Graph, Node, NotLiftedError

_ONE = Fraction(1)
_HALF = Fraction(1, 2)
# Which operand is taken how often: of operations that are added up without forms in between.
_ADDED = {"add": (1, 1), "subtract": (1, -1), "negate": (-1,)}
_ROUNDED = frozenset(("round", "floor", "ceil"))
_KEPT = {"multiply": "multiply_rn", "divide": "divide_rn"}
_FEW_PLACES = 1000  # the largest denominator of an exponent


class Normaliser:
    """Brings the nodes of `graph` to normal forms, each once."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._found: dict[Node, Form] = {}
        self.forms = Forms()

    def form(self, node: Node) -> Form:
        """Returns the normal form of a node. A chain of a thousand additions takes no deeper stack than one."""
        pending = [node]
        while pending:
            current = pending[-1]
            parts = list(self._terms(current)) if self._op(current) in _ADDED else []
            needed = [part for part, _ in parts] if parts else list(self._graph.operands(current))
            missing = [part for part in needed if part not in self._found]
            if current not in self._found and not missing:
                self._found[current] = self._summed(current, parts) if parts else self._made(current)
            if missing and current not in self._found:
                pending += missing
            else:
                pending.pop()
        return self._found[node]

    def _op(self, node: Node) -> str:
        return str(self._graph[node][0])

    def _terms(self, node: Node) -> Iterator[Weighted]:
        """Yields what a whole tree of additions adds up, with its weights."""
        pending = [(node, _ONE)]
        while pending:
            current, weight = pending.pop()
            signs = _ADDED.get(self._op(current))
            if signs is None or (current in self._found and current != node):
                yield current, weight
                continue
            operands = self._graph.operands(current)
            pending += [(operand, weight * sign) for operand, sign in zip(operands, signs, strict=True)]

    def _summed(self, node: Node, parts: list[tuple[Node, Fraction]]) -> Form:
        form = of_the_larger(self.forms, add(self.forms, [(self._found[part], weight) for part, weight in parts]))
        dtype = self._graph.type_of(node)
        self.forms.precision.setdefault(form, DType(dtype))
        return form

    def _made(self, node: Node) -> Form:
        forms, graph = self.forms, self._graph
        of_operand = self._in_order if self._op(node) in _ROUNDED else self._found.__getitem__
        key, parts = graph[node], [of_operand(operand) for operand in graph.operands(node)]
        match key[0]:
            case "number":
                value = graph.value(node)
                assert value is not None
                return forms.number(value)
            case "read":
                return forms.put(Read(READ, str(key[2]), int(str(key[3]))))
            case "gather":
                return forms.put(Gather(GATHER, str(key[2]), parts[0]))
            case "undefined":
                return forms.put(Operation(UNDEFINED, ()))
            case "outcome":
                raise NotLiftedError("a result depends on the order of atomic updates")
        return _normal(forms, str(key[0]), parts)

    def _in_order(self, node: Node) -> Form:
        """Returns the form of a number that is rounded to a whole one: its products and quotients stay as they are.

        `x / (m / 127)` and `127 * x / m` are on different sides of a half now and then, and the whole numbers are an
        answer that is compared exactly.
        """
        graph = self._graph
        op = _KEPT.get(self._op(node))
        if op is None or graph.type_of(node) != DType.FLOAT32.value:
            return self._found[node]
        return operation(self.forms, op, [self._in_order(operand) for operand in graph.operands(node)])


def _normal(forms: Forms, op: str, parts: list[Form]) -> Form:
    match op, parts:
        case "multiply", [one, other]:
            return multiply(forms, [(one, _ONE), (other, _ONE)])
        case "divide", [above, below]:
            return multiply(forms, [(above, _ONE), (below, -_ONE)])
        case "sqrt", [of]:
            return multiply(forms, [(of, _HALF)])
        case "rsqrt", [of]:
            return multiply(forms, [(of, -_HALF)])
        case "power", [base, exponent]:
            return _power(forms, base, exponent)
        case "maximum" | "minimum", _:
            return extreme(forms, op, parts)
        case "exp2", [exponent]:
            return operation(forms, "exp", [_rescaled(forms, exponent, math.log(2))])
        case "log2", [of]:
            return _rescaled(forms, operation(forms, "log", [of]), 1 / math.log(2))
    return operation(forms, op, parts)


def _power(forms: Forms, base: Form, exponent: Form) -> Form:
    value = forms.value(exponent)
    if isinstance(value, Fraction) and value.denominator <= _FEW_PLACES:
        return multiply(forms, [(base, value)])
    return forms.operation("power", base, exponent)


def _rescaled(forms: Forms, form: Form, factor: float) -> Form:
    """Returns `factor` times a form; its product with constants of the source is rounded to a fraction."""
    constant, terms = forms.linear(form)

    def told(weight: Fraction) -> Fraction:
        value = quotient_of_decimals(float(weight) * factor) if weight else Fraction(0)
        return Fraction(value)

    return add(forms, [(term, told(weight)) for term, weight in terms], told(constant))
