"""Two-stage block reductions: each warp reduces, its first lane stores, and what was stored is reduced."""

from __future__ import annotations

from dataclasses import replace

from porter.syntax.nodes import (
    Assign,
    Binary,
    Block,
    Call,
    Declare,
    Evaluate,
    Expression,
    If,
    Literal,
    Name,
    Statement,
    Subscript,
    Unary,
    Update,
    Variable,
)
from porter.syntax.terms import mentions
from porter.syntax.walk import walk
from porter_triton.lift.after import readers, writes
from porter_triton.lift.facts import WARP, Facts
from porter_triton.lift.only import handed_back, only_read_by
from porter_triton.lift.second import Second, Stage, is_first_thread, is_infinite, second_stage
from porter_triton.lift.serial import serial_stage
from porter_triton.lift.trees import bare, called, flat, intrinsic, is_barrier, is_name, number
from porter_triton.lift.warps import Reduction, reduction


def two_stages(facts: Facts, block: Block, at: int) -> tuple[int, Block] | None:
    """The reductions that begin at the statement `at`: how many statements they take, and the block with words."""
    if facts.threads is None or facts.threads % WARP:
        return None
    firsts = _firsts(facts, block.statements[at:])
    between, position = _past_declarations(block, at + len(firsts), firsts)
    arrays = _stored(facts, block.statements[position:], firsts) if firsts else None
    if arrays is None:
        return None
    begin = _past_barriers(block, position + 1)
    if not any(called(s) == "__syncthreads" for s in block.statements[position + 1 : begin]):
        return None
    rest = block.statements[begin:]
    stage = second_stage(facts, rest, firsts, arrays) or serial_stage(facts, rest, firsts, arrays)
    if stage is None or not _certain(facts, block.statements[at : begin + stage.count], stage, firsts):
        return None
    line, count = block.statements[at].line, begin + stage.count - at
    new = tuple(_written(facts, first, stage.values[first.target], block.statements[at + n], line)
                for n, first in enumerate(firsts))  # fmt: skip
    if stage.under is not None and stage.rest:
        new = (*new, *_behind(facts, stage.under, stage.rest))
    return count, Block((*block.statements[:at], *between, *new, *block.statements[at + count :]), block.line)


def _behind(facts: Facts, under: If, rest: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """Returns what stands behind the second stage in the same `if`; what the first thread alone does needs no other."""
    condition = under.condition
    compared = isinstance(condition, Binary) and facts.is_thread(bare(condition.left))
    thread = condition.left if compared and isinstance(condition, Binary) else None
    alone: list[Statement] = []
    for statement in rest:
        if not isinstance(statement, If) or statement.no is not None:
            break
        if is_first_thread(facts, statement.condition):
            alone.append(statement)
        elif thread is not None and _is_zero(facts, statement.condition):
            first = Binary("==", thread, Literal(0, "int", statement.line), statement.line)
            alone.append(replace(statement, condition=first))
    if len(alone) == len(rest):
        return tuple(alone)
    return (If(condition, Block(rest, under.line), None, line=under.line),)


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


def _certain(facts: Facts, taken: tuple[Statement, ...], stage: Stage, firsts: tuple[Reduction, ...]) -> bool:
    """Returns whether nobody misses what is not there any more: partial results in the arrays and in other threads."""
    for first in firsts:
        value = stage.values[first.target]
        if _used_elsewhere(facts, taken, value.array, stage):
            return False
        gone = {first.target, value.loaded} - {value.result, ""}
        if any(_read_after(facts, stage, name) for name in gone):
            return False
        ends = [stage.last, stage.under] if stage.under is not None else [stage.last]
        if value.held is not None and not all(
            only_read_by(facts, end, value.result, value.held) for end in ends if end is not None
        ):
            return False
    return True


def _read_after(facts: Facts, stage: Stage, name: str) -> bool:
    later = readers(facts.function.body, stage.last, lambda s: writes(s, name))
    return handed_back(facts.function, name) is not None or any(mentions(r.node, name) for r in later)


def _written(facts: Facts, first: Reduction, second: Second, beginning: Statement, line: int) -> Statement:
    """`v = reduction over the block`."""
    value = _value(facts, first, second, line)
    if second.declared is not None:
        return Declare((Variable(second.result, second.declared, value=value, line=line),), line)
    if isinstance(beginning, Declare):
        return Declare((replace(beginning.variables[0], value=value),), line)
    return Evaluate(Assign("", Name(second.result, line=line), value, line), line)


def _value(facts: Facts, first: Reduction, second: Second, line: int) -> Expression:
    """The reduction over the block, and over what it began with or the lanes without a warp contributed."""
    value = intrinsic(f"block_{first.operation}", first.value, line=line)
    assert facts.threads is not None
    besides = second.neutral if facts.threads < WARP * WARP else None
    besides = second.begun or besides if first.operation in {"max", "min"} else None
    if besides is None or is_infinite(first.operation, besides):
        return value
    return Call(Name(first.operation, line=line), (value, besides), line)


def _is_zero(facts: Facts, condition: Expression) -> bool:
    """`lane == 0`."""
    made = bare(condition)
    if isinstance(made, Unary) and made.operator == "!":
        return facts.is_lane(made.operand)
    return isinstance(made, Binary) and made.operator == "==" and number(made.right) == 0 and facts.is_lane(made.left)


def _past_declarations(block: Block, at: int, firsts: tuple[Reduction, ...]) -> tuple[tuple[Statement, ...], int]:
    """Declarations from a place on that have nothing to do with what is reduced, as of a lane; what stands behind."""
    between: list[Statement] = []
    while at < len(block.statements):
        statement = block.statements[at]
        if isinstance(statement, Declare) and not any(_does_more(n, firsts) for n in walk(statement)):
            between.append(statement)
        elif not is_barrier(statement):
            break
        at += 1
    return tuple(between), at


def _does_more(node: object, firsts: tuple[Reduction, ...]) -> bool:
    if isinstance(node, Variable) and (node.storage or node.extents):
        return True
    named = isinstance(node, Name) and node.name in {first.target for first in firsts}
    return named or isinstance(node, Call | Assign | Update | Subscript)


def _past_barriers(block: Block, at: int) -> int:
    while at < len(block.statements) and is_barrier(block.statements[at]):
        at += 1
    return at


def _used_elsewhere(facts: Facts, taken: tuple[Statement, ...], array: str, stage: Stage) -> bool:
    """Returns whether the array has another use than to hand its element 0, written anew, to everyone."""
    body = facts.function.body
    if stage.kept:
        after = readers(body, stage.last, lambda _: False)
        return not all(_is_first(r.node, array) for r in after if mentions(r.node, array))
    count = sum(isinstance(n, Name) and n.name == array for n in walk(taken))
    in_rest = sum(isinstance(n, Name) and n.name == array for n in walk(stage.rest))
    if count - in_rest == sum(isinstance(n, Name) and n.name == array for n in walk(body)):
        return False
    after = readers(body, stage.last, lambda s: _stores_anew(facts, s, array))
    later = [r.node for r in after if mentions(r.node, array)]
    handed = bool(later) and _is_first(later[0], array, written=True) and all(_is_first(n, array) for n in later)
    return bool(later) and not handed


def _stores_anew(facts: Facts, statement: Statement, array: str) -> bool:
    """`if (lane == 0) a[warp] = v;`, which reads nothing of the array."""
    if not isinstance(statement, If) or statement.no is not None or not _is_zero(facts, statement.condition):
        return False
    assigned = [bare(n) for n in walk(statement) if isinstance(n, Assign) and not n.operator]
    targets = [n.target for n in assigned if isinstance(n.target, Subscript) and is_name(n.target.owner, array)]
    mentioned = sum(isinstance(n, Name) and n.name == array for n in walk(statement))
    return len(targets) == mentioned == 1 and facts.is_warp(targets[0].index)


def _is_first(node: object, array: str, written: bool = False) -> bool:
    """Returns whether `node` uses of the array the element 0 alone; `written`: it stores there and reads nothing of
    it.
    """
    firsts = [n for n in walk(node) if isinstance(n, Subscript) and is_name(n.owner, array) and number(n.index) == 0]
    if sum(isinstance(n, Name) and n.name == array for n in walk(node)) != len(firsts):
        return False
    if not written:
        return True
    expression = node.expression if isinstance(node, Evaluate) else None
    return (
        isinstance(expression, Assign) and not expression.operator and expression.target in firsts and len(firsts) == 1
    )
