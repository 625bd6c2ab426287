"""Exchanges of several values at once: the extreme and where it is, Welford's mean, sum of squares and count."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from porter.syntax.nodes import (
    Assign,
    Binary,
    Block,
    Braces,
    Call,
    Declare,
    Evaluate,
    Expression,
    For,
    Member,
    Name,
    Statement,
    Subscript,
    TypeName,
    Unary,
    Variable,
)
from porter.syntax.terms import mentions
from porter.syntax.walk import walk
from porter_triton.lift.combining import FIELDS, Exchange, Place, named, plain, root
from porter_triton.lift.facts import WARP, Facts
from porter_triton.lift.loops import steps
from porter_triton.lift.only import First, only_read_by
from porter_triton.lift.owners import point_to_own
from porter_triton.lift.trees import bare, called, flat, intrinsic, is_barrier, is_name, mapped, number
from porter_triton.lift.warps import same_segment, segment
from porter_triton.lower.assigned import assigned_names


def tuple_exchanges(facts: Facts, statement: Statement) -> tuple[Statement, ...] | None:
    """A loop of exchanges of two or three values as one reduction over lanes, and assignments of what it gives."""
    found = steps(statement)
    if found is None or found.least != 1 or not isinstance(statement, For):
        return None
    width = segment(facts, found.extent)
    body, held = _named(facts, statement.body)
    parts = _split(body, found.name, facts, width) if width is not None else None
    if width is None or parts is None:
        return None
    exchanges, rest = parts
    if len({e.everywhere for e in exchanges}) != 1 or not _owned(facts, rest, exchanges, body):
        return None
    alone = not held and number(width) == WARP
    if not exchanges[0].everywhere and not (alone and _left_to_first(facts, statement, exchanges)):
        return None
    known = named(facts, exchanges, rest)
    made = None if known is None else _written(facts, *known, width, statement.line)
    return made and mapped(made, lambda n: held.get(n.name, n) if isinstance(n, Name) else n)


def _named(facts: Facts, body: Block) -> tuple[Block, dict[str, Expression]]:
    """The body with names for what pointers to variables of the thread's own lead to, `*v` and `v[1]`, and these."""
    held: dict[str, Expression] = {}

    def name(node: object) -> object:
        owner, index = (node.owner, number(node.index)) if isinstance(node, Subscript) else (None, None)
        if isinstance(node, Unary) and node.operator == "*":
            owner, index = node.operand, 0
        if not isinstance(owner, Name) or index is None or not point_to_own(facts, (owner.name,)):
            return node
        held.setdefault(f"{owner.name}@{index}", node)  # type: ignore[arg-type]
        return Name(f"{owner.name}@{index}")

    changed = mapped(body, name)
    pointers = tuple(sorted({plain(n) for n in held}))
    return (changed, held) if len(pointers) < 2 or point_to_own(facts, pointers) else (body, {})


def joint_tree(
    facts: Facts, statements: tuple[Statement, ...], place: Expression, step: str
) -> tuple[tuple[str, str], ...]:
    """Shared arrays, in order, and the reduction that `statements` are a step of; nothing where that is not known.

    They combine the elements at `place` of two or three arrays with those `step` further.
    """
    arrays: dict[str, None] = {}

    def here(node: Expression) -> bool:
        return node == place or (facts.is_thread(node) and facts.is_thread(place))

    def element(node: object) -> object:
        if not isinstance(node, Subscript) or not isinstance(node.owner, Name):
            return node
        index, name = node.index, node.owner.name
        further = (
            isinstance(index, Binary)
            and index.operator == "+"
            and any(here(a) and is_name(b, step) for a, b in ((index.left, index.right), (index.right, index.left)))
        )
        arrays.setdefault(name)
        return Name(f"{name}@own") if here(index) else Name(f"{name}@other") if further else node

    rest = tuple(mapped(bare(s), element) for s in statements)
    exchanges = tuple(Exchange(Name(f"{a}@own"), Name(f"{a}@other"), everywhere=True) for a in arrays)
    if not 2 <= len(exchanges) <= 3 or mentions(rest, step) or not _owned(facts, rest, exchanges):
        return ()
    found = named(facts, exchanges, rest)
    return () if found is None else tuple((plain(root(e.own)), found[0]) for e in found[1])


def _left_to_first(facts: Facts, loop: For, exchanges: tuple[Exchange, ...]) -> bool:
    """Returns whether after the loop only first lanes read what it exchanges; what it hands to functions is gone
    with it.
    """
    empty = replace(loop, body=Block((), loop.line))
    body = mapped(facts.function.body, lambda n: empty if n is loop else n)
    rest = replace(facts, function=replace(facts.function, body=body))
    return all(only_read_by(rest, empty, root(e.own), First.LANE) for e in exchanges)


def _split(
    body: Block, step: str, facts: Facts, width: Expression
) -> tuple[tuple[Exchange, ...], tuple[Statement, ...]] | None:
    """The exchanges a turn begins with, and what is done with them; None where it is no such loop."""
    exchanges: list[Exchange] = []
    rest: list[Statement] = []
    for place, value, declaration in _parts(facts, body):
        exchange = None if place is None else _exchange(facts, place, value, step, width)
        if exchange is not None and not any(not isinstance(r, Declare) for r in rest):
            exchanges.append(exchange)
        else:
            rest.append(declaration)
    if not 2 <= len(exchanges) <= 3 or not rest or mentions(tuple(rest), step):
        return None
    distinct = len({e.own for e in exchanges}) == len({e.other for e in exchanges}) == len(exchanges)
    return (tuple(exchanges), tuple(rest)) if distinct else None


def _parts(facts: Facts, body: Block) -> Iterator[tuple[Place | None, Expression | None, Statement]]:
    """Each statement, declarations one variable at a time, with the place it sets and to what."""
    for statement in (s for s in flat(body) if not is_barrier(s)):
        if isinstance(statement, Declare):
            for variable in statement.variables:
                if fields := _fields(facts, variable):
                    yield None, None, Declare((replace(variable, value=None),), statement.line)
                    yield from ((p, bare(v), Evaluate(Assign("", p, v), statement.line)) for p, v in fields)
                else:
                    yield Name(variable.name), bare(variable.value), Declare((variable,), statement.line)
        elif isinstance(statement, Evaluate) and isinstance(statement.expression, Assign):
            made = bare(statement.expression)
            plain = not made.operator and isinstance(made.target, Name | Member)
            yield made.target if plain else None, made.value, statement  # type: ignore[misc]
        else:
            yield None, None, statement


def _fields(facts: Facts, variable: Variable) -> tuple[tuple[Member, Expression], ...]:
    """The fields of a struct variable that is declared with a value for each, and these; nothing for any other."""
    structs = facts.unit.struct(variable.type.name)
    if not isinstance(variable.value, Braces) or len(structs) != 1 or variable.extents or variable.type.reference:
        return ()
    if len(structs[0].fields) != len(variable.value.items) or structs[0].methods or structs[0].bases:
        return ()
    pairs = zip(structs[0].fields, variable.value.items, strict=True)
    return tuple((Member(Name(variable.name), field.name), item) for field, item in pairs)


def _exchange(facts: Facts, place: Place, value: Expression | None, step: str, width: Expression) -> Exchange | None:
    """`place = __shfl_xor_sync(mask, own, step)`, or down."""
    kind = called(value).removesuffix("_sync")
    if not isinstance(value, Call) or kind not in {"__shfl_xor", "__shfl_down"}:
        return None
    own, lane, *rest = value.arguments[called(value).endswith("_sync") :]
    if not isinstance(own, Name | Member) or not is_name(lane, step):
        return None
    if not all(same_segment(facts, r, width) for r in rest):
        return None
    return Exchange(own, place, kind == "__shfl_xor")


def _owned(facts: Facts, rest: tuple[Statement, ...], exchanges: tuple[Exchange, ...], body: object = ()) -> bool:
    """Returns whether a turn changes nothing but the values exchanged and what it declares itself, in `rest` or
    `body`.
    """
    inside = {v.name for n in walk((rest, body)) if isinstance(n, Declare) for v in n.variables}
    roots = {root(e.own) for e in exchanges}
    changed = assigned_names(facts.unit, rest) | ({root(e.other) for e in exchanges} if body else set())
    return "" not in roots and not roots & inside and changed <= roots | inside


def _written(
    facts: Facts, operation: str, order: tuple[Exchange, ...], width: Expression, line: int
) -> tuple[Statement, ...] | None:
    """`auto r = porter::warp_argmax(v, i)`, and the parts of r assigned."""
    held = f"{plain(root(order[0].own))}_{operation}"
    if any(getattr(n, "name", "") == held for n in walk(facts.function.body)):
        return None
    value = intrinsic(f"warp_{operation}", *(e.own for e in order), width, line=line)
    parts = (
        Evaluate(Assign("", e.own, Member(Name(held, line=line), field, line=line), line), line)
        for e, field in zip(order, FIELDS, strict=False)
    )
    return (Declare((Variable(held, TypeName("auto"), value=value, line=line),), line), *parts)
