"""Reads what one function body says: definitions, conditions, calls. Statement order and scopes are not modelled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from porter.contract.model.expressions import children
from porter.contract.model.parser import parse
from porter.contract.model.syntax import (
    Binary,
    Braces,
    Call,
    Cast,
    Choice,
    ExpressionError,
    Member,
    Name,
    Node,
    Number,
    Subscript,
    Text,
    Unary,
)
from porter.source.arithmetic_types import arithmetic
from porter.source.lexer import Token, TokenKind, match_bracket, significant, split_arguments, tokens

COMPARISONS = frozenset(("<", "<=", ">", ">=", "==", "!="))
_STATEMENTS = frozenset(("if", "while", "for", "switch"))  # with parentheses behind them, and no functions
_LEAVING = frozenset(("return", "continue", "break"))
ASSERTIONS = frozenset(("assert", "CUDA_KERNEL_ASSERT", "CUDA_KERNEL_ASSERT_MSG"))
_MAX_DEPTH = 12
_MAX_NODES = 400


@dataclass(frozen=True)
class Body:
    """A function body as written after preprocessing."""

    text: str

    @cached_property
    def words(self) -> list[Token]:
        """The tokens of the body without blanks, comments and preprocessor lines."""
        return [t for t in significant(tokens(self.text)) if t.kind is not TokenKind.DIRECTIVE]

    @cached_property
    def definitions(self) -> Mapping[str, tuple[Node, ...]]:
        """Every expression assigned to each name by `=`, a constructor or braces, in order."""
        found: dict[str, list[Node]] = {}
        for _, name, node in self.assignments:
            found.setdefault(name, []).append(node)
        return {name: tuple(nodes) for name, nodes in found.items()}

    def latest(self, name: str, place: int) -> Node | None:
        """Returns what was last assigned to `name` before the word at `place`."""
        return next((n for i, other, n in reversed(self.assignments) if other == name and i < place), None)

    @cached_property
    def assignments(self) -> tuple[tuple[int, str, Node], ...]:
        """Every assignment to a name: the place of the name among the words, the name, and the assigned expression."""
        return tuple(self._assigned())

    @cached_property
    def sums(self) -> Mapping[str, tuple[Node, ...]]:
        """Every expression that is added to each name, or subtracted from it: `sum += x`."""
        found: dict[str, list[Node]] = {}
        words = self.words
        for i, word in enumerate(words[:-1]):
            is_sum = word.kind is TokenKind.IDENTIFIER and words[i + 1].text in ("+=", "-=")
            if is_sum and (node := parsed(words[i + 2 : statement_end(words, i + 2)])) is not None:
                found.setdefault(word.text, []).append(node)
        return {name: tuple(nodes) for name, nodes in found.items()}

    def _assigned(self) -> Iterator[tuple[int, str, Node]]:
        words = self.words
        for i in range(1, len(words) - 1):
            word, after = words[i], words[i + 1].text
            if word.kind is not TokenKind.IDENTIFIER or words[i - 1].text in (".", "->", "::"):
                continue
            if after == "=":
                node = parsed(words[i + 2 : statement_end(words, i + 2)])
            elif after in ("(", "{") and _declares(words[i - 1].text):
                arguments = [parsed(a) for a in split_arguments(words, i + 1)]
                if any(a is None for a in arguments):
                    continue
                given = tuple(a for a in arguments if a is not None)
                node = Call(Name("dim3"), given) if words[i - 1].text == "dim3" else given[0] if given else None
            else:
                continue
            if node is not None:
                yield i, word.text, node

    @cached_property
    def stores(self) -> Mapping[str, tuple[Node, ...]]:
        """Every expression that `=` assigns to elements of each name, `shared[i] = x`."""
        found: dict[str, list[Node]] = {}
        words = self.words
        for i, word in enumerate(words[:-1]):
            if word.kind is not TokenKind.IDENTIFIER or words[i + 1].text != "[":
                continue
            end = subscripts_end(words, i + 1)
            if end is None or end + 1 >= len(words) or words[end + 1].text != "=":
                continue
            if (node := parsed(words[end + 2 : statement_end(words, end + 2)])) is not None:
                found.setdefault(word.text, []).append(node)
        return {name: tuple(nodes) for name, nodes in found.items()}

    @cached_property
    def left_at(self) -> tuple[Node, ...]:
        """The conditions of `if` at which code leaves the function, the loop or the turn: `if (i < 0) continue;`."""
        words, found = self.words, list[Node]()
        for i, word in enumerate(words[:-1]):
            close = match_bracket(words, i + 1) if word.text == "if" and words[i + 1].text == "(" else None
            if close is None:
                continue
            first = next((w.text for w in words[close + 1 : close + 3] if w.text != "{"), "")
            if first in _LEAVING and (node := parsed(words[i + 2 : close])) is not None:
                found.append(node)
        return tuple(found)

    @cached_property
    def conditions(self) -> tuple[Node, ...]:
        """The conditions of `if`, `while`, `for` and `?:`."""
        found: list[Node] = []
        words = self.words
        for i, word in enumerate(words[:-1]):
            if word.text in ("if", "while", "for") and words[i + 1].text == "(":
                close = match_bracket(words, i + 1)
                inner = words[i + 2 : close]
                node = parsed(_middle(inner) if word.text == "for" else inner)
            elif word.text == "?":
                start = _statement_start(words, i)
                node = parsed(words[start : statement_end(words, start)])
            else:
                continue
            if node is not None:
                found.append(node)
        return tuple(found)

    @cached_property
    def asserted(self) -> tuple[Node, ...]:
        """The conditions that assertions state, in host code and in kernels."""
        stated = (arguments for name, arguments in self.calls if name in ASSERTIONS)
        return tuple(arguments[0] for arguments in stated if arguments and arguments[0] is not None)

    @cached_property
    def calls(self) -> tuple[tuple[str, tuple[Node | None, ...]], ...]:
        """Every `name(arguments)` and `name<...>(arguments)`, launches included; None if it is not an expression."""
        return tuple((name, arguments) for _, name, arguments in self.sites)

    @cached_property
    def sites(self) -> tuple[tuple[int, str, tuple[Node | None, ...]], ...]:
        """The calls with the places of their names among the words."""
        return tuple((i, name, tuple(parsed(a) for a in arguments)) for i, name, arguments in self._calls())

    def _calls(self) -> Iterator[tuple[int, str, list[list[Token]]]]:
        words = self.words
        for i, word in enumerate(words[:-1]):
            if word.kind is not TokenKind.IDENTIFIER or word.text in _STATEMENTS:
                continue
            opening = i + 1
            if words[opening].text == "<" and (close := match_bracket(words, opening)) is not None:
                opening = close + 1
            if opening < len(words) and words[opening].kind is TokenKind.LAUNCH_OPEN:
                launch_close = match_bracket(words, opening)
                opening = len(words) if launch_close is None else launch_close + 1
            if opening < len(words) and words[opening].text == "(":
                yield i, word.text, split_arguments(words, opening)

    @cached_property
    def launches(self) -> bool:
        """Returns whether a kernel launch stands in it."""
        return any(t.kind is TokenKind.LAUNCH_OPEN for t in self.words)

    @cached_property
    def names(self) -> frozenset[str]:
        """Every identifier in it."""
        return frozenset(t.text for t in self.words if t.kind is TokenKind.IDENTIFIER)


def written(words: Sequence[Token]) -> str:
    """Returns tokens as text, with one blank between neighbours that need it."""
    parts: list[str] = []
    for word in words:
        if parts and parts[-1][-1:].isalnum() and word.text[:1].isalnum():
            parts.append(" ")
        parts.append(word.text)
    return "".join(parts)


def parsed(words: Sequence[Token]) -> Node | None:
    """Returns the expression in `words`; None when the grammar has no such expression."""
    return quietly(" ".join(w.text for w in words))


def quietly(text: str) -> Node | None:
    """Returns the tree of `text`; None when the grammar has no such expression."""
    try:
        return parse(text)
    except ExpressionError:
        return None


def clauses(node: Node) -> tuple[Node, ...]:
    """Returns the parts of a conjunction."""
    if isinstance(node, Binary) and node.operator == "&&":
        return (*clauses(node.left), *clauses(node.right))
    return (node,)


def negated(node: Node) -> Node:
    """Returns the opposite of a condition."""
    opposite = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
    match node:
        case Binary("||", left, right):
            return Binary("&&", negated(left), negated(right))
        case Binary("&&", left, right):
            return Binary("||", negated(left), negated(right))
        case Binary(operator, left, right) if operator in opposite:
            return Binary(opposite[operator], left, right)
        case Unary("!", operand):
            return operand
        case _:
            return Unary("!", node)


def comparisons(node: Node) -> Iterator[Binary]:
    """Yields every comparison within `node`."""
    if isinstance(node, Binary) and node.operator in COMPARISONS:
        yield node
    for child in children(node):
        yield from comparisons(child)


def truths(node: Node) -> Iterator[Node]:
    """Yields the parts of a condition that are true or false: `flag` and `i == j` of `flag && !(i == j)`."""
    match node:
        case Binary("&&" | "||", left, right):
            yield from (*truths(left), *truths(right))
        case Unary("!", operand):
            yield from truths(operand)
        case _:
            yield node


def walk(node: Node) -> Iterator[Node]:
    """Yields `node` and all nodes below it."""
    yield node
    for child in children(node):
        yield from walk(child)


def rebuild(node: Node, parts: Sequence[Node]) -> Node:
    """Returns `node` with `parts` in place of its `children`."""
    match node:
        case Unary(operator, _):
            return Unary(operator, parts[0])
        case Cast(type_, _):
            return Cast(type_, parts[0])
        case Member(_, name, template):
            return Member(parts[0], name, template)
        case Binary(operator, _, _):
            return Binary(operator, parts[0], parts[1])
        case Choice():
            return Choice(parts[0], parts[1], parts[2])
        case Subscript():
            return Subscript(parts[0], parts[1])
        case Call(callee, _):
            return Call(callee, tuple(parts)) if isinstance(callee, Name) else Call(parts[0], tuple(parts[1:]))
        case Braces():
            return Braces(tuple(parts))
        case Number() | Text() | Name():
            return node


def substitute(node: Node, values: Mapping[str, Node], depth: int = _MAX_DEPTH) -> Node:
    """Replaces names in `node` by `values`, and names in those again; leaves what would grow too large."""
    if isinstance(node, Name) and node.name in values and depth > 0:
        inner = {k: v for k, v in values.items() if k != node.name}
        replaced = substitute(values[node.name], inner, depth - 1)
        return replaced if sum(1 for _ in walk(replaced)) <= _MAX_NODES else node
    return rebuild(node, [substitute(child, values, depth) for child in children(node)])


def _declares(word: str) -> bool:
    """Returns whether `word` is a type of which a variable may be declared by a call: `int n(x.size(0))`."""
    number = arithmetic(word)
    return word in ("dim3", "auto") or (number is not None and number.is_integer)


def subscripts_end(words: Sequence[Token], opening: int) -> int | None:
    """Returns the end of the last of the subscripts that follow one another from `opening` on: `x[i][j]`."""
    end = match_bracket(words, opening)
    while end is not None and end + 1 < len(words) and words[end + 1].text == "[":
        end = match_bracket(words, end + 1)
    return end


def statement_end(words: Sequence[Token], start: int) -> int:
    """Returns the index of the `;`, `,` or closing bracket that ends the expression at `start`."""
    i = start
    while i < len(words):
        text = words[i].text
        if text in (";", ",", ")", "]", "}"):
            return i
        close = match_bracket(words, i) if text in ("(", "[", "{") else None
        if text == "<" and i > start and words[i - 1].kind is TokenKind.IDENTIFIER:
            angle = match_bracket(words, i)
            close = angle if angle is not None and angle + 1 < len(words) and words[angle + 1].text == "(" else None
        i = i + 1 if close is None else close + 1
    return len(words)


def _statement_start(words: Sequence[Token], index: int) -> int:
    depth = 0
    for i in range(index - 1, -1, -1):
        text = words[i].text
        if text in (")", "]"):
            depth += 1
        elif text in ("(", "["):
            if depth == 0:
                return i + 1
            depth -= 1
        elif depth == 0 and text in (";", "=", ",", "{", "}", "return"):
            return i + 1
    return 0


def _middle(words: Sequence[Token]) -> list[Token]:
    """Returns the condition of a `for` head."""
    stops = [i for i, w in enumerate(words) if w.text == ";"]
    return list(words[stops[0] + 1 : stops[1]]) if len(stops) > 1 else []
