"""Operators of host code in Python, with C's meaning."""

from __future__ import annotations

import operator as op
from collections.abc import Callable, Mapping
from dataclasses import replace

from porter.syntax.nodes import TypeName
from porter_triton.host.codes import (
    AND,
    BIT_AND,
    BIT_OR,
    BIT_XOR,
    COMPARE,
    NOT,
    OR,
    PRODUCT,
    SHIFT,
    SIGN,
    SUM,
    Code,
    Kind,
    integer,
    truth,
)

_BINDS = {
    "||": OR, "&&": AND, "==": COMPARE, "!=": COMPARE, "<": COMPARE, ">": COMPARE, "<=": COMPARE, ">=": COMPARE,
    "|": BIT_OR, "^": BIT_XOR, "&": BIT_AND, "<<": SHIFT, ">>": SHIFT, "+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT,
    "%": PRODUCT,
}  # fmt: skip
_WORDS = {"||": "or", "&&": "and"}
_FOLDS: Mapping[str, Callable[[int, int], int]] = {
    "+": op.add, "-": op.sub, "*": op.mul, "<<": op.lshift, ">>": op.rshift, "|": op.or_, "&": op.and_, "^": op.xor,
}  # fmt: skip
_COMPARES: Mapping[str, Callable[[float, float], bool]] = {
    "==": op.eq, "!=": op.ne, "<": op.lt, ">": op.gt, "<=": op.le, ">=": op.ge,
}  # fmt: skip
_FLOAT = TypeName("float")


def binary(symbol: str, left: Code, right: Code) -> Code:
    """Returns `left symbol right`."""
    if symbol in ("&&", "||"):
        return _logic(symbol, left, right)
    if Kind.ERROR in (left.kind, right.kind):
        if Kind.STRING in (left.kind, right.kind):  # a message, in which there is no name of an error
            return left if left.kind is Kind.STRING else right
        return truth(symbol == "==")
    binds = _BINDS[symbol]
    constant = _fold(symbol, left, right)
    if symbol in _COMPARES:
        if left.kind is right.kind is Kind.NOTHING:
            return truth(symbol == "==")
        if left.kind is Kind.NOTHING or right.kind is Kind.NOTHING:
            word = "is" if symbol == "==" else "is not"
            first, second = (right, left) if left.kind is Kind.NOTHING else (left, right)
            return Code(f"{first.within(binds + 1)} {word} {second.text}", Kind.BOOL, binds)
        text = f"{left.within(binds + 1)} {symbol} {right.within(binds + 1)}"
        return Code(text, Kind.BOOL, binds, constant, TypeName("bool"))
    if symbol == "/" and _whole(left, right):
        return _quotient(left, right, constant)
    kind = _common(left, right)
    text = f"{left.within(binds)} {symbol} {right.within(binds + 1)}"
    return Code(text, kind, binds, constant, _type(left, right, kind))


def _logic(symbol: str, left: Code, right: Code) -> Code:
    """Translates `and`, `or`; a side whose value is known decides or is dropped."""
    left, right = condition(left), condition(right)
    for known, other in ((left, right), (right, left)):
        if known.constant is not None:
            decides = bool(known.constant) == (symbol == "||")
            return truth(bool(known.constant)) if decides else other
    binds = _BINDS[symbol]
    return Code(f"{left.within(binds)} {_WORDS[symbol]} {right.within(binds)}", Kind.BOOL, binds)


def _whole(left: Code, right: Code) -> bool:
    return left.kind in (Kind.INT, Kind.BOOL) and right.kind in (Kind.INT, Kind.BOOL)


def _quotient(left: Code, right: Code, constant: int | float | bool | None) -> Code:
    """Translates C's integer division: a rounded-up one is `cdiv`; sizes are not negative, a difference may be."""
    rest = _rounded_up(left, right)
    if rest is not None and right.constant != 1:
        return Code(f"triton.cdiv({rest}, {right.text})", Kind.INT, constant=constant, ctype=left.ctype)
    if right.constant == 1:
        return Code(rest or left.text, Kind.INT, left.binds, constant, left.ctype)
    if " - " in left.text or left.text.startswith("-"):
        return Code(f"int({left.within(PRODUCT)} / {right.within(PRODUCT + 1)})", Kind.INT, constant=constant)
    text = f"{left.within(PRODUCT)} // {right.within(PRODUCT + 1)}"
    return Code(text, Kind.INT, PRODUCT, constant, left.ctype)


def _rounded_up(left: Code, right: Code) -> str | None:
    """Returns `n` of `n + right - 1`; None for any other dividend."""
    terms = left.parts if left.kind is Kind.INT and left.parts else (left,)
    rest = [t for t in terms if t.constant is None or t.text == right.text]
    known = sum(int(t.constant) for t in terms if t.constant is not None and t.text != right.text)
    if right.constant is not None and known == int(right.constant) - 1 and all(t.constant is None for t in rest):
        return _sum(rest)
    same = [t for t in rest if t.text == right.text]
    if len(same) == 1 and known == -1:
        return _sum([t for t in rest if t is not same[0]])
    if len(same) == 1 and right.constant is not None and known + int(right.constant) == int(right.constant) - 1:
        return _sum([t for t in rest if t is not same[0]])
    return None


def _sum(terms: list[Code]) -> str | None:
    """Returns the terms added up; None where there are none or one is subtracted."""
    if not terms or any(t.text.startswith("-") for t in terms):
        return None
    return " + ".join(t.within(SUM) for t in terms)


def _fold(symbol: str, left: Code, right: Code) -> int | float | bool | None:
    """Returns the value of an operation on constants."""
    a, b = left.constant, right.constant
    if a is None or b is None:
        return None
    if symbol in _COMPARES:
        return _COMPARES[symbol](a, b)
    if isinstance(a, float) or isinstance(b, float):
        floats: Mapping[str, Callable[[float, float], float]] = {"+": op.add, "-": op.sub, "*": op.mul}
        return floats[symbol](a, b) if symbol in floats else a / b if symbol == "/" and b else None
    if symbol in ("/", "%"):
        if not b:
            return None
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return quotient if symbol == "/" else a - quotient * b
    return _FOLDS[symbol](int(a), int(b))


def _common(left: Code, right: Code) -> Kind:
    for kind in (Kind.TENSOR, Kind.STRING, Kind.FLOAT):
        if kind in (left.kind, right.kind):
            return kind
    return Kind.INT if _whole(left, right) else Kind.OTHER


def _type(left: Code, right: Code, kind: Kind) -> TypeName | None:
    if kind is Kind.FLOAT:
        double = TypeName("double")
        return double if double in (left.ctype, right.ctype) else _FLOAT
    return left.ctype if left.constant is None else right.ctype


def added(symbol: str, left: Code, right: Code) -> Code:
    """Returns a sum or difference, which remembers its terms."""
    total = binary(symbol, left, right)
    if total.kind is not Kind.INT:
        return total
    first = left.parts or (left,)
    second = right.parts or (right,)
    if symbol == "-":
        second = tuple(negative(t) for t in second)
    return replace(total, parts=(*first, *second))


def negative(value: Code) -> Code:
    """Returns `-value`."""
    constant = None if value.constant is None else -value.constant
    if value.kind is Kind.INT and constant is not None and value.text.isdecimal():
        return integer(int(constant))
    return Code(f"-{value.within(SIGN)}", value.kind, SIGN, constant, value.ctype)


def condition(value: Code) -> Code:
    """Returns `value` where C++ asks for its truth: a pointer or an optional tensor is there or not."""
    if value.kind in (Kind.POINTER, Kind.TENSOR, Kind.KERNEL) or (value.kind is Kind.STRING and value.nullable):
        return Code(f"{value.within(COMPARE + 1)} is not None", Kind.BOOL, COMPARE)
    return value if value.kind is not Kind.NOTHING else truth(False)


def negation(value: Code) -> Code:
    """Returns `not value`."""
    value = condition(value)
    if value.constant is not None:
        return truth(not value.constant)
    for symbol, opposite in ((" == ", " != "), (" != ", " == "), (" is not ", " is "), (" is ", " is not ")):
        if value.binds == COMPARE and value.text.count(symbol) == 1:
            return replace(value, text=value.text.replace(symbol, opposite))
    return Code(f"not {value.within(NOT)}", Kind.BOOL, NOT)
