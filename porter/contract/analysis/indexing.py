"""Finds buffers that hold indices or offsets, of what, and with which limit: also floats that become integers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from porter.contract.analysis.access import Use
from porter.contract.analysis.body import Body, comparisons, parsed, statement_end, subscripts_end, walk
from porter.contract.analysis.pointers import is_integer, root
from porter.contract.model.expressions import free_names, render
from porter.contract.model.syntax import Call, Cast, Name, Node, Number, Subscript, Unary
from porter.source.lexer import match_bracket

_ROUNDS = 4  # a value handed from name to name


@dataclass
class Indices:
    """The values of the buffer `name`, and their uses; `aliases` are all names of pointers in `body`.

    In a buffer without `integers` only elements that are assigned to an integer unchanged can select: `int b =
    rois[0]`. `shared` are the arrays of a block that integers select from, with their extent; empty where that is no
    number.
    """

    name: str
    body: Body
    aliases: Mapping[str, str]
    integers: bool = True
    shared: Mapping[str, str] = field(default_factory=dict)

    def use(self) -> Use:
        """Returns whether they select or are offsets, for which buffers, and with which limits."""
        targets = {t for t in self._indexed() if t != self.name}
        below = [
            *self._limits("<", (*self.body.conditions, *self.body.asserted)),
            *self._limits(">=", self.body.left_at),
        ]
        offsets = self.integers and bool(targets) and self._has_neighbours()
        kept = [array for array in self.shared if self._selects_from(array)]
        bounds = (*below, *(extent for array in kept if (extent := self.shared[array])))
        return Use(selects=bool(targets or kept), indexes=frozenset(targets), bounds=bounds, offsets=offsets)

    def _limits(self, operator: str, conditions: Iterable[Node]) -> Iterator[str]:
        """Yields what values are compared with: code goes on where they are less, or leaves where they are not.

        Numbers are no limits: code asks for padding, -1, by them.
        """
        for node in conditions:
            for c in comparisons(node):
                tainted = free_names(c.left) & self.tainted and not free_names(c.right) & self.tainted
                if c.operator == operator and tainted and not isinstance(c.right, Number):
                    yield render(c.right)

    def _selects_from(self, array: str) -> bool:
        """Returns whether an element itself is an index of an array of the block: `bins[x[i]]`, `bins + x[i]`."""
        words = self.body.words
        for i, word in enumerate(words[:-1]):
            if word.text == array and words[i + 1].text in ("[", "+"):
                end = match_bracket(words, i + 1) if words[i + 1].text == "[" else statement_end(words, i)
                if self._is_element(parsed(words[i + 2 : end])):
                    return True
        return False

    def _is_element(self, node: Node | None) -> bool:
        """Returns whether `node` is an element of the buffer, or a name that only gets such elements."""
        while isinstance(node, Cast):
            node = node.operand
        if isinstance(node, Name):
            given = self.body.definitions.get(node.name, ())
            return bool(given) and all(not isinstance(g, Name) and self._is_element(g) for g in given)
        return isinstance(node, Subscript) and root(node.owner) in self.own

    @cached_property
    def own(self) -> set[str]:
        """The names that point into the buffer."""
        return {alias for alias, owner in self.aliases.items() if owner == self.name}

    @cached_property
    def tainted(self) -> set[str]:
        """The names whose values come from the buffer.

        They include loops up to such a value, and arrays that hold such values: a block may share them before it
        follows them.
        """
        found = set() if self.integers else set(self._converted())
        if not (found or self.integers):
            return found
        for _ in range(_ROUNDS):
            for name, nodes in (*self.body.definitions.items(), *self.body.stores.items(), *self.body.sums.items()):
                if name not in self.aliases and any(_holds_value_of(n, self._read, found) for n in nodes):
                    found.add(name)
            for c in (c for node in self.body.conditions for c in comparisons(node)):
                if (
                    c.operator in ("<", "<=")
                    and isinstance(c.left, Name)
                    and _holds_value_of(c.right, self._read, found)
                ):
                    found.add(c.left.name)
        return found

    @property
    def _read(self) -> set[str]:
        """The names through which indices can be read unchanged."""
        return self.own if self.integers else set()

    def _converted(self) -> Iterator[str]:
        """Yields the integers that only get elements of the buffer."""
        for place, name, node in self.body.assignments:
            cast = isinstance(node, Cast) and is_integer(node.type)
            declared = place > 0 and is_integer(self.body.words[place - 1].text)
            element = node.operand if isinstance(node, Cast) else node
            taken = isinstance(element, Subscript) or (isinstance(element, Unary) and element.operator == "*")
            if (cast or declared) and taken and _holds_value_of(element, self.own, set()):
                yield name

    def _indexed(self) -> Iterator[str]:
        """Yields the buffers that the values select from, by a subscript or by moving a pointer."""
        words = self.body.words
        for i, word in enumerate(words[:-1]):
            if word.text in self.aliases and words[i + 1].text in ("[", "+"):
                end = subscripts_end(words, i + 1) if words[i + 1].text == "[" else statement_end(words, i)
                inside = {w.text for w in words[i + 2 : end]}
                if inside & self.tainted or inside & self._read:
                    yield self.aliases[word.text]
        for name, nodes in self.body.definitions.items():
            if name in self.aliases and any(free_names(n) & (self.tainted | self._read) - {name} for n in nodes):
                target = self.aliases[name]
                if target not in self.own:
                    yield target

    def _has_neighbours(self) -> bool:
        """Returns whether element `e` and element `e + 1` are both read: then the buffer holds offsets."""
        words = self.body.words
        read = set()
        for i, word in enumerate(words[:-1]):
            if word.text in self.own and words[i + 1].text == "[":
                read.add("".join(w.text for w in words[i + 2 : match_bracket(words, i + 1)]))
        return any(f"{index}+1" in read or f"1+{index}" in read for index in read)


def _holds_value_of(node: Node, own: set[str], tainted: set[str]) -> bool:
    """Returns whether `node` reads through a name of `own`, or names what is `tainted`."""
    for part in walk(node):
        match part:
            case Name(name) if name in tainted:
                return True
            case Subscript(owner, _) | Unary(_, owner) if root(owner) in own:
                return True
            case Call(_, arguments) if any(root(a) in own for a in arguments):
                return True
            case _:
                pass
    return False
