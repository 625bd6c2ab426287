"""Prints branches: Triton's own where all threads of a block take one way, else masks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from porter.ir.simt.operations import OPERATIONS, Effect
from porter.ir.simt.ops import Block, Op, Value, walk
from porter.ir.simt.types import Pointer, Scalar, Vector
from porter_triton.thread_level.arithmetic import negated, where
from porter_triton.thread_level.expressions import Expression, literal, part_name, settled, variable

if TYPE_CHECKING:
    from porter_triton.thread_level.printer import Held, Printer


def branch(p: Printer, op: Op) -> None:
    """Prints an `if`."""
    if p.uniformity.diverges(op):
        _masked(p, op)
    else:
        _taken_together(p, op)


def _taken_together(p: Printer, op: Op) -> None:
    condition = p.value(op.operands[0])
    yes, no = op.regions
    variables = [declared(p, result, result.name or "value") for result in op.results]
    if not op.results and not _acts(yes):
        condition, yes, no = negated(condition), no, yes
    p.line(f"if {condition.text}:", condition, opens=True)
    _side(p, yes, variables)
    if op.results or _acts(no):
        p.line("else:", opens=True)
        _side(p, no, variables)
    p.values.update(zip(op.results, variables, strict=True))


def _side(p: Printer, region: Block, variables: Sequence[Held]) -> None:
    with p.indented():
        for variable, value in zip(variables, p.block(region), strict=True):
            for target, part in zip(flat(variable), flat(value), strict=True):
                p.assign(target.text, handed(p, target, part))


def _masked(p: Printer, op: Op) -> None:
    """Runs both regions, each for its threads."""
    condition = p.value(op.operands[0])
    yes, no = op.regions
    if op.results or _acts(no):
        condition = p.atom(condition, "condition")
    results = []
    chosen = condition
    for region, holds in ((yes, condition), (no, condition)):
        if not _acts(region):
            results.append(p.block(region))
            continue
        is_first = region is yes
        mask = p.narrowed(holds if is_first else negated(holds), op if is_first else None)
        p.others.update(_loaded_or_constant(p, region, no if is_first else yes))
        with p.under(mask):
            results.append(p.block(region))
        if is_first and mask.lanes is not None and not mask.is_single:
            chosen = mask.lanes  # which the accesses need, too; the values of other threads do not matter
    for number, (result, one, other) in enumerate(zip(op.results, *results, strict=True)):
        sides = [(yes.ops[-1].operands[number], one), (no.ops[-1].operands[number], other)]
        filled = [held for value, held in sides if value in p.filled]
        if not filled and any(_is_undefined(p, value) for value, _ in sides):
            filled = [held for value, held in sides if not _is_undefined(p, value)]
        if filled:  # the other threads loaded what they have, or it may be anything
            p.values[result] = filled[0]
            continue
        type_ = result.type.element if isinstance(result.type, Vector) else result.type
        parts = [where(chosen, a, b, type_) for a, b in zip(flat(one), flat(other), strict=True)]
        users = p.uses.get(result, ())
        if len(users) == 1 and users[0].kind == "yield":  # right behind, for nothing else may be in between
            named = parts
        else:
            named = [part if part.is_atom else p.named(part, result.name or "value") for part in parts]
        p.values[result] = tuple(named) if isinstance(result.type, Vector) else named[0]


def _is_undefined(p: Printer, value: Value) -> bool:
    maker = p.makers.get(value)
    return maker is not None and maker.kind == "undefined"


def _loaded_or_constant(p: Printer, region: Block, other: Block) -> dict[Value, Expression]:
    """Returns loads that a region hands on, each with the number that the other region hands on in its place."""
    found: dict[Value, Expression] = {}
    for value, instead in zip(region.ops[-1].operands, other.ops[-1].operands, strict=True):
        maker, number = p.makers.get(value), p.makers.get(instead)
        if maker is None or maker.kind != "load" or maker not in region.ops or len(p.uses[value]) > 1:
            continue
        constant = number.attribute("value") if number is not None and number.kind == "constant" else None
        if isinstance(value.type, Scalar) and isinstance(constant, int | float):
            found[value] = literal(constant, value.type)
    return found


def _acts(region: Block) -> bool:
    """Returns whether it matters which threads run a region."""
    return any(OPERATIONS[op.kind].effect not in (Effect.NONE, Effect.CONTROL) or op.kind in ("for", "while")
               for op in walk(region))  # fmt: skip


def flat(value: Held) -> tuple[Expression, ...]:
    """Returns the expressions of a number or vector."""
    return value if isinstance(value, tuple) else (value,)


def declared(p: Printer, value: Value, wanted: str) -> Held:
    """Returns the variable for what control hands on; for a vector one for each number."""
    varying = value in p.uniformity.varying
    if not isinstance(value.type, Vector):
        assert isinstance(value.type, Scalar | Pointer)
        return variable(p.declare(wanted, value.type, varying=varying), value.type, varying=varying)
    element, count = value.type.element, value.type.count
    names = [p.declare(f"{wanted}_{part_name(n, count)}", element, varying=varying) for n in range(count)]
    return tuple(variable(name, element, varying=varying) for name in names)


def handed(p: Printer, target: Expression, value: Expression) -> Expression:
    """Returns a value as a variable of this type and shape holds it."""
    typed = p.typed(value, target.type) if value.number is None else value
    if target.varying:
        return p.spread(typed)
    return settled(typed) if typed.loose else typed
