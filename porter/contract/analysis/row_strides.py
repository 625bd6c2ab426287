"""Tells the distance between rows, `out[row * stride + column]`, from the step of a window, which often has its name.

By a distance the index of a row is multiplied, and what comes out is added to a pointer or to an index as it is. The
step of a window divides a size, or is part of a coordinate that is multiplied by another extent:
`(y * stride - pad + i) * width`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from porter.contract.analysis.body import Body, parsed, subscripts_end, walk
from porter.contract.analysis.declared_types import instance
from porter.contract.analysis.passing import passed_on
from porter.contract.analysis.records import symbol
from porter.contract.analysis.usage import Usage
from porter.contract.model.syntax import Binary, Cast, Name, Node
from porter.source.program import CType, Function
from porter.source.qualified import unqualified
from porter.syntax import nodes as tree
from porter.syntax.walk import walk as syntax_walk

_DEEPEST = 6  # names defined by names
_OF_STEPS = frozenset(("/", "%", "/=", "%=", "+=", "-", "-="))  # before the step of a window or a loop


def is_row_stride(usage: Usage, function: Function, name: str) -> bool:
    """Returns whether the parameter `name` is such a distance, where it ends up, and nowhere something else."""
    found = False
    for inner, alias in passed_on(usage, function, name):
        offsets = _Offsets(usage.unfolded(inner).body, usage.aliases(inner).keys(), symbol(alias))
        if offsets.is_a_step():
            return False
        found = found or offsets.is_a_distance()
    return found or _is_of_methods(usage, function, name)


def _is_of_methods(usage: Usage, function: Function, name: str) -> bool:
    """Returns whether methods of the struct that the field `name` belongs to move its pointers on by multiples of it.

    `float& at(int r, int c) { return data[r * stride + c]; }`
    """
    first, *path = name.split(".")
    param = next((p for p in function.params if p.name == first), None)
    if param is None or not path:
        return False
    kind, *within = usage.types.of(param, function), *path[:-1]
    for part in within:
        found = next((m for m in usage.types.members(kind, function.scope) or () if m.name == part), None)
        if found is None or found.type.pointers:
            return False
        kind = usage.types.followed(CType(instance(found.type), instance(found.type)), function.scope)
    members = usage.types.members(kind, function.scope) or ()
    pointers = frozenset(m.name for m in members if m.type.pointers or m.extents)
    nodes = [n for body in usage.types.methods(kind, function.scope, {}) for n in syntax_walk(body)]
    if any(isinstance(n, tree.Binary) and n.operator in "/%-" and _member(n.right) == path[-1] for n in nodes):
        return False
    return any(path[-1] in _factors_of_terms(added) for n in nodes for added in _added_to(n, pointers))


def _added_to(node: object, pointers: frozenset[str]) -> Iterator[tree.Expression]:
    """Yields what `node` adds to one of `pointers`: a subscript, or the other operand of a sum."""
    match node:
        case tree.Subscript(base, index) if _member(base) in pointers:
            yield index
        case tree.Binary("+", left, right) if _member(left) in pointers:
            yield right
        case tree.Binary("+", left, right) if _member(right) in pointers:
            yield left


def _factors_of_terms(node: tree.Expression) -> frozenset[str]:
    """Returns the members that are factors of products among the terms of a sum."""
    match node:
        case tree.Binary("+" | "-", left, right):
            return _factors_of_terms(left) | _factors_of_terms(right)
        case tree.Binary("*", left, right):
            return frozenset((_member(left), _member(right)))
        case tree.Cast(operand=inner):
            return _factors_of_terms(inner)
        case _:
            return frozenset()


def _member(node: tree.Expression) -> str:
    """Returns the name of a member as its own methods write it; empty for anything else."""
    match node:
        case tree.Name(name) | tree.Member(tree.Name("this"), name):
            return unqualified(name)
        case tree.Cast(operand=inner):
            return _member(inner)
        case _:
            return ""


class _Offsets:
    """Knows what a body adds to its `pointers`, and what part the parameter `name` has in it."""

    def __init__(self, body: Body, pointers: Iterable[str], name: str) -> None:
        self._body, self._pointers, self._name = body, frozenset(pointers), name
        self._terms = [term for node in self._added() for term in self._summands(node, 0)]

    def is_a_step(self) -> bool:
        """Returns whether the name divides something, or is part of what is multiplied."""
        words = [word.text for word in self._body.words]
        if any(b == self._name and a in _OF_STEPS for a, b in pairwise(words)):
            return True
        return any(self._is_within(factor) for term in self._terms for factor in _factors(term))

    def is_a_distance(self) -> bool:
        """Returns whether something is multiplied by the name, and added to a pointer."""
        return any(len(factors := _factors(term)) > 1 and Name(self._name) in factors for term in self._terms)

    def _is_within(self, factor: Node) -> bool:
        """Returns whether the name is in a sum that is a factor, through names or not."""
        nodes = self._summands(factor, 0)
        return nodes != [factor] and any(Name(self._name) in walk(node) for node in nodes)

    def _added(self) -> Iterator[Node]:
        """Yields what pointers are moved on by, and their subscripts."""
        words = self._body.words
        for i, word in enumerate(words[:-1]):
            end = subscripts_end(words, i + 1) if word.text in self._pointers and words[i + 1].text == "[" else None
            if end is not None and (node := parsed(words[i + 2 : end])) is not None:
                yield node
        for pointer in self._pointers:
            yield from self._body.sums.get(pointer, ())
            yield from (n for n in self._body.definitions.get(pointer, ()) if isinstance(n, Binary))

    def _summands(self, node: Node, depth: int) -> list[Node]:
        """Returns the terms of a sum, names of sums followed."""
        match node:
            case Cast(_, operand):
                return self._summands(operand, depth)
            case Binary("+" | "-", left, right):
                return [*self._summands(left, depth), *self._summands(right, depth)]
            case Name(name) if depth < _DEEPEST and name != self._name and name not in self._pointers:
                defined = self._body.definitions.get(name, ())
                return self._summands(defined[0], depth + 1) if len(defined) == 1 else [node]
            case _:
                return [node]


def _factors(node: Node) -> list[Node]:
    """Returns the factors of a product, casts left out."""
    match node:
        case Cast(_, operand):
            return _factors(operand)
        case Binary("*", left, right):
            return [*_factors(left), *_factors(right)]
        case _:
            return [node]
