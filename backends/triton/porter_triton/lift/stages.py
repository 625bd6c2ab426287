"""Two-stage block reductions: each warp reduces, its first lane stores, the first warp reduces what was stored."""

from __future__ import annotations

from dataclasses import dataclass, replace

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
    TypeName,
    Unary,
    Variable,
)
from porter_triton.lift.after import readers, writes
from porter_triton.lift.facts import WARP, Facts
from porter_triton.lift.only import only_read_by
from porter_triton.lift.trees import bare, called, flat, intrinsic, is_barrier, is_name, mentions, number, walk
from porter_triton.lift.warps import Reduction, reduction

_INFINITE = frozenset({"INFINITY", "CUDART_INF_F", "CUDART_INF", "HUGE_VALF", "HUGE_VAL"})


@dataclass(frozen=True, slots=True)
class _Second:
    """One value in the second stage: where it was stored, the variable it is loaded to, and what idle lanes load."""

    array: str
    result: str
    declared: TypeName | None
    neutral: Expression
    everywhere: bool
    reduced: bool = False


@dataclass(frozen=True, slots=True)
class _Stage:
    """The second stage of all values. `count` statements of the block are taken, `last` is the last one that reduces.

    `rest` follows in the same `if (warp == 0)`, which is `under`.
    """

    values: dict[str, _Second]
    count: int
    last: Statement
    under: If | None = None
    rest: tuple[Statement, ...] = ()


def two_stages(facts: Facts, block: Block, at: int) -> tuple[int, Block] | None:
    """The reductions that begin at the statement `at`: how many statements they take, and the block with words."""
    if facts.threads is None or facts.threads % WARP:
        return None
    firsts = _firsts(facts, block.statements[at:])
    position = _past_barriers(block, at + len(firsts))
    arrays = _stored(facts, block.statements[position:], firsts) if firsts else None
    if arrays is None:
        return None
    begin = _past_barriers(block, position + 1)
    if not any(called(s) == "__syncthreads" for s in block.statements[position + 1 : begin]):
        return None
    stage = _second(facts, block.statements[begin:], firsts, arrays)
    if stage is None or not _certain(facts, block.statements[at : begin + stage.count], stage, firsts):
        return None
    line, count = block.statements[at].line, begin + stage.count - at
    new = tuple(_written(facts, first, stage.values[first.target], block.statements[at + n], line)
                for n, first in enumerate(firsts))  # fmt: skip
    if stage.under is not None and stage.rest:
        new = (*new, If(stage.under.condition, Block(stage.rest, line), None, line=line))
    return count, Block((*block.statements[:at], *new, *block.statements[at + count :]), block.line)


def _firsts(facts: Facts, statements: tuple[Statement, ...]) -> tuple[Reduction, ...]:
    """The reductions over warps that stand one after the other, of different variables."""
    found: list[Reduction] = []
    for statement in statements:
        first = reduction(facts, statement)
        if first is None or first.target in {f.target for f in found}:
            break
        found.append(first)
    return tuple(found)


def _stored(facts: Facts, statements: tuple[Statement, ...], firsts: tuple[Reduction, ...]) -> dict[str, str] | None:
    """`if (lane == 0) { a[warp] = v; b[warp] = w; }`: the array of each variable."""
    statement = statements[0] if statements else None
    if not isinstance(statement, If) or statement.no is not None or not _is_zero(facts, statement.condition):
        return None
    arrays: dict[str, str] = {}
    for inner in flat(statement.yes):
        if not isinstance(inner, Evaluate) or not isinstance(inner.expression, Assign):
            return None
        made = bare(inner.expression)
        target = made.target
        if made.operator or not isinstance(target, Subscript) or not isinstance(target.owner, Name):
            return None
        if not facts.is_warp(target.index) or not isinstance(made.value, Name):
            return None
        arrays[made.value.name] = target.owner.name
    whole = arrays.keys() == {f.target for f in firsts} and len(set(arrays.values())) == len(firsts)
    return arrays if whole else None


def _second(
    facts: Facts, rest: tuple[Statement, ...], firsts: tuple[Reduction, ...], arrays: dict[str, str]
) -> _Stage | None:
    """`v = t < warps ? a[lane] : neutral; if (warp == 0) v = reduce(v);` for each value, or both under the `if`."""
    under = rest[0] if rest and isinstance(rest[0], If) and _first_warp(facts, rest[0]) else None
    inner = under.yes.statements if under is not None else rest
    loaded: dict[str, _Second] = {}
    for count, statement in enumerate(inner, start=1):
        found = _loaded(facts, statement, firsts, arrays)
        if found is not None:
            loaded[found[0]] = found[1]
        elif not is_barrier(statement) and not _reduce(facts, statement, firsts, loaded, under is not None):
            return None
        if len(loaded) == len(firsts) and all(value.reduced for value in loaded.values()):
            if under is not None:
                return _Stage(loaded, 1, statement, under, inner[count:])
            return _Stage(loaded, count, statement)
    return None


def _reduce(
    facts: Facts, node: Statement, firsts: tuple[Reduction, ...], loaded: dict[str, _Second], guarded: bool
) -> bool:
    """Mark loaded values that a statement reduces as the first stage did; whether it does nothing else."""
    first_warp = isinstance(node, If) and _first_warp(facts, node)
    for statement in flat(node.yes) if isinstance(node, If) and first_warp else (node,):
        again = reduction(facts, statement)
        first = next(
            (f for f in firsts if again and f.target in loaded and loaded[f.target].result == again.target), None
        )
        if again is None or first is None or again.operation != first.operation or loaded[first.target].reduced:
            return False
        if not is_name(again.value, again.target):
            return False
        held = loaded[first.target]
        everywhere = held.everywhere and again.everywhere and not guarded and not first_warp
        loaded[first.target] = replace(held, everywhere=everywhere, reduced=True)
    return True


def _certain(facts: Facts, taken: tuple[Statement, ...], stage: _Stage, firsts: tuple[Reduction, ...]) -> bool:
    """Whether nobody misses what is not there any more: partial results in the arrays and in other threads."""
    for first in firsts:
        value = stage.values[first.target]
        if _used_elsewhere(facts, taken, value.array, stage):
            return False
        if value.result != first.target and _read_after(facts, stage, first.target):
            return False
        ends = [stage.last, stage.under] if stage.under is not None else [stage.last]
        if not value.everywhere and not all(
            only_read_by(facts, end, value.result, facts.is_thread) for end in ends if end is not None
        ):
            return False
    return True


def _read_after(facts: Facts, stage: _Stage, name: str) -> bool:
    later = readers(facts.function.body, stage.last, lambda s: writes(s, name))
    return any(mentions(r.node, name) for r in later)


def _written(facts: Facts, first: Reduction, second: _Second, beginning: Statement, line: int) -> Statement:
    """`v = reduction over the block`."""
    value = _value(facts, first, second.neutral, line)
    if second.declared is not None:
        return Declare((Variable(second.result, second.declared, value=value, line=line),), line)
    if isinstance(beginning, Declare):
        return Declare((replace(beginning.variables[0], value=value),), line)
    return Evaluate(Assign("", Name(second.result, line=line), value, line), line)


def _value(facts: Facts, first: Reduction, neutral: Expression, line: int) -> Expression:
    """The reduction over the block, and over what the lanes without a warp contributed, if there were any."""
    value = intrinsic(f"block_{first.operation}", first.value, line=line)
    assert facts.threads is not None
    if first.operation not in {"max", "min"} or facts.threads == WARP * WARP or _is_infinite(first.operation, neutral):
        return value
    return Call(Name(first.operation, line=line), (value, neutral), line)


def _loaded(
    facts: Facts, statement: Statement, firsts: tuple[Reduction, ...], arrays: dict[str, str]
) -> tuple[str, _Second] | None:
    """`v = t < warps ? a[lane] : neutral` or `T w = ...`: the variable of the first stage, and what is known."""
    declared = statement.variables[0] if isinstance(statement, Declare) and len(statement.variables) == 1 else None
    if declared is not None:
        name, value = declared.name, bare(declared.value)
    elif isinstance(statement, Evaluate) and isinstance(statement.expression, Assign):
        made = bare(statement.expression)
        name, value = (made.target.name if isinstance(made.target, Name) and not made.operator else ""), made.value
    else:
        return None
    if not name or not isinstance(value, Choice) or not isinstance(value.yes, Subscript):
        return None
    condition, read = value.condition, value.yes
    first = next((f for f in firsts if is_name(read.owner, arrays[f.target])), None)
    if first is None or not (facts.is_lane(read.index) or facts.is_thread(read.index)):
        return None
    if not isinstance(condition, Binary) or condition.operator != "<" or not _counts(facts, condition):
        return None
    if declared is None and name != first.target:
        return None
    if not _neutral(facts, first.operation, value.no):
        return None
    type_ = None if declared is None else declared.type
    return first.target, _Second(arrays[first.target], name, type_, value.no, facts.is_lane(condition.left))


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


def _used_elsewhere(facts: Facts, taken: tuple[Statement, ...], array: str, stage: _Stage) -> bool:
    """Whether the array has another use than to hand its element 0, written anew, to everyone."""
    body = facts.function.body
    count = sum(isinstance(n, Name) and n.name == array for n in walk(taken))
    in_rest = sum(isinstance(n, Name) and n.name == array for n in walk(stage.rest))
    if count - in_rest == sum(isinstance(n, Name) and n.name == array for n in walk(body)):
        return False
    later = [r.node for r in readers(body, stage.last, lambda _: False) if mentions(r.node, array)]
    return not later or not _is_first(later[0], array, written=True) or not all(_is_first(n, array) for n in later)


def _is_first(node: object, array: str, written: bool = False) -> bool:
    """Whether `node` uses of the array the element 0 alone; `written`: it stores there and reads nothing of it."""
    firsts = [n for n in walk(node) if isinstance(n, Subscript) and is_name(n.owner, array) and number(n.index) == 0]
    if sum(isinstance(n, Name) and n.name == array for n in walk(node)) != len(firsts):
        return False
    if not written:
        return True
    expression = node.expression if isinstance(node, Evaluate) else None
    return (
        isinstance(expression, Assign) and not expression.operator and expression.target in firsts and len(firsts) == 1
    )
