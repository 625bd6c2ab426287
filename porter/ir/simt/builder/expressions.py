"""Expressions: what they are worth, and which places they name."""

from __future__ import annotations

from porter.ir.simt.builder import (
    access,
    arithmetic,
    assignments,
    calls,
    functions,
    names,
    resolve,
)
from porter.ir.simt.builder.c_types import (
    INT,
    ULONG,
    ArrayOf,
    CType,
    PointerTo,
    Record,
    named_number,
    size_of,
)
from porter.ir.simt.builder.errors import NotExpressibleError
from porter.ir.simt.builder.state import Builder
from porter.ir.simt.builder.values import (
    Closure,
    EitherSlot,
    Elements,
    Fields,
    FunctionName,
    FunctionTable,
    Held,
    Memory,
    Nothing,
    Number,
    OneOf,
    Place,
    RValue,
    Slot,
    Text,
)
from porter.ir.simt.types import Scalar
from porter.syntax.nodes import (
    Assign,
    Binary,
    Braces,
    Call,
    Cast,
    Choice,
    Expression,
    Lambda,
    Literal,
    Member,
    Name,
    SizeOf,
    Subscript,
    TypeName,
    Unary,
    Unread,
    Update,
)


def value(b: Builder, node: Expression) -> RValue:
    """The value of an expression."""
    with b.at(getattr(node, "line", 0)):
        return _value(b, node)


def _value(b: Builder, node: Expression) -> RValue:  # noqa: PLR0912 - a row for each kind of expression
    match node:
        case Literal():
            return literal(b, node)
        case Name() | Member() | Subscript() | Unary(operator="*"):
            return access.load(b, place(b, node))
        case Unary(operator="&"):
            return _function(b, node.operand) or address_of(b, node.operand)
        case Unary(operator, operand):
            return _unary(b, operator, operand)
        case Binary(",", left, right):
            value(b, left)
            return value(b, right)
        case Binary("&&" | "||" as operator, left, right):
            return _logic(b, operator, left, right)
        case Binary(operator, left, right):
            return operate(b, operator, value(b, left), value(b, right))
        case Assign():
            return assignments.assign(b, node)
        case Update():
            return assignments.update(b, node)
        case Choice():
            return _choice(b, node)
        case Cast():
            return calls.cast(b, resolve.type_of(b, node.type, node.line), node.operand)
        case Call():
            return calls.call(b, node)
        case Braces():
            if node.type is None:
                raise b.problem("a list in braces without a type", node.line)
            if not node.items and (told := names.trait_object(b, node.type.name, node.type.arguments)) is not None:
                return told.value
            return calls.construct(b, resolve.type_of(b, node.type, node.line), node.items, node.line)
        case SizeOf(of):
            kind = resolve.type_of(b, of, node.line) if isinstance(of, TypeName) else type_of_expression(b, of)
            return Number(b.emitter.constant(size_of(kind), ULONG), ULONG)
        case Lambda():
            return Closure(node, tuple(b.scopes))
        case Unread(_, reason):
            raise b.problem(f"text that is not read: {reason}", node.line)
    raise b.problem(f"a {type(node).__name__.lower()} in a kernel", getattr(node, "line", 0))


def number(b: Builder, node: Expression) -> Number:
    """The value of an expression that is a number or a pointer."""
    return _as_number(b, value(b, node), getattr(node, "line", 0))


def _as_number(b: Builder, found: RValue, line: int) -> Number:
    if isinstance(found, Fields):
        found = calls.converted_struct(b, found)
    if not isinstance(found, Number):
        raise b.problem("a number is needed here", line)
    return found


def condition(b: Builder, node: Expression) -> Number:
    """The value of an expression as a truth value."""
    with b.at(getattr(node, "line", 0)):
        if isinstance(node, Literal) and isinstance(node.value, str):  # `assert(i < n && "a reason")`
            return Number(b.emitter.constant(True, Scalar.BOOL), Scalar.BOOL)
        return arithmetic.truth(b, number(b, node))


def constant(b: Builder, node: Expression | TypeName | None) -> int | bool | None:
    """The number that an expression is whatever the threads do; None where it is not known. Nothing is executed."""
    if node is None or isinstance(node, TypeName):
        return None
    with b.discarded():
        try:
            found = value(b, node)
        except NotExpressibleError:
            return None
        return b.emitter.known(found.value) if isinstance(found, Number) else None


def type_of_expression(b: Builder, node: Expression) -> CType:
    """The type of an expression, of which nothing is executed."""
    with b.discarded():
        if isinstance(node, Name | Subscript | Member):
            found = access.place_type(place(b, node))
            if found is not None:
                return found
        return type_of_value(b, value(b, node), getattr(node, "line", 0))


def type_of_value(b: Builder, found: RValue, line: int) -> CType:
    """The type of a value."""
    if not isinstance(found, Number | Fields):
        raise b.problem("the type of what is neither a number nor a struct", line)
    return found.type


def literal(b: Builder, node: Literal) -> RValue:
    """A number, a text or null."""
    if node.type == "nullptr":
        return Number(b.emitter.constant(0, INT), INT)
    if isinstance(node.value, str):
        return Text(node.value)
    type_ = named_number(node.type)
    if type_ is None:
        raise b.problem(f"a literal of type '{node.type}'", node.line)
    return Number(b.emitter.constant(node.value, type_), type_)


def place(b: Builder, node: Expression) -> Place:
    """The place that an expression names; what names none is a value in no place."""
    with b.at(getattr(node, "line", 0)):
        return _place(b, node)


def _place(b: Builder, node: Expression) -> Place:
    match node:
        case Name():
            return names.place(b, node)
        case Subscript(owner, index):
            return _subscript(b, owner, index)
        case Unary("*", Name(name="this")) if isinstance(this := b.find("this"), Place):
            return this
        case Unary("*", operand):
            held = place(b, operand)
            if isinstance(held, Held) and isinstance(held.value, FunctionName | Closure | OneOf):
                return held  # a function is what a pointer to it leads to
            found = calls.followed(b, held, node.line, "*")
            return found if found is not None else pointee(b, _as_number(b, access.load(b, held), node.line))
        case Member():
            return _member(b, node)
        case Assign() | Update(prefix=True):
            value(b, node)
            return place(b, node.target if isinstance(node, Assign) else node.operand)
        case Call():
            return calls.place(b, node)
        case Choice(yes=yes, no=no) if _is_variable(yes) and _is_variable(no):
            return _either(b, node)
        case Cast(type=kind, operand=operand) if kind.reference:
            return _seen_as(b, operand, resolve.type_of(b, kind, node.line))
    return Held(value(b, node))


def _either(b: Builder, node: Choice) -> Place:
    """`c ? a : b` of variables: that of them which is chosen, where both hold numbers of one type; else its value."""
    decision = condition(b, node.condition)
    known = b.emitter.known(decision.value)
    if known is not None:
        return place(b, node.yes if known else node.no)
    yes, no = place(b, node.yes), place(b, node.no)
    if isinstance(yes, Slot) and isinstance(no, Slot) and yes.type == no.type and isinstance(yes.type, Scalar):
        return EitherSlot(decision, yes, no)
    return Held(_chosen(b, decision, node))


def _is_variable(node: Expression) -> bool:
    """Returns whether an expression names a variable, or a field of one."""
    return isinstance(node, Name) or (isinstance(node, Member) and not node.arrow and _is_variable(node.owner))


def _seen_as(b: Builder, operand: Expression, type_: CType) -> Place:
    """`reinterpret_cast<T&>(x)`; of the same type the place itself."""
    inner = place(b, operand)
    if access.place_type(inner) == type_:
        return inner
    if isinstance(inner, Memory):
        base = access.address(b, inner, type_)
        return Memory(base, b.zero(), type_)
    raise b.problem("a variable seen as one of another type")


def _subscript(b: Builder, owner: Expression, index: Expression) -> Place:
    base = place(b, owner)
    if isinstance(base, Memory) and isinstance(base.type, ArrayOf):
        return access.row(b, base, number(b, index))
    held = access.load(b, base)
    if isinstance(held, Fields):
        return calls.subscript(b, base, held, index)
    if isinstance(held, Elements):
        return _of_elements(b, held, number(b, index))
    if isinstance(held, FunctionTable):
        return Held(functions.at(b, held, number(b, index)))
    if not isinstance(held, Number) or not isinstance(held.type, PointerTo):
        raise b.problem("an index into what is not an array")
    return access.element(b, held, number(b, index))


def _of_elements(b: Builder, held: Elements, index: Number) -> Place:
    """An element, or a row, of an array that is no memory."""
    known = b.emitter.known(index.value)
    if isinstance(known, int) and len(held.type.extents) == 1 and 0 <= known < len(held.parts):
        return Held(held.parts[known])
    return access.row(b, access.in_memory(b, held), index)


def pointee(b: Builder, pointer: Number) -> Memory:
    """The place that a pointer names."""
    if not isinstance(pointer.type, PointerTo):
        raise b.problem("'*' of what is not a pointer")
    return Memory(pointer.value, b.zero(), pointer.type.element)


def _member(b: Builder, node: Member) -> Place:
    owner = names.coordinate(b, node)
    if owner is not None:
        return Held(owner)
    found = object_of(b, node)
    type_ = access.place_type(found)
    if isinstance(type_, Record) and type_.field(node.name) is None:
        constant_member = names.static_member(b, type_, node.name)
        if constant_member is not None:
            return constant_member
    return access.field(b, found, node.name)


def object_of(b: Builder, node: Member) -> Place:
    """The place of the struct whose member is named."""
    if node.arrow:
        if isinstance(node.owner, Name) and node.owner.name == "this":
            return names.place(b, node.owner)
        held = place(b, node.owner)
        led = calls.followed(b, held, node.line, "->")
        return pointee(b, _as_number(b, access.load(b, led if led is not None else held), node.line))
    return place(b, node.owner)


def _function(b: Builder, node: Expression) -> RValue | None:
    """The function that a name or element is, whose address is itself; None for anything else."""
    if not isinstance(node, Name | Subscript | Member):
        return None
    with b.discarded():
        found = place(b, node)
    is_function = isinstance(found, Held) and isinstance(found.value, FunctionName | Closure | OneOf)
    return access.load(b, place(b, node)) if is_function else None


def address_of(b: Builder, node: Expression) -> Number:
    """`&x`; of a value that a constant reference is bound to, the address of a copy."""
    found = place(b, node)
    type_ = access.place_type(found)
    if not isinstance(found, Memory) and type_ is not None and (isinstance(found, Held) or _is_read_only(b, node)):
        copy = access.variable(b, "copy", type_, in_memory=True)
        access.store(b, copy, access.load(b, found))
        found = copy
    if not isinstance(found, Memory):
        raise b.problem("the address of what is not in memory")
    return Number(access.address(b, found), PointerTo(found.type))


def _is_read_only(b: Builder, node: Expression) -> bool:
    """Returns whether a name is a constant reference that the function is given."""
    taken = b.functions[-1].parameters if isinstance(node, Name) else ()
    return any(p.name == getattr(node, "name", "") and p.type.reference and p.type.const for p in taken)


def operate(b: Builder, operator: str, left: RValue, right: RValue) -> RValue:
    """An operator of two values; of structs one that the source defines."""
    if isinstance(left, Fields) or isinstance(right, Fields):
        return calls.operator(b, operator, (left, right))
    if not isinstance(left, Number) or not isinstance(right, Number):
        raise b.problem(f"'{operator}' of what is not a number")
    return arithmetic.binary(b, operator, left, right)


def _unary(b: Builder, operator: str, operand: Expression) -> RValue:
    held = value(b, operand)
    if isinstance(held, Fields):
        return calls.operator(b, operator, (held,))
    if not isinstance(held, Number):
        raise b.problem(f"'{operator}' of what is not a number")
    return arithmetic.unary(b, operator, held)


def _logic(b: Builder, operator: str, left: Expression, right: Expression) -> Number:
    """`&&` and `||`: the right one is evaluated only where it matters, unless it has no effect that could show."""
    first = condition(b, left)
    known = b.emitter.known(first.value)
    if known is not None:
        return condition(b, right) if bool(known) == (operator == "&&") else first
    if is_harmless(right):
        second = condition(b, right)
        kind = "and" if operator == "&&" else "or"
        return Number(b.emitter.emit(kind, (first.value, second.value), Scalar.BOOL), Scalar.BOOL)
    decided = Literal(operator == "||", "bool")
    yes, no = (right, decided) if operator == "&&" else (decided, right)
    found = assignments.chosen(b, first, lambda: condition(b, yes), lambda: condition(b, no))
    assert isinstance(found, Number)
    return found


def is_harmless(node: Expression) -> bool:
    """Returns whether an expression may be evaluated where the source would not: it is arithmetic of names alone."""
    match node:
        case Literal() | Name():
            return True
        case Member(owner, arrow=False):
            return is_harmless(owner)
        case Unary(operator, operand):
            return operator not in ("*", "&") and is_harmless(operand)
        case Binary(operator, left, right):
            return operator not in ("/", "%", "&&", "||") and is_harmless(left) and is_harmless(right)
        case Cast(type=kind, operand=operand):
            return not kind.pointers and is_harmless(operand)
    return False


def _choice(b: Builder, node: Choice) -> RValue:
    decision = condition(b, node.condition)
    known = b.emitter.known(decision.value)
    if known is not None:
        return value(b, node.yes if known else node.no)
    return _chosen(b, decision, node)


def _chosen(b: Builder, decision: Number, node: Choice) -> RValue:
    """Returns the value of one of two expressions, of which each thread evaluates one."""
    if is_harmless(node.yes) and is_harmless(node.no):
        return selected(b, decision, value(b, node.yes), value(b, node.no))
    return assignments.chosen(b, decision, lambda: value(b, node.yes), lambda: value(b, node.no))


def selected(b: Builder, decision: Number, yes: RValue, no: RValue) -> RValue:
    """Returns one of two values, both of which are there."""
    if isinstance(yes, Fields) and isinstance(no, Fields) and yes.type == no.type:
        pairs = zip(yes.parts, no.parts, strict=True)
        return Fields(yes.type, tuple((name, selected(b, decision, a, c)) for (name, a), (_, c) in pairs))
    if isinstance(yes, Elements) and isinstance(no, Elements) and yes.type == no.type:
        inner = zip(yes.parts, no.parts, strict=True)
        return Elements(yes.type, tuple(selected(b, decision, a, c) for a, c in inner))
    if (isinstance(yes, Nothing) and isinstance(no, Nothing)) or (isinstance(yes, Text) and isinstance(no, Text)):
        return yes  # which text it is matters to what is printed alone
    if (either := functions.either(b, decision, yes, no)) is not None:
        return either
    if not isinstance(yes, Number) or not isinstance(no, Number):
        raise b.problem("a choice between values of different types")
    one, other = unified(b, yes, no)
    if one.value is other.value:
        return one
    return Number(b.emitter.emit("select", (decision.value, one.value, other.value), one.value.type), one.type)


def unified(b: Builder, yes: Number, no: Number) -> tuple[Number, Number]:
    """Both sides of a choice in the type that they have in common."""
    type_ = common_type(yes.type, no.type)
    one, other = arithmetic.convert(b, yes, type_), arithmetic.convert(b, no, type_)
    one, other = (Number(arithmetic.as_pointer(b, n.value), n.type) for n in (one, other))
    if one.value.type != other.value.type:
        raise b.problem("a choice between pointers into different memory")
    return one, other


def common_type(one: Scalar | PointerTo, other: Scalar | PointerTo) -> Scalar | PointerTo:
    """The type of a choice between two."""
    if isinstance(one, PointerTo):
        return one
    if isinstance(other, PointerTo):
        return other
    return one if one is other else arithmetic.common(one, other)
