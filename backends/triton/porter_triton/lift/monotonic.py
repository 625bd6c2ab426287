"""Loops of a few turns that end where an index has reached a bound: then no later turn has anything to do either.

`for (int k = 0; k < 4; ++k) { if (base + k >= n) return; ... }` as `continue`: threads do not leave the loop, so that
its turns can be done together. The index must grow with the counter, nothing else in the comparison may change, what
stands before it may only compute, and nothing may come after a loop that is left by `return`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from porter.syntax.nodes import (
    Binary,
    Block,
    Break,
    Cast,
    Continue,
    Declare,
    Expression,
    For,
    If,
    Literal,
    Member,
    Name,
    Return,
    TypeName,
    Unary,
    Update,
    Variable,
)
from porter.syntax.walk import walk
from porter_triton.lift.facts import Facts
from porter_triton.lift.trees import bare, is_name, number
from porter_triton.lower.assigned import assigned_names

_MOST_TURNS = 64
# An index of these does not wrap around before memory ends.
_WHOLE = frozenset({"int", "long", "long long", "int64_t", "int32_t", "size_t", "unsigned long", "unsigned long long",
                    "uint64_t", "std::size_t", "ptrdiff_t", "std::int64_t"})  # fmt: skip


def going_on(facts: Facts, block: Block, at: int) -> tuple[int, Block] | None:
    """The block whose loop at `at` goes on where it was left; None where it is not such a loop."""
    loop = block.statements[at]
    last = block is facts.function.body and at == len(block.statements) - 1
    if not isinstance(loop, For) or (body := _going_on(facts, loop, last=last)) is None:
        return None
    new = replace(loop, body=body)
    return 1, replace(block, statements=(*block.statements[:at], new, *block.statements[at + 1 :]))


def ends_for_good(facts: Facts, loop: For) -> bool:
    """Returns whether no turn has anything to do behind the one in which the loop is left."""
    return _going_on(facts, loop, last=False) is not None


def _going_on(facts: Facts, loop: For, *, last: bool) -> Block | None:
    """The body, with `continue` where the loop was left; what stands before that only computes."""
    turns = few_turns(facts, loop)
    if turns is None:
        return None
    sums = _Sums(facts, assigned_names(facts.unit, loop.body), turns[0], {})
    for index, statement in enumerate(loop.body.statements):
        if isinstance(statement, If) and statement.no is None and _leaves(statement.yes, last=last):
            if not sums.stay_true(bare(statement.condition)):
                return None
            new = replace(statement, yes=Block((Continue(statement.line),), statement.line))
            statements = loop.body.statements
            return replace(loop.body, statements=(*statements[:index], new, *statements[index + 1 :]))
        if not isinstance(statement, Declare) or not all(computes(v.value) for v in statement.variables):
            return None
        sums.turn.update({v.name: v for v in statement.variables})
    return None


def few_turns(facts: Facts, loop: For) -> tuple[str, range] | None:
    """The counter of a loop with few turns, whose body leaves it alone, and its values; None for any other loop."""
    test, step = loop.condition, loop.step
    start = loop.start[0] if len(loop.start) == 1 else None
    if not isinstance(start, Declare) or len(start.variables) != 1 or not _whole(start.variables[0].type):
        return None
    name, begin = start.variables[0].name, number(start.variables[0].value)
    if begin is None or not isinstance(test, Binary) or test.operator != "<" or not is_name(test.left, name):
        return None
    end = facts.value(test.right)
    if end is None or not 0 < end - begin <= _MOST_TURNS or name in assigned_names(facts.unit, loop.body):
        return None
    plain = isinstance(step, Update) and step.operator == "++" and is_name(step.operand, name)
    return (name, range(begin, end)) if plain else None


def _leaves(block: Block, *, last: bool) -> bool:
    (only,) = block.statements if len(block.statements) == 1 else (None,)
    return isinstance(only, Break) or (last and isinstance(only, Return) and only.value is None)


def computes(node: Expression | None) -> bool:
    """Returns whether an expression reads nothing but names, so that any turn may evaluate it."""
    return all(isinstance(n, Binary | Cast | Literal | Member | Name | TypeName) for n in walk(node))


def _whole(type_: TypeName) -> bool:
    return type_.name in _WHOLE and not type_.pointers and not type_.reference


@dataclass(frozen=True, slots=True)
class _Sums:
    """What grows with `counter` in a body that changes the names `changed` and declares `turn` in each turn."""

    facts: Facts
    changed: frozenset[str]
    counter: str
    turn: dict[str, Variable]

    def stay_true(self, condition: Expression) -> bool:
        """Returns whether a comparison that holds in one turn holds in all later ones."""
        negated = isinstance(condition, Unary) and condition.operator == "!"
        compared = bare(condition.operand) if isinstance(condition, Unary) and negated else condition
        if not isinstance(compared, Binary) or compared.operator not in {">", ">=", "<", "<="}:
            return False
        larger, smaller = compared.left, compared.right
        if (compared.operator[0] == "<") != negated:
            larger, smaller = smaller, larger
        return self._grows(larger) and self._stays(smaller)

    def _grows(self, node: Expression | None) -> bool:
        """Returns whether a sum has the counter in it, and all else in it stays; none of it wraps around."""
        match node:
            case Name(name=name) if name in self.turn:
                known = self.turn[name]
                return name not in self.changed and _whole(known.type) and self._grows(bare(known.value))
            case Name(name=name):
                return name == self.counter
            case Binary(operator="+", left=left, right=right):
                return any(
                    self._grows(a) and self._stays(b) and self._is_whole(b) for a, b in ((left, right), (right, left))
                )
            case Binary(operator="*", left=left, right=right):
                return any(self._grows(a) and (self.facts.value(b) or 0) > 0 for a, b in ((left, right), (right, left)))
        return False

    def _stays(self, node: Expression) -> bool:
        names = {n.name for n in walk(node) if isinstance(n, Name)}
        return computes(node) and names.isdisjoint(self.changed | self.turn.keys() | {self.counter})

    def _is_whole(self, node: Expression) -> bool:
        """Returns whether a number is of a type that its sums do not wrap around in."""
        match node:
            case Cast(type=TypeName() as type_):
                return _whole(type_)
            case Literal():
                return number(node) is not None
            case Name(name=name):
                declared = [v.type for n in walk(self.facts.function.body) if isinstance(n, Declare)
                            for v in n.variables if v.name == name]  # fmt: skip
                declared += [p.type for p in self.facts.function.parameters if p.name == name]
                return bool(declared) and all(_whole(type_) for type_ in declared)
            case Binary(operator="+" | "-" | "*", left=left, right=right):
                return self._is_whole(left) and self._is_whole(right)
        return False
