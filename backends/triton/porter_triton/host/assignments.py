"""Assignments, whose target may be a tensor's element, a dim3 or a pointer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from porter.source.qualified import unqualified
from porter.syntax.nodes import (
    Assign,
    Binary,
    Braces,
    Call,
    Expression,
    Literal,
    Member,
    Name,
    Subscript,
    Unary,
    Update,
)
from porter.syntax.walk import walk
from porter_triton.host import expressions, held_kernels, pointers, records, statements, vector_memory
from porter_triton.host.codes import Code, Kind, integer
from porter_triton.host.scope import Context
from porter_triton.refusal import Refusal


def swap(cx: Context, node: Call) -> None:
    """Translates `std::swap(a, b)`."""
    a, b = (expressions.expression(cx, x).text for x in node.arguments)
    cx.changed(a)
    cx.changed(b)
    cx.emit(f"{a}, {b} = {b}, {a}")


def assign(cx: Context, node: Assign) -> None:
    """Translates `target = value`, `target += value`, `target = other = value`."""
    if isinstance(node.value, Assign):
        assign(cx, node.value)
        node = replace(node, value=node.value.target)
    if _special(cx, node):
        return
    target = _target(cx, node.target)
    if target.kind is Kind.RECORD and target.parts:
        _set_fields(cx, target, node.value, node.line)
        return
    cx.changed(target.text)
    if target.kind in (Kind.STREAM, Kind.TIME):
        return
    value = expressions.expression(cx, node.value)
    if (vector := cx.vectors.get(target.text)) is not None:
        value = vector_memory.copied(cx, vector, value)
    if value.kind is Kind.TIME and target.text.isidentifier():
        cx.emit(f"{target.text} = {value.text}", target.text)
        return
    if not node.operator and value.text == target.text and value.kind is Kind.INT:
        return  # a variable of the file that keeps what the device answers
    if target.kind is Kind.DIM3:
        extents = value.parts if value.kind is Kind.DIM3 else (value, integer(1), integer(1))
        for part, extent in zip(target.parts, extents, strict=True):
            cx.emit(f"{part.text} = {extent.text}", part.text)
        return
    rounds = target.kind is Kind.INT and (value.kind is Kind.FLOAT or node.operator == "/")
    if node.operator and (rounds or target.kind is Kind.POINTER):
        value = expressions.expression(cx, Binary(node.operator, node.target, node.value, node.line))
    if rounds and target.ctype is not None:
        value = pointers.cast(cx, target.ctype, value, node.line)
    if isinstance(node.target, Name):
        held_kernels.assigned(cx, node.target.name, value, node.line)
    _set(cx, node, target, value, "" if rounds or target.kind is Kind.POINTER else node.operator)


def _special(cx: Context, node: Assign) -> bool:
    """Emit an assignment that is more or less than one of a value to a place; False for any other."""
    if isinstance(node.value, Call) and isinstance(node.target, Name):
        meaning = cx.find(node.target.name)
        if isinstance(meaning, Code) and meaning.kind is Kind.ERROR:
            statements.call(cx, node.value)
            return True
    if isinstance(node.target, Call):
        _set_several(cx, node)
    elif (step := _moved_on(node)) is not None:
        _assign_and_move(cx, node, step)
    else:
        return False
    return True


def _set_several(cx: Context, node: Assign) -> None:
    """Translates `std::tie(a, b) = f();`."""
    call = node.target
    if not isinstance(call, Call) or not isinstance(call.callee, Name) or unqualified(call.callee.name) != "tie":
        raise Refusal(node.line, "the result of a call cannot be assigned to in Python")
    targets = [_target(cx, argument) for argument in call.arguments]
    value = expressions.expression(cx, node.value)
    for target in targets:
        cx.changed(target.text)
    cx.emit(f"{', '.join(target.text for target in targets)} = {value.text}")


def _moved_on(node: Assign) -> Update | None:
    """Returns the `n++` of `a[n++] = value`, if the value does not name n; None for any other assignment."""
    index = node.target.index if isinstance(node.target, Subscript) else None
    if not isinstance(index, Update) or not isinstance(index.operand, Name):
        return None
    named = any(isinstance(n, Name) and n.name == index.operand.name for n in walk(node.value))
    return None if named else index


def _assign_and_move(cx: Context, node: Assign, step: Update) -> None:
    """Translates `a[n] = value; n += 1;`, in the order that the operator says."""
    assert isinstance(node.target, Subscript)
    plain = replace(node, target=replace(node.target, index=step.operand))
    moved = Assign(step.operator[0], step.operand, Literal(1, "int", node.line), node.line)
    for one in (moved, plain) if step.prefix else (plain, moved):
        assign(cx, one)


def _set_fields(cx: Context, target: Code, value: Expression, line: int) -> None:
    """Translates `s = {a, {b, c}}`, or `s = other`: one assignment for each field, none of which another one reads."""
    pairs = list(_fields(cx, target, value, line))
    names = {part.text for part, _ in pairs}
    whole = _variables(cx, value)
    if any(not (names - {part.text}).isdisjoint(_read(cx, given, whole)) for part, given in pairs):
        raise Refusal(line, "a struct is assigned its own fields")
    values = [one if isinstance(one, Code) else expressions.expression(cx, one) for _, one in pairs]
    for (part, _), made in zip(pairs, values, strict=True):
        cx.changed(part.text)
        cx.emit(f"{part.text} = {made.text}", part.text)


def _read(cx: Context, given: Expression | Code, whole: frozenset[str]) -> frozenset[str]:
    """Returns the variables that the value of a field reads, which is part of one that reads `whole`."""
    if not isinstance(given, Code):
        return _variables(cx, given)
    return frozenset({given.text}) if given.text.isidentifier() else whole


def _variables(cx: Context, given: Expression) -> frozenset[str]:
    """Returns the variables of Python that a value names: for a struct those of the named fields."""
    found: set[str] = set()
    within: set[int] = set()  # owners of members that are variables themselves
    for node in walk(given):
        if isinstance(node, Name | Member) and id(node) not in within and (named := _named(cx, node)):
            found |= named
            owner: object = node
            while isinstance(owner := getattr(owner, "owner", None), Name | Member):
                within.add(id(owner))
    return frozenset(found)


def _named(cx: Context, node: Name | Member) -> frozenset[str]:
    """Returns the variables of a name or member of the source; none for a function or other expression."""
    try:
        leaves = [leaf.text for leaf in records.leaves(expressions.expression(cx, node))]
    except Refusal:
        return frozenset()
    return frozenset(leaves) if all(map(str.isidentifier, leaves)) else frozenset()


def _fields(cx: Context, target: Code, value: Expression | Code, line: int) -> Iterator[tuple[Code, Expression | Code]]:
    """Yields the variables of a struct's fields, those within fields too, and what each is given."""
    if isinstance(value, Braces) and value.type is None:
        given: Sequence[Expression | Code] = value.items
    else:
        code = value if isinstance(value, Code) else expressions.expression(cx, value)
        given = code.parts if code.kind is Kind.RECORD else ()
    if len(given) != len(target.parts):
        raise Refusal(line, "a struct is assigned a value that lacks some of its fields")
    for part, one in zip(target.parts, given, strict=True):
        if part.kind is Kind.RECORD:
            yield from _fields(cx, part, one, line)
        else:
            yield part, one


def _set(cx: Context, node: Assign, target: Code, value: Code, operator: str) -> None:
    """Emit `target operator= value`; a division of the target by something is written so, too."""
    simple = not operator and target.text.isidentifier()
    if simple and not node.operator and isinstance(node.target, Name) and value.constant is not None:
        cx.settle(node.target.name, value.constant)
    defines = target.text if simple or (target.is_number and target.text.isidentifier()) else ""
    divides = f"{target.text} // "
    if simple and node.operator == "/" and value.text.startswith(divides):
        cx.emit(f"{target.text} //= {value.text.removeprefix(divides)}", defines)
        return
    cx.emit(f"{target.text} {operator}= {value.text}", defines)


def _target(cx: Context, node: Expression) -> Code:
    """Returns what stands left of `=`."""
    if isinstance(node, Name) and node.name == "std::ignore":
        return Code("_", Kind.OTHER)
    if isinstance(node, Subscript):
        owner, index = expressions.expression(cx, node.owner), expressions.expression(cx, node.index)
        if owner.kind is Kind.RECORD:
            raise Refusal(node.line, "an element of an object cannot be assigned to in Python")
        text = pointers.flat(cx, owner) if owner.kind is Kind.POINTER else owner.text
        return Code(f"{text}[{index.text}]", Kind.OTHER)
    if isinstance(node, Unary) and node.operator == "*":
        owner = expressions.expression(cx, node.operand)
        if owner.kind is Kind.POINTER:
            return Code(f"{pointers.flat(cx, owner)}[0]", Kind.OTHER)
    code = expressions.expression(cx, node)
    if isinstance(node, Name | Member):
        return code
    raise Refusal(getattr(node, "line", 0), "this cannot be assigned to in Python")
