"""Finds the variables that a piece of host code sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from porter.syntax.nodes import (
    Assign,
    Binary,
    Block,
    Braces,
    Break,
    Call,
    Continue,
    For,
    ForEach,
    If,
    Member,
    Name,
    Parameter,
    Return,
    Skipped,
    Statement,
    Subscript,
    Switch,
    Unary,
    Update,
    While,
)
from porter.syntax.unit import FunctionTree, Unit
from porter.syntax.walk import walk

CHANGE_VECTORS = ("push_back", "emplace_back", "pop_back", "erase", "insert")


def assigned(node: object) -> Counter[str]:
    """Returns how often each variable is assigned, updated, or handed on by its address in `node`; declarations aside.

    An assignment to a member counts for the variable and for the member: `grid.x = 2` for `grid` and `grid.x`.
    """
    found: Counter[str] = Counter()
    lists = (inner.items for inner in walk(node) if isinstance(inner, Braces))
    named = {id(item) for items in lists for item in items if isinstance(item, Assign)}  # fields, by `.n = 4`
    for inner in walk(node):
        if id(inner) in named:
            continue
        target: object = None
        if isinstance(inner, Call) and isinstance(inner.callee, Name) and inner.callee.name in ("std::swap", "swap"):
            found.update(a.name for a in inner.arguments if isinstance(a, Name))
        if isinstance(inner, Call) and isinstance(inner.callee, Member) and inner.callee.name in CHANGE_VECTORS:
            target = inner.callee.owner
        if isinstance(inner, Assign):
            target = inner.target
        elif isinstance(inner, Update) or (isinstance(inner, Unary) and inner.operator == "&"):
            target = inner.operand
        if isinstance(target, Member) and isinstance(target.owner, Name):
            found[f"{target.owner.name}.{target.name}"] += 1
        if isinstance(target, Call):  # std::tie(a, b) = f()
            found.update(a.name for a in target.arguments if isinstance(a, Name))
        while isinstance(target, Member | Subscript):
            target = target.owner
        if isinstance(target, Name):
            found[target.name] += 1
    return found


def returns_early(body: Block) -> int:
    """Returns the line of a `return` in `body` behind which more would run; 0 where every one comes last."""
    return _early(body.statements, last=True)


def _early(body: tuple[Statement, ...], *, last: bool) -> int:
    steps = tuple(s for s in body if not isinstance(s, Skipped | Break))
    for i, step in enumerate(steps):
        ends = last and i == len(steps) - 1
        if isinstance(step, Return) and not ends:
            return step.line or 1
        inner = [step] if isinstance(step, Block) else []
        if isinstance(step, If) and _asks_for_failure(step):
            continue
        if isinstance(step, If):
            inner = [b for b in (step.yes, step.no) if b is not None]
        elif isinstance(step, Switch):
            inner = [case.body for case in step.cases]
        elif isinstance(step, For | ForEach | While):
            inner, ends = [step.body], False
        for block in inner:
            if line := _early(block.statements, last=ends):
                return line
    return 0


def _asks_for_failure(step: If) -> bool:
    """Returns whether a branch is for a call of CUDA's that fails, which raises in Python."""
    asked = step.condition
    return step.no is None and isinstance(asked, Binary) and asked.operator == "!=" and _is_success(asked.right)


def _is_success(node: object) -> bool:
    return isinstance(node, Name) and node.name in ("cudaSuccess", "::cudaSuccess")


def contains_continue(body: Block) -> bool:
    """Returns whether a `continue` in `body` belongs to the loop around it."""
    return any(isinstance(n, Continue) for n in _own(body))


def assigned_with_calls(unit: Unit, block: Block) -> Counter[str]:
    """Returns what `assigned` does, with variables that functions of the source set through references."""
    counts = assigned(block)
    for node in walk(block):
        if not isinstance(node, Call) or not isinstance(node.callee, Name):
            continue
        for function in unit.named(node.callee.name):
            for parameter, argument in zip(function.parameters, node.arguments, strict=False):
                if isinstance(argument, Name) and function.head.space != "global" and set_by(function, parameter):
                    inner = assigned(function.body)
                    for suffix in ("", ".x", ".y", ".z"):
                        counts[argument.name + suffix] += inner[parameter.name + suffix]
    return counts


def set_by(function: FunctionTree, parameter: Parameter) -> bool:
    """Returns whether `function` sets its caller's variable through `parameter`."""
    reference = parameter.type.reference and not parameter.type.const
    return reference and assigned(function.body)[parameter.name] > 0


def _own(node: object) -> Iterator[object]:
    """Yields what `walk` does, without the contents of inner loops."""
    if is_dataclass(node):
        yield node
        for field in fields(node):
            inner = getattr(node, field.name)
            if not isinstance(inner, For | ForEach | While):
                yield from _own(inner)
    elif isinstance(node, tuple):
        for item in node:
            if not isinstance(item, For | ForEach | While):
                yield from _own(item)
