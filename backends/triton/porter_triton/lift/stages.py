"""Two-stage block reductions: each warp reduces, its first lane stores, the first warp reduces what was stored."""

from __future__ import annotations

from dataclasses import dataclass

from porter.syntax.nodes import (
    Assign,
    Binary,
    Block,
    Call,
    Cast,
    Choice,
    Declare,
    Evaluate,
    Expression,
    If,
    Literal,
    Name,
    Statement,
    Subscript,
    Unary,
)
from porter_triton.lift.facts import WARP, Facts
from porter_triton.lift.only import only_read_by
from porter_triton.lift.trees import bare, called, flat, intrinsic, is_barrier, is_name, number, walk
from porter_triton.lift.warps import Reduction, reduction

_INFINITE = frozenset({"INFINITY", "CUDART_INF_F", "CUDART_INF", "HUGE_VALF", "HUGE_VAL"})


@dataclass(frozen=True, slots=True)
class _Second:
    """The second stage: the statements it takes, what comes after it under its `if`, and who has the result."""

    count: int
    last: Statement
    under: If | None
    rest: tuple[Statement, ...]
    everywhere: bool
    neutral: Expression


def two_stages(facts: Facts, block: Block, at: int) -> tuple[int, Block] | None:
    """The reduction that begins at the statement `at`: how many statements it takes, and the block with one instead."""
    if facts.threads is None or facts.threads % WARP:
        return None
    first = reduction(facts, block.statements[at])
    stored = _stored(facts, block, at + 1, first) if first is not None else None
    if first is None or stored is None:
        return None
    array, position = stored
    second = _second(facts, block, position, first, array)
    if second is None or _used_elsewhere(facts, block.statements[at : position + second.count], array):
        return None
    if not second.everywhere and not only_read_by(facts, second.last, first.target, facts.is_thread):
        return None
    line = block.statements[at].line
    target = Name(first.target, line=line)
    value = _value(facts, first, second.neutral, line)
    beginning = block.statements[at]
    new: Statement
    if isinstance(beginning, Declare):
        variable = beginning.variables[0]
        new = Declare((type(variable)(variable.name, variable.type, value=value, line=line),), line)
    else:
        new = Evaluate(Assign("", target, value, line), line)
    more = (
        (If(second.under.condition, Block(second.rest, line), None, line=line),) if second.under and second.rest else ()
    )
    count = position + second.count - at
    statements = (*block.statements[:at], new, *more, *block.statements[at + count :])
    return count, Block(statements, block.line)


def _stored(facts: Facts, block: Block, at: int, first: Reduction) -> tuple[str, int] | None:
    """`if (lane == 0) a[warp] = v; __syncthreads();`: the array, and where the statements after that begin."""
    at = _past_barriers(block, at)
    statement = block.statements[at] if at < len(block.statements) else None
    if not isinstance(statement, If) or statement.no is not None or not _is_zero(facts, statement.condition):
        return None
    inner = flat(statement.yes)
    if len(inner) != 1 or not isinstance(inner[0], Evaluate) or not isinstance(inner[0].expression, Assign):
        return None
    made = bare(inner[0].expression)
    target = made.target
    if made.operator or not isinstance(target, Subscript) or not isinstance(target.owner, Name):
        return None
    if not facts.is_warp(target.index) or not is_name(made.value, first.target):
        return None
    after = _past_barriers(block, at + 1)
    waits = any(called(s) == "__syncthreads" for s in block.statements[at + 1 : after])
    return (target.owner.name, after) if waits else None


def _second(facts: Facts, block: Block, at: int, first: Reduction, array: str) -> _Second | None:
    """`v = t < warps ? a[lane] : neutral; if (warp == 0) v = reduce(v);`, or both under the `if`."""
    rest = block.statements[at:]
    if not rest:
        return None
    under = rest[0] if isinstance(rest[0], If) and _first_warp(facts, rest[0]) else None
    inner = under.yes.statements if under is not None else rest
    if len(inner) < 2 or not _loaded(facts, inner[0], first, array):
        return None
    reduce, guarded = inner[1], under is not None
    if isinstance(reduce, If) and _first_warp(facts, reduce) and len(flat(reduce.yes)) == 1:
        reduce, guarded = flat(reduce.yes)[0], True
    again = reduction(facts, reduce)
    same = again is not None and (again.operation, again.target) == (first.operation, first.target)
    if again is None or not same or not is_name(again.value, first.target):
        return None
    choice = _choice(inner[0])
    assert choice is not None
    assert isinstance(choice.condition, Binary)
    if under is not None:
        # What reads the result under the `if` must be the first thread; `two_stages` asks about what follows it.
        certain = only_read_by(facts, reduce, first.target, facts.is_thread)
        return _Second(1, under, under, inner[2:], everywhere=False, neutral=choice.no) if certain else None
    everywhere = again.everywhere and not guarded and facts.is_lane(choice.condition.left)
    return _Second(2, inner[1], None, (), everywhere, choice.no)


def _choice(statement: Statement) -> Choice | None:
    """The value of `v = c ? a : b`, without lines."""
    if not isinstance(statement, Evaluate) or not isinstance(statement.expression, Assign):
        return None
    value = bare(statement.expression).value
    return value if isinstance(value, Choice) else None


def _value(facts: Facts, first: Reduction, neutral: Expression, line: int) -> Expression:
    """The reduction over the block, and over what the lanes without a warp contributed, if there were any."""
    value = intrinsic(f"block_{first.operation}", first.value, line=line)
    assert facts.threads is not None
    if first.operation not in {"max", "min"} or facts.threads == WARP * WARP or _is_infinite(first.operation, neutral):
        return value
    return Call(Name(first.operation, line=line), (value, neutral), line)


def _loaded(facts: Facts, statement: Statement, first: Reduction, array: str) -> bool:
    """`v = t < warps ? a[lane] : neutral`; the neutral value is what the operation ignores."""
    if not isinstance(statement, Evaluate) or not isinstance(statement.expression, Assign):
        return False
    made, value = bare(statement.expression), _choice(statement)
    if made.operator or not is_name(made.target, first.target) or value is None:
        return False
    condition, yes = value.condition, value.yes
    if not isinstance(condition, Binary) or condition.operator != "<" or not _counts(facts, condition):
        return False
    from_lane = isinstance(yes, Subscript) and is_name(yes.owner, array)
    if not from_lane or not isinstance(yes, Subscript) or not (facts.is_lane(yes.index) or facts.is_thread(yes.index)):
        return False
    return _neutral(facts, first.operation, value.no)


def _counts(facts: Facts, condition: Binary) -> bool:
    """Whether `t < n` or `lane < n` with n the number of warps."""
    assert facts.threads is not None
    right = condition.right.operand if isinstance(condition.right, Cast) else condition.right
    number_of_warps = facts.value(right) == facts.threads // WARP
    return number_of_warps and (facts.is_thread(condition.left) or facts.is_lane(condition.left))


def _neutral(facts: Facts, operation: str, value: Expression) -> bool:
    """Whether a value changes nothing, or for a maximum or minimum may be taken along."""
    while isinstance(value, Cast):
        value = value.operand
    if operation in {"sum", "or", "xor"}:
        return isinstance(value, Literal) and value.value == 0
    if operation == "product":
        return isinstance(value, Literal) and value.value == 1
    return operation in {"max", "min"} and facts.is_uniform(value)


def _is_infinite(operation: str, value: Expression) -> bool:
    while isinstance(value, Cast):
        value = value.operand
    if operation == "max":
        if not isinstance(value, Unary) or value.operator != "-":
            return False
        value = value.operand
    return isinstance(value, Name) and value.name in _INFINITE


def _is_zero(facts: Facts, condition: Expression) -> bool:
    """`lane == 0`."""
    made = bare(condition)
    if isinstance(made, Unary) and made.operator == "!":
        return facts.is_lane(made.operand)
    return isinstance(made, Binary) and made.operator == "==" and number(made.right) == 0 and facts.is_lane(made.left)


def _first_warp(facts: Facts, statement: If) -> bool:
    """`if (warp == 0)` or `if (t < 32)`, without `else`."""
    made = bare(statement.condition)
    if statement.no is not None:
        return False
    if isinstance(made, Unary) and made.operator == "!":
        return facts.is_warp(made.operand)
    if not isinstance(made, Binary):
        return False
    if made.operator == "<" and facts.is_thread(made.left):
        return facts.value(made.right) == WARP
    return made.operator == "==" and number(made.right) == 0 and facts.is_warp(made.left)


def _past_barriers(block: Block, at: int) -> int:
    while at < len(block.statements) and is_barrier(block.statements[at]):
        at += 1
    return at


def _used_elsewhere(facts: Facts, taken: tuple[Statement, ...], array: str) -> bool:
    """Whether anything but the statements taken reads or writes the array."""
    inside = sum(isinstance(n, Name) and n.name == array for n in walk(taken))
    return inside != sum(isinstance(n, Name) and n.name == array for n in walk(facts.function.body))
