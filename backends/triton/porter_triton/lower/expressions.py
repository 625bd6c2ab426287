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
from porter_triton.lower import access, calls, choices, conditions, lvalues, objects, operators, resolve, sums
from porter_triton.lower.arithmetic import binary, complement, negative
from porter_triton.lower.assigned import changes
from porter_triton.lower.context import Context
from porter_triton.lower.conversions import condition, convert
from porter_triton.lower.emit import Suite
from porter_triton.lower.places import LocalArray, Place, SharedArray, Slot, Variable
from porter_triton.lower.types import BUILT_IN, INT, LONG, ULONG, Arithmetic, size
from porter_triton.lower.values import Address, Fields, Nothing, Scalar, Value, negation, number
from porter_triton.refusal import Refusal


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
    return access.load(cx, lvalues.place(cx, node), node.line)


def _unary(cx: Context, node: Unary) -> Value:
    if node.operator == "*":
        return access.load(cx, lvalues.place(cx, node), node.line)
    if node.operator == "&":
        return address(cx, node.operand, node.line)
    operand = operators.computed(value(cx, node.operand), node.line)
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
    found = lvalues.address_of(lvalues.place(cx, node), line)
    return replace(found, fields=lvalues.fields_from(cx, node)) if isinstance(found, Address) else found


def _update(cx: Context, node: Update) -> Value:
    target = lvalues.place(cx, node.operand)
    before = access.load(cx, target, node.line)
    if isinstance(before, Scalar) and not node.prefix and before.constant is None:
        before = cx.temporary(before, "old")
    after = operators.add(node.operator[0], before, number(1), node.line)
    access.store(cx, target, after, node.line)
    return access.load(cx, target, node.line) if node.prefix else before


def _assign(cx: Context, node: Assign) -> Value:
    if not node.operator:
        given = objects.converted_braces(cx, node)
        target = lvalues.place(cx, node.target)
        access.store(cx, target, given, node.line)
        return given if not isinstance(given, Scalar) else _as_stored(target, given, node.line)
    right = value(cx, node.value)
    target = lvalues.place(cx, node.target)
    if calls.compound(cx, node.operator, target, right, node.line):
        return access.load(cx, target, node.line)
    if sums.add(cx, node.operator, target, right, node.line):
        return access.load(cx, target, node.line)
    left = access.load(cx, target, node.line)
    result = operators.operate(cx, node.operator, left, right, node.line)
    with sums.adding(cx, node.operator, target, right):
        access.store(cx, target, result, node.line)
    return result if not isinstance(result, Scalar) else _as_stored(target, result, node.line)


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
        return conditions.short_circuit(cx, node)
    left = value(cx, node.left)
    if isinstance(left, Scalar) and changes(cx.unit, node.right):
        left = access.frozen(cx, left)
    return operators.operate(cx, node.operator, left, value(cx, node.right), node.line)


def _cast(cx: Context, node: Cast) -> Value:
    type_ = resolve.type_of(cx, node.type, node.line) if node.type.name != "void" or node.type.pointers else None
    operand = value(cx, node.operand)
    if type_ is None:
        return Nothing()
    return objects.cast(cx, operand, type_, node.line)


def _size_of(cx: Context, node: SizeOf) -> Scalar:
    if isinstance(node.of, TypeName):
        bytes_ = size(resolve.type_of(cx, node.of, node.line))
    else:
        bytes_ = _size_of_place(lvalues.place(cx, node.of))
    if bytes_ is None:
        raise Refusal(node.line, "the size of a type is not known")
    return number(bytes_, ULONG)


def _size_of_place(target: Place) -> int | None:
    if isinstance(target, LocalArray | SharedArray):
        inner = size(target.element)
        return None if inner is None or target.count is None else inner * target.count
    if isinstance(target, Slot) and target.extents:
        inner = size(target.array.element)
        return None if inner is None else inner * math.prod(target.extents)
    type_ = access.place_type(target)
    return None if type_ is None else size(type_)


def _choice(cx: Context, node: Choice) -> Value:
    return choices.choice(cx, node)


def _braces(cx: Context, node: Braces) -> Value:
    return objects.braces(cx, node)


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
    Choice: _choice,
    Cast: _cast,
    Braces: _braces,
    SizeOf: _size_of,
    Call: _call,
    Lambda: _lambda,
    Unread: _unread,
}
