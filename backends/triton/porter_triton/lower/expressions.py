"""Expressions to values: C's rules of evaluation, with guarded operands under their own mask."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

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
from porter_triton.lower import access, calls, locals_, memory, resolve, statements, views
from porter_triton.lower.arithmetic import binary, complement, negative
from porter_triton.lower.assigned import walk
from porter_triton.lower.comparisons import disjunction
from porter_triton.lower.context import Context
from porter_triton.lower.conversions import condition, convert, exact_double, narrowed, settled
from porter_triton.lower.emit import Suite
from porter_triton.lower.lvalues import address_of, field, place, pointee
from porter_triton.lower.places import LocalArray, Place, SharedArray, Slot, Variable
from porter_triton.lower.types import (
    BOOL,
    BUILT_IN,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    ULONG,
    Arithmetic,
    Pointer,
    Record,
    common,
    size,
)
from porter_triton.lower.values import ATOM, Address, Bits, Fields, Nothing, Scalar, Value, both, negation, number
from porter_triton.refusal import Refusal

UNTYPED = "{}"


def value(cx: Context, node: Expression) -> Value:
    """The value of an expression; what it does is emitted before."""
    handler = _VALUES.get(type(node))
    if handler is None:
        raise Refusal(getattr(node, "line", 0), f"an expression of this kind ({type(node).__name__})")
    return handler(cx, node)


def scalar(cx: Context, node: Expression) -> Scalar:
    """The value of an expression that is a number or a pointer to global memory."""
    return access.scalar(value(cx, node), node.line)


def truth(cx: Context, node: Expression) -> Scalar:
    """The value of an expression as a condition."""
    return condition(scalar(cx, node), node.line)


def constant(cx: Context, node: Expression | TypeName, line: int) -> Scalar:
    """The value of an expression that must be known now."""
    if isinstance(node, TypeName):
        raise Refusal(line, f"the type `{node.name}` stands where a number is needed")
    probe = Suite()
    with cx.into(probe, python=False):
        found = scalar(cx, node)
    if found.constant is None and found.fixed is not None and isinstance(found.type, Arithmetic):
        found = number(found.fixed, found.type)
    if found.constant is None:
        raise Refusal(line, "a number that must be known before the kernel runs is not")
    return found


def _literal(_: Context, node: Literal) -> Value:
    if node.type == "nullptr":
        return number(0, LONG)
    if isinstance(node.value, str):
        raise Refusal(node.line, "a string is used as a value")
    type_ = BUILT_IN.get(node.type)
    if not isinstance(type_, Arithmetic):
        raise Refusal(node.line, f"a literal of type `{node.type}`")
    return number(node.value, type_)


def _loaded(cx: Context, node: Name | Subscript | Member) -> Value:
    return access.load(cx, place(cx, node), node.line)


def _unary(cx: Context, node: Unary) -> Value:
    if node.operator == "*":
        return access.load(cx, place(cx, node), node.line)
    if node.operator == "&":
        return address(cx, node.operand, node.line)
    operand = computed(value(cx, node.operand), node.line)
    if isinstance(operand, Fields):
        return calls.operator(cx, node.operator, (operand,), node.line)
    held = access.scalar(operand, node.line)
    if node.operator == "!":
        return negation(condition(held, node.line))
    if node.operator == "-":
        return negative(held, node.line)
    if node.operator == "~":
        return complement(held, node.line)
    return binary("+", held, number(0, INT), node.line)


def address(cx: Context, node: Expression, line: int) -> Value:
    """`&node`."""
    return address_of(place(cx, node), line)


def _update(cx: Context, node: Update) -> Value:
    target = place(cx, node.operand)
    before = access.load(cx, target, node.line)
    if isinstance(before, Scalar) and not node.prefix and before.constant is None:
        before = cx.temporary(before, "old")
    after = add(node.operator[0], before, number(1), node.line)
    access.store(cx, target, after, node.line)
    return access.load(cx, target, node.line) if node.prefix else before


def add(operator: str, left: Value, right: Scalar, line: int) -> Value:
    """`left + right` or `left - right`, where left may be a pointer of any kind."""
    if isinstance(left, Address):
        distance = binary("*", right, number(views.step(left)), line)
        return replace(left, offset=binary(operator, left.offset, distance, line))
    held = access.scalar(left, line)
    if isinstance(held.type, Pointer):
        return memory.step(held, right, operator, line)
    return binary(operator, held, right, line)


def _assign(cx: Context, node: Assign) -> Value:
    if not node.operator:
        given = converted_braces(cx, node)
        target = place(cx, node.target)
        access.store(cx, target, given, node.line)
        return given if not isinstance(given, Scalar) else _as_stored(target, given, node.line)
    right = value(cx, node.value)
    target = place(cx, node.target)
    left = access.load(cx, target, node.line)
    result = operate(cx, node.operator, left, right, node.line)
    access.store(cx, target, result, node.line)
    return result if not isinstance(result, Scalar) else _as_stored(target, result, node.line)


def converted_braces(cx: Context, node: Assign) -> Value:
    """The value of `x = {a, b}`, whose type is that of x."""
    if isinstance(node.value, Braces) and node.value.type is None:
        target = access.place_type(place(cx, node.target))
        if isinstance(target, Record):
            return aggregate(cx, target, node.value)
    return value(cx, node.value)


def _as_stored(target: Place, given: Scalar, line: int) -> Value:
    if isinstance(target, Variable):
        return access.read(target)
    type_ = access.place_type(target)
    return convert(given, type_, line) if isinstance(type_, Arithmetic) else given


def _binary(cx: Context, node: Binary) -> Value:
    if node.operator == ",":
        value(cx, node.left)
        return value(cx, node.right)
    if node.operator in {"&&", "||"}:
        return _short_circuit(cx, node)
    left = value(cx, node.left)
    if isinstance(left, Scalar) and acts(node.right):
        left = frozen(cx, left)
    return operate(cx, node.operator, left, value(cx, node.right), node.line)


def frozen(cx: Context, held: Scalar) -> Scalar:
    """`held` evaluated here, before what follows changes what it names."""
    return held if access.is_stable(cx, held) else cx.temporary(held)


def acts(node: Expression) -> bool:
    """Whether an expression may change a variable: it assigns or calls."""
    if isinstance(node, Assign | Update | Call):
        return True
    children = [getattr(node, part, None) for part in _PARTS]
    inner = [c for c in children if c is not None and not isinstance(c, TypeName | str)]
    return any(acts(c) for c in inner)


_PARTS = ("left", "right", "operand", "owner", "index", "condition", "yes", "no")


def operate(cx: Context, operator: str, left: Value, right: Value, line: int) -> Value:
    """`left operator right` for values of any kind."""
    left, right = computed(left, line), computed(right, line)
    if isinstance(left, Fields) or isinstance(right, Fields):
        return calls.operator(cx, operator, (left, right), line)
    if operator in {"+", "-"} and (_points(left) or _points(right)):
        if _points(left) and _points(right):
            return _difference(left, right, line)
        if _points(right):
            left, right = right, left
        return add(operator, left, access.scalar(right, line), line)
    return binary(operator, access.scalar(left, line), access.scalar(right, line), line)


def computed(held: Value, line: int) -> Value:
    """A value one can compute with."""
    return views.interpreted(held, line) if isinstance(held, Bits) else held


def _points(held: Value) -> bool:
    return isinstance(held, Address) or (isinstance(held, Scalar) and isinstance(held.type, Pointer))


def _difference(left: Value, right: Value, line: int) -> Scalar:
    if isinstance(left, Address) and isinstance(right, Address) and left.place is right.place:
        return convert(binary("-", left.offset, right.offset, line), LONG)
    raise Refusal(line, "two pointers are subtracted")


def _short_circuit(cx: Context, node: Binary) -> Scalar:
    left = truth(cx, node.left)
    decisive = node.operator == "||"
    if left.constant is not None:
        return left if bool(left.constant) == decisive else truth(cx, node.right)
    if left.static and not _only_compares(node.right):
        asked = negation(left) if decisive else left
        held = statements.chosen(cx, asked, lambda: truth(cx, node.right), lambda: number(decisive, BOOL), node)
        return access.scalar(held, node.line)
    if acts(node.right):
        left = frozen(cx, left)
    with cx.where(negation(left) if decisive else left):
        right = truth(cx, node.right)
    return disjunction(left, right) if decisive else both(left, right)


def known_part(cx: Context, node: Expression) -> tuple[Expression, Expression] | None:
    """`a && b` where a is known when Triton compiles: a, and what remains; None for any other condition."""
    terms = _conjuncts(node)
    if len(terms) < 2:
        return None
    known = [t for t in terms if _is_known(cx, t)]
    rest = [t for t in terms if t not in known]
    if not known or not rest:
        return None
    return _conjunction(known), _conjunction(rest)


def _only_compares(node: Expression) -> bool:
    """Whether an operand of `&&` may be evaluated whatever the other says: it loads nothing."""
    return not any(isinstance(n, Subscript | Call | Assign | Update) or _dereferences(n) for n in walk(node))


def _dereferences(node: object) -> bool:
    return isinstance(node, Unary) and node.operator == "*"


def _conjuncts(node: Expression) -> list[Expression]:
    if isinstance(node, Binary) and node.operator == "&&":
        return _conjuncts(node.left) + _conjuncts(node.right)
    return [node]


def _conjunction(terms: list[Expression]) -> Expression:
    whole = terms[0]
    for term in terms[1:]:
        whole = Binary("&&", whole, term, term.line)
    return whole


def _is_known(cx: Context, node: Expression) -> bool:
    if not isinstance(node, Name | Member | Unary | Binary) or acts(node):
        return False
    with cx.into(Suite(), python=False):
        held = value(cx, node)
        return isinstance(held, Scalar) and (held.static or isinstance(held.type, Pointer))


def choice(cx: Context, node: Choice) -> Value:
    """`condition ? yes : no`, each under its own mask."""
    split = known_part(cx, node.condition)
    if split is not None:
        inner = Choice(split[1], node.yes, node.no, node.line)
        return choice(cx, cx.rewritten(node, lambda: Choice(split[0], inner, node.no, node.line)))
    chosen = truth(cx, node.condition)
    if chosen.constant is not None:
        return value(cx, node.yes if chosen.constant else node.no)
    if chosen.static:
        return statements.chosen(cx, chosen, lambda: value(cx, node.yes), lambda: value(cx, node.no), node)
    if acts(node.yes) or acts(node.no):
        chosen = frozen(cx, chosen)
    yes_mask, no_mask = cx.narrow(chosen), cx.narrow(negation(chosen))
    with cx.only(yes_mask):
        yes = value(cx, node.yes)
        if isinstance(yes, Scalar) and acts(node.no):
            yes = frozen(cx, yes)
    with cx.only(no_mask):
        no = value(cx, node.no)
    for one, other, mask in ((yes, no, yes_mask), (no, yes, no_mask)):
        if isinstance(one, Scalar) and isinstance(other, Scalar) and mask is not None:
            loaded = memory.with_other(cx, one, other, mask)
            if loaded is not None:
                return loaded
    return choose(chosen, yes, no, node.line)


def choose(chosen: Scalar, yes: Value, no: Value, line: int) -> Value:
    """`chosen ? yes : no` of two values."""
    if isinstance(yes, Nothing) and isinstance(no, Nothing):
        return yes
    if isinstance(yes, Fields) and isinstance(no, Fields) and yes.type == no.type:
        return Fields(yes.type, tuple((n, choose(chosen, v, no.field(n), line)) for n, v in yes.values))
    if isinstance(yes, Address) and isinstance(no, Address) and yes.place is no.place:
        offset = choose(chosen, yes.offset, no.offset, line)
        assert isinstance(offset, Scalar)
        return Address(yes.place, offset)
    left, right = access.scalar(yes, line), access.scalar(no, line)
    if not isinstance(left.type, Arithmetic) or not isinstance(right.type, Arithmetic):
        if left.type != right.type:
            raise Refusal(line, "`?:` chooses between a pointer and something else")
        return _either(chosen, left, right, None)
    type_ = left.type if left.type == right.type else common(left.type, right.type)
    single = _chosen_single(chosen, left, right, type_, line)
    left, right = _of_type(left, type_), _of_type(right, type_)
    if left.constant is not None and right.constant is not None and type_ not in {INT, FLOAT}:
        text = f"tl.full([], {left.text}, {type_.triton})"
        left = replace(left, text=text, level=ATOM, constant=None, loose=False)
    return _either(chosen, left, right, single)


def _of_type(held: Scalar, type_: Arithmetic) -> Scalar:
    """An operand of `tl.where`, which takes a number for a 32-bit one where that matters."""
    held = settled(convert(held, type_))
    if held.constant is None and held.carried != type_:
        held = settled(replace(held, interval=None))
    return exact_double(held)


def _either(chosen: Scalar, left: Scalar, right: Scalar, single: Scalar | None) -> Scalar:
    interval = None
    if left.interval is not None and right.interval is not None:
        interval = (min(left.interval[0], right.interval[0]), max(left.interval[1], right.interval[1]))
    text = f"tl.where({chosen.text}, {left.text}, {right.text})"
    varying = chosen.varying or left.varying or right.varying
    return Scalar(text, left.type, varying, interval=interval, bases=left.bases | right.bases, single=single)


def _chosen_single(chosen: Scalar, left: Scalar, right: Scalar, type_: Arithmetic, line: int) -> Scalar | None:
    if type_ is not DOUBLE:
        return None
    yes, no = narrowed(left), narrowed(right)
    if yes is None or no is None:
        return None
    found = choose(chosen, yes, no, line)
    return found if isinstance(found, Scalar) else None


def _cast(cx: Context, node: Cast) -> Value:
    type_ = resolve.type_of(cx, node.type, node.line) if node.type.name != "void" or node.type.pointers else None
    operand = value(cx, node.operand)
    if type_ is None:
        return Nothing()
    return cast(cx, operand, type_, node.line)


def cast(cx: Context, operand: Value, type_: object, line: int) -> Value:
    """`(T)operand`."""
    if isinstance(type_, Arithmetic):
        return convert(access.scalar(operand, line), type_, line)
    if isinstance(type_, Record):
        if isinstance(operand, Fields | Bits) and operand.type == type_:
            return operand
        if isinstance(operand, Fields) and operand.type.name == UNTYPED:
            return calls.construct(cx, type_, tuple(v for _, v in operand.values), line)
        return calls.construct(cx, type_, (operand,), line)
    if isinstance(type_, Pointer):
        if isinstance(operand, Address):
            return views.cast(cx, operand, type_, line)
        held = access.scalar(operand, line)
        if isinstance(held.type, Pointer):
            return memory.view(held, type_.element, line)
    raise Refusal(line, "a cast between types that have nothing in common")


def _braces(cx: Context, node: Braces) -> Value:
    if node.type is None:
        if len(node.items) == 1:
            return value(cx, node.items[0])
        return listed(cx, node)
    type_ = resolve.type_of(cx, node.type, node.line)
    if isinstance(type_, Record):
        return aggregate(cx, type_, node)
    if not node.items:
        return locals_.zero(type_)
    return cast(cx, value(cx, node.items[0]), type_, node.line)


def listed(cx: Context, node: Braces) -> Fields:
    """`{a, b}` whose type the context knows: what it is bound to makes its own value of it."""
    values = tuple((str(i), value(cx, item)) for i, item in enumerate(node.items))
    return Fields(Record(UNTYPED, ()), values)


def aggregate(cx: Context, type_: Record, node: Braces) -> Value:
    """`T{a, b}` or `T(a, b)`."""
    return calls.construct(cx, type_, tuple(value(cx, item) for item in node.items), node.line)


def _size_of(cx: Context, node: SizeOf) -> Scalar:
    if isinstance(node.of, TypeName):
        bytes_ = size(resolve.type_of(cx, node.of, node.line))
    else:
        target = place(cx, node.of)
        if isinstance(target, LocalArray | SharedArray):
            inner = size(target.element)
            bytes_ = None if inner is None or target.count is None else inner * target.count
        elif isinstance(target, Slot) and target.extents:
            inner = size(target.array.element)
            bytes_ = None if inner is None else inner * math.prod(target.extents)
        else:
            type_ = access.place_type(target)
            bytes_ = None if type_ is None else size(type_)
    if bytes_ is None:
        raise Refusal(node.line, "the size of a type is not known")
    return number(bytes_, ULONG)


def _call(cx: Context, node: Call) -> Value:
    return calls.call(cx, node)


def _lambda(_: Context, node: Lambda) -> Value:
    raise Refusal(node.line, "a lambda is used as a value")


def _unread(_: Context, node: Unread) -> Value:
    raise Refusal(node.line, f"not understood ({node.reason}): {node.text}")


_VALUES: dict[type, Callable[..., Value]] = {
    Literal: _literal,
    Name: _loaded,
    Subscript: _loaded,
    Member: _loaded,
    Unary: _unary,
    Update: _update,
    Assign: _assign,
    Binary: _binary,
    Choice: choice,
    Cast: _cast,
    Braces: _braces,
    SizeOf: _size_of,
    Call: _call,
    Lambda: _lambda,
    Unread: _unread,
}

__all__ = [
    "acts", "add", "address_of", "aggregate", "cast", "choice", "choose", "computed", "constant", "field", "frozen",
    "known_part", "listed", "operate", "place", "pointee", "scalar", "truth", "value",
]  # fmt: skip
