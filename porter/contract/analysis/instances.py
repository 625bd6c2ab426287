"""Describes a host function as a call makes it: parameters in the caller's terms, the sizes of its template's types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from porter.contract.analysis.body import parsed, rebuild, substitute, written
from porter.contract.analysis.elements import element_type
from porter.contract.analysis.scope import Scope, simplified
from porter.contract.analysis.usage import Usage
from porter.contract.model.expressions import children, type_bytes
from porter.contract.model.syntax import Call, Cast, ExpressionError, Name, Node, Number, Text
from porter.source.lexer import Token, match_bracket, split_arguments
from porter.source.program import Function


@dataclass(frozen=True, slots=True)
class Instance:
    """A `function` as it is called.

    `values` give its parameters and its template's numbers in terms of the entry's parameters; `bytes` are the sizes of
    the types that only the call, or a dispatch, tells.
    """

    usage: Usage
    function: Function
    values: Mapping[str, Node]
    bytes: Mapping[str, int]

    @property
    def scope(self) -> Scope:
        """The names its body sees."""
        return Scope(self.usage, self.function)

    def expressed(self, node: Node) -> Node:
        """Returns `node` of its body in terms of the entry's parameters."""
        return substitute(simplified(self._sized(self.scope.resolve(node))), self.values, 1)

    def callees(self) -> Iterator[Instance]:
        """Yields the functions that it calls, each as it is called."""
        body = self.usage.body(self.function)
        for place, name, arguments in body.sites:
            callee = self.usage.callee(name, len(arguments))
            if callee is None or callee is self.function:
                continue
            pairs = list(zip(callee.params, arguments, strict=False))
            values = {p.name: self.expressed(a) for p, a in pairs if a is not None}
            sizes = {p.type.base: n for p, a in pairs if (n := self._element_bytes(a))}
            for parameter, given in zip(callee.template, _explicit(body.words, place), strict=False):
                if parameter.kind in ("typename", "class"):
                    sizes[parameter.name] = self._bytes(written(given))
                elif (number := parsed(given)) is not None:
                    values[parameter.name] = self.expressed(number)
            names = {t.name for t in callee.template}
            yield Instance(self.usage, callee, values, {t: n for t, n in sizes.items() if n and t in names})

    def _sized(self, node: Node) -> Node:
        """Returns `sizeof(T)` as a number where it is known."""
        node = rebuild(node, [self._sized(child) for child in children(node)])
        match node:
            case Call(Name("sizeof"), (Text(type_),)) if "*" not in type_ and (count := self._bytes(type_)):
                return Number(count)
            case _:
                return node

    def _element_bytes(self, argument: Node | None) -> int:
        """Returns the size of the elements that a pointer points to, where it is a parameter; else 0."""
        while isinstance(argument, Cast):
            argument = argument.operand
        named = argument.name if isinstance(argument, Name) else ""
        return next((self._bytes(p.type.base) for p in self.function.params if p.name == named), 0)

    def _bytes(self, type_: str) -> int:
        """Returns the size of a number's type; 0 where it is not known."""
        named = self.usage.named_type(type_.strip())
        dtype = element_type(named)
        try:
            return self.bytes[named] if named in self.bytes else type_bytes(named)
        except ExpressionError:
            return dtype.bytes if dtype is not None else 0


def _explicit(words: Sequence[Token], place: int) -> list[list[Token]]:
    """Returns the template arguments written behind the name at `place`."""
    opening = place + 1
    if words[opening].text != "<" or match_bracket(words, opening) is None:
        return []
    return split_arguments(words, opening)
