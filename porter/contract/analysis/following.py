"""Finds the pointers to structs that host code only follows, and writes it as if it took the structs by value.

`run(const Params* p)` that has `p->n`, `(*p).n` and `k<<<p->n, 32>>>(*p)` is read as `run(Params p)` with `p.n` and
`k<<<p.n, 32>>>(p)`. A pointer that is more than followed, compared with null or an array, is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from porter.contract.analysis.body import Body
from porter.contract.analysis.declared_types import DeclaredTypes
from porter.contract.analysis.setting import leads_further, sets, wholes
from porter.contract.model.syntax import Name, Unary
from porter.source.lexer import Token
from porter.source.program import Function, Param

_MEMBERS = (".", "->", "::")
_BEFORE_OPERANDS = frozenset(("(", ",", "=", "{", ";", "return", "?", ":", "+", "-", "<", ">", "&&", "||", "!"))
_Around = frozenset[tuple[Function, str]]


@dataclass(frozen=True)
class Following:
    """Asks the host functions of a program what they do with pointers.

    `body` gives the body of a function as it is written, `callees` the functions that a call of a name with so many
    arguments may mean.
    """

    types: DeclaredTypes
    body: Callable[[Function], Body]
    callees: Callable[[str, int], Sequence[Function]]

    def only_follows(self, function: Function, name: str, around: _Around = frozenset()) -> bool:
        """Returns whether `function`, and those that it hands `name` on to, set nothing through this parameter.

        Each mention of a pointer leads to the struct or a member of it. `around` is how it came here.
        """
        param = next((p for p in function.params if p.name == name), None)
        if param is None or function.space != "host" or (function, name) in around:
            return False
        within = around | {(function, name)}
        written, type_ = self.body(function), self.types.of(param, function)
        body = dereferenced(written, (name,)) if type_.pointers else written
        bare = sum(_is_bare(written.words, i) for i in _places(written.words, name)) if type_.pointers else 0
        handed = list(self._handed_on(written, name, within))
        if type_.pointers > 1 or name not in body.names or bare > handed.count(True) or leads_further(body, name):
            return False
        return type_.const or not (sets(body, name) or wholes(body, name) > len(handed) + _copied(body, name))

    def _handed_on(self, body: Body, name: str, around: _Around) -> Iterator[bool]:
        """Yields, for each time that `body` hands the struct on to who sets nothing of it, whether by its address."""
        for callee, arguments in body.calls:
            for i, argument in enumerate(arguments):
                if argument not in (Name(name), Unary("*", Name(name))):
                    continue
                found = [(f, f.params[i]) for f in self.callees(callee, len(arguments))]
                if found and all(self._is_kept(f, p, around) for f, p in found):
                    yield argument == Name(name)

    def _is_kept(self, callee: Function, param: Param, around: _Around) -> bool:
        """Returns whether `callee` sets nothing of the struct that it is handed."""
        type_ = self.types.of(param, callee)
        is_copy = not type_.pointers and (not type_.reference or type_.const)
        return (is_copy and self.types.defines(type_, callee.scope)) or self.only_follows(callee, param.name, around)


def dereferenced(body: Body, names: Sequence[str]) -> Body:
    """Returns `body` with structs for pointers to them: `p.n` for `p->n` and `(*p).n`, `p` for `*p`."""
    words = [word.text for word in body.words]
    for name in names:
        for i in _places(body.words, name):
            if _is_followed(body.words, i):
                words[i + 1] = "."
            elif _is_starred(body.words, i):
                words[i - 1] = ""
                if _is_in_parentheses(body.words, i):
                    words[i - 2] = words[i + 1] = ""
    return Body(" ".join(filter(None, words)))


def _places(words: Sequence[Token], name: str) -> list[int]:
    return [i for i, w in enumerate(words) if w.text == name and not (i and words[i - 1].text in _MEMBERS)]


def _is_bare(words: Sequence[Token], place: int) -> bool:
    return not _is_followed(words, place) and not _is_starred(words, place)


def _is_followed(words: Sequence[Token], place: int) -> bool:
    return place + 1 < len(words) and words[place + 1].text == "->"


def _is_starred(words: Sequence[Token], place: int) -> bool:
    """Returns whether the word at `place` is all that `*` is applied to, not a factor or an element."""
    if place < 2 or words[place - 1].text != "*" or words[place - 2].text not in _BEFORE_OPERANDS:
        return False
    return place + 1 >= len(words) or words[place + 1].text not in ("[", "++", "--", "(", ".")


def _is_in_parentheses(words: Sequence[Token], place: int) -> bool:
    """Returns whether `*p` at `place` stands in parentheses of its own with a member behind: `(*p).n`, not `f(*p)`."""
    outside = words[place - 3].text if place > 2 else ""
    is_call = outside[:1].isalnum() or outside[:1] == "_" or outside in (">", ">>>", ")", "]")
    return words[place - 2].text == "(" and [w.text for w in words[place + 1 : place + 3]] == [")", "."] and not is_call


def _copied(body: Body, name: str) -> int:
    """Returns how often `body` makes a variable of the struct `name` that is a copy of it: `T q = p;`."""
    words = [word.text for word in body.words]
    found = (words[i - 3 : i + 2] for i in _places(body.words, name) if i > 2)
    return sum(
        len(around) == 5 and around[0].isidentifier() and around[1].isidentifier() and around[2::2] == ["=", ";"]
        for around in found
    )
