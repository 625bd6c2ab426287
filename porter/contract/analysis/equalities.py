"""Finds buffers whose elements are compared with an index: `mask[i] == h * width + w`, `column >= lengths[row]`.

They hold such indices; `<` and `>` only count for whole numbers.

Hardly any normal number equals an index, so the code for equal ones would not run. While extents are learnt the buffers
hold normal numbers all the same, with a bound for later: indices are then the largest possible, equal to a single one,
and hide what is read for the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from porter.contract.analysis.body import Body, comparisons, parsed, substitute
from porter.contract.analysis.pointers import root
from porter.contract.model.contract import Contract, TensorArg, Values, with_parts
from porter.contract.model.expressions import render, value
from porter.contract.model.syntax import Binary, Cast, ExpressionError, Name, Node, Number, Subscript, Text, Unary
from porter.source.lexer import Token, TokenKind

_DEEPEST = 6  # names defined by names
_ENDS = frozenset((";", ",", "?", ":", "=", "{", "}", "return", "&&", "||", "!"))


def with_compared(contract: Contract) -> Contract:
    """Returns `contract` with indices for normal numbers that have a bound."""

    def compared(tensor: TensorArg) -> TensorArg:
        return replace(tensor, values=Values.INDEX) if tensor.values is Values.NORMAL and tensor.bound else tensor

    return replace(contract, arguments=with_parts(contract.arguments, compared))


@dataclass(frozen=True)
class Equalities:
    """Finds what a function compares with elements, indices and numbers; `aliases` are the pointers in its `body`."""

    body: Body
    aliases: Mapping[str, str]
    parameters: frozenset[str]
    constants: Mapping[str, Node] = field(default_factory=dict)

    def equals(self, name: str) -> tuple[str, ...]:
        """Returns limits of the indices that elements of the buffer `name` may be equal to."""
        return self._bounds(name, self._equal)

    def ordered(self, name: str) -> tuple[str, ...]:
        """Returns limits of the indices that elements of the buffer `name` may be less or greater than."""
        return self._bounds(name, self._ordered)

    def numbers(self, name: str) -> tuple[int, ...]:
        """Returns the whole numbers that elements of the buffer `name` are compared with for equality."""
        found = (self._number(other) for element, other in self._equal if self._is_of(element, name))
        return tuple(sorted({number for number in found if number is not None}))

    def _number(self, node: Node) -> int | None:
        """Returns a literal, a character or a constant of the program; None for what is no whole number."""
        if isinstance(node, Text):
            return ord(node.value) if len(node.value) == 1 else None
        try:
            found = value(substitute(node, self.constants), {})
        except (ExpressionError, OverflowError, ValueError):
            return None
        return int(found) if float(found).is_integer() else None

    def _bounds(self, name: str, compared: Sequence[tuple[Node, Node]]) -> tuple[str, ...]:
        found = (self._bound(other) for element, other in compared if self._is_of(element, name))
        return tuple(dict.fromkeys(bound for bound in found if bound))

    @cached_property
    def _equal(self) -> tuple[tuple[Node, Node], ...]:
        return tuple(self._compared("==", "!="))

    @cached_property
    def _ordered(self) -> tuple[tuple[Node, Node], ...]:
        return tuple(self._compared("<", "<=", ">", ">="))

    def _compared(self, *operators: str) -> Iterator[tuple[Node, Node]]:
        """Yields the two sides of every comparison by one of these, either way round."""
        words = self.body.words
        for i, word in enumerate(words):
            if word.text in operators and word.kind is TokenKind.PUNCTUATION:
                left, right = parsed(words[_left(words, i) : i]), parsed(words[i + 1 : _right(words, i)])
                if left is not None and right is not None:
                    yield from ((left, right), (right, left))

    def _is_of(self, node: Node, name: str) -> bool:
        """Returns whether `node` is an element of the buffer, by a name of its own or not."""
        for _ in range(_DEEPEST):
            while isinstance(node, Cast):
                node = node.operand
            if not isinstance(node, Name) or node.name in self.parameters:
                break
            defined = self.body.definitions.get(node.name, ())
            if len(defined) != 1:
                break
            node = defined[0]
        match node:
            case Subscript(owner, _) | Unary("*", owner):
                return self.aliases.get(root(owner), "") == name
            case _:
                return False

    def _bound(self, node: Node) -> str:
        """Returns the limit of `node`, if it is an index; empty where it is not, or nothing says so."""
        match self._most(node, 0):
            case Binary("-", limit, Number(1)), True:
                return render(limit)
            case most, True:
                return render(Binary("+", most, Number(1)))
            case _:
                return ""

    def _most(self, node: Node, depth: int) -> tuple[Node, bool] | None:
        """Returns the largest value of `node`, and whether an index is part of it."""
        match node:
            case Number(int()):
                return node, False
            case Name(name) if name in self._limits:
                return Binary("-", self._limits[name], Number(1)), True
            case Name(name) if name in self.parameters:
                return node, False
            case Name(name) if len(nodes := self.body.definitions.get(name, ())) == 1 and depth < _DEEPEST:
                return self._most(nodes[0], depth + 1)
            case Cast(_, operand):
                return self._most(operand, depth)
            case Binary("%", _, right):
                return Binary("-", right, Number(1)), True
            case Binary("+" | "*" | "/" as operator, left, right):
                one, other = self._most(left, depth), self._most(right, depth)
                return (Binary(operator, one[0], other[0]), one[1] or other[1]) if one and other else None
            case _:
                return None

    @cached_property
    def _limits(self) -> Mapping[str, Node]:
        """The limits of indices, from conditions and from loops that a macro makes: `KERNEL_LOOP(index, count)`."""
        return dict(self._below())

    def _below(self) -> Iterator[tuple[str, Node]]:
        declared = {*self.body.definitions, *self.parameters}
        for _, arguments in self.body.calls:
            match arguments:
                case (Name(index), Name(count)) if index not in declared and count in self.parameters:
                    yield index, Name(count)
        for compared in (c for node in self.body.conditions for c in comparisons(node)):
            match compared:
                case Binary("<" | ">=", Name(index), Name() | Number() as limit) if index not in self.parameters:
                    yield index, limit


def _left(words: Sequence[Token], at: int) -> int:
    """Returns where the operand in front of `at` begins."""
    depth = 0
    for i in range(at - 1, -1, -1):
        text = words[i].text
        depth += (text in (")", "]")) - (text in ("(", "["))
        if depth < 0 or (depth == 0 and text in _ENDS):
            return i + 1
    return 0


def _right(words: Sequence[Token], at: int) -> int:
    """Returns where the operand behind `at` ends."""
    depth = 0
    for i in range(at + 1, len(words)):
        text = words[i].text
        depth += (text in ("(", "[")) - (text in (")", "]"))
        if depth < 0 or (depth == 0 and text in _ENDS):
            return i
    return len(words)
