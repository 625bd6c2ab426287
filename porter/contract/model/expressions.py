"""Evaluates expressions over symbols, of which shapes, launches, scalars and conditions of a contract are made.

Integers divide as in C (towards zero) with `/`, downwards with `//`. Known functions: `cdiv min max abs pow2ceil` and
the mathematical functions of scalars (`sqrt exp log`). Nothing is ever handed to `eval`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache, partial

from porter.contract.model.parser import parse
from porter.contract.model.syntax import (
    TYPE_BYTES,
    Binary,
    Braces,
    Call,
    Cast,
    Choice,
    ExpressionError,
    Member,
    Name,
    Node,
    Number,
    Subscript,
    Text,
    Unary,
)
from porter.source.qualified import unqualified

_MAX_BITS = 4096
_Meaning = Callable[[Mapping[str, int]], int | float]


def evaluate(text: str, symbols: Mapping[str, int]) -> int:
    """Returns the integer `text` stands for. Raises `ExpressionError` for unknown names, division by 0, fractions."""
    result = number(text, symbols)
    if isinstance(result, float):
        if not result.is_integer():
            raise ExpressionError(f"'{text}' is {result}, not an integer")
        return int(result)
    return result


def number(text: str, symbols: Mapping[str, int]) -> int | float:
    """Returns the number `text` stands for: a literal such as `1e-5`, or an expression over `symbols`."""
    return _parsed_meaning(text)(symbols)


def holds(text: str, symbols: Mapping[str, int]) -> bool:
    """Returns whether the condition `text` is true."""
    return number(text, symbols) != 0


@lru_cache(maxsize=4096)
def parsed(text: str) -> Node:
    """Returns `text` as a tree. Raises `ExpressionError` where it is no expression."""
    return parse(text)


@lru_cache(maxsize=4096)
def names_in(text: str) -> frozenset[str]:
    """Returns the names in `text`, without those of functions it calls."""
    return free_names(parsed(text))


def last_factor(text: str, apart: frozenset[str] = frozenset()) -> frozenset[str]:
    """Returns the names in the last factor that has any: `C` of `B * T * C` and of `B * C * 2`.

    A factor of names that are `apart` is the last only where there is no other.
    """
    node = parsed(text)
    while isinstance(node, Binary) and node.operator == "*":
        left, right = free_names(node.left), free_names(node.right)
        node = node.right if right and not (right <= apart and left - apart) else node.left
    return free_names(node)


def product_of_names(text: str) -> tuple[str, ...]:
    """Returns the factors of a product of names only, `B`, `C` and `C` of `B * C * C`; none of any other expression."""
    pending, names = [parsed(text)], list[str]()
    while pending:
        match pending.pop():
            case Binary("*", left, right):
                pending += [left, right]
            case Name(name):
                names.append(name)
            case _:
                return ()
    return tuple(names)


def free_names(node: Node) -> frozenset[str]:
    """Returns the names in `node`, without callees."""
    if isinstance(node, Name):
        return frozenset({node.name})
    found: frozenset[str] = frozenset()
    for child in children(node):
        found |= free_names(child)
    return found


def children(node: Node) -> tuple[Node, ...]:
    """Returns the operands of `node`; the callee of a plain call is a function's name and not an operand."""
    match node:
        case Number() | Text() | Name():
            return ()
        case Unary(_, operand) | Cast(_, operand) | Member(operand, _):
            return (operand,)
        case Binary(_, left, right):
            return (left, right)
        case Choice(condition, yes, no):
            return (condition, yes, no)
        case Subscript(owner, index):
            return (owner, index)
        case Call(callee, arguments):
            return arguments if isinstance(callee, Name) else (callee, *arguments)
        case Braces(items):
            return items


def value(node: Node, symbols: Mapping[str, int]) -> int | float:
    """Returns the number of `node`. Raises `ExpressionError` for a name not in `symbols`, and if it has no number."""
    return _meaning(node)(symbols)


@lru_cache(maxsize=4096)
def _parsed_meaning(text: str) -> _Meaning:
    return _meaning(parsed(text))


def _meaning(node: Node) -> _Meaning:
    """Returns the function from symbols to the number of `node`: a search for sizes asks for it thousands of times."""
    match node:
        case Number(literal):
            return lambda _: literal
        case Name(name):
            return partial(_looked_up, name)
        case Unary(operator, operand):
            return _of_one(partial(_unary, operator), _meaning(operand))
        case Binary("&&", left, right):
            return _both(_meaning(left), _meaning(right))
        case Binary("||", left, right):
            return _either(_meaning(left), _meaning(right))
        case Binary(operator, left, right):
            return _of_two(operator, _meaning(left), _meaning(right))
        case Choice(condition, yes, no):
            return _chosen(_meaning(condition), _meaning(yes), _meaning(no))
        case Cast(type_, operand):
            return _of_one(partial(_cast, type_), _meaning(operand))
        case Call(Name("sizeof"), (Text(type_),)):
            return lambda _: type_bytes(type_)
        case Call(Name(name), arguments):
            return _called(name, [_meaning(a) for a in arguments])
        case _:
            return partial(_no_number, node)


def _looked_up(name: str, symbols: Mapping[str, int]) -> int:
    if name not in symbols:
        raise ExpressionError(f"'{name}' is not a symbol", f"the symbols are {', '.join(sorted(symbols))}")
    return symbols[name]


def _no_number(node: Node, _: Mapping[str, int]) -> int:
    raise ExpressionError(f"'{render(node)}' is not a number")


def _of_one(operation: Callable[[int | float], int | float], operand: _Meaning) -> _Meaning:
    return lambda symbols: operation(operand(symbols))


def _of_two(operator: str, left: _Meaning, right: _Meaning) -> _Meaning:
    return lambda symbols: _binary(operator, left(symbols), right(symbols))


def _both(left: _Meaning, right: _Meaning) -> _Meaning:
    return lambda symbols: int(left(symbols) != 0 and right(symbols) != 0)


def _either(left: _Meaning, right: _Meaning) -> _Meaning:
    return lambda symbols: int(left(symbols) != 0 or right(symbols) != 0)


def _chosen(condition: _Meaning, yes: _Meaning, no: _Meaning) -> _Meaning:
    return lambda symbols: (yes if condition(symbols) else no)(symbols)


def _called(name: str, arguments: list[_Meaning]) -> _Meaning:
    return lambda symbols: _call(name, [argument(symbols) for argument in arguments])


def _unary(operator: str, operand: int | float) -> int | float:
    if operator == "-":
        return -operand
    if operator == "!":
        return int(operand == 0)
    if operator == "~" and isinstance(operand, int):
        return ~operand
    raise ExpressionError(f"the operator '{operator}' has no meaning on {operand}")


def _binary(operator: str, left: int | float, right: int | float) -> int | float:
    if operator in ("/", "//", "%") and right == 0:
        raise ExpressionError(f"division by zero in '{left} {operator} {right}'")
    if operator in _ARITHMETIC:
        result = _ARITHMETIC[operator](left, right)
    elif isinstance(left, int) and isinstance(right, int) and operator in _INTEGER:
        if operator in ("<<", ">>") and not 0 <= right < 64:
            raise ExpressionError(f"the shift '{left} {operator} {right}' leaves 64 bits")
        result = _INTEGER[operator](left, right)
    else:
        raise ExpressionError(f"the operator '{operator}' has no meaning on {left} and {right}")
    if isinstance(result, int) and result.bit_length() > _MAX_BITS:
        raise ExpressionError("the value is too large")
    return result


def _divide(left: int | float, right: int | float) -> int | float:
    if isinstance(left, float) or isinstance(right, float):
        return left / right
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _remainder(left: int | float, right: int | float) -> int | float:
    if isinstance(left, float) or isinstance(right, float):
        return math.fmod(left, right)
    return left - right * int(_divide(left, right))


_ARITHMETIC: dict[str, Callable[[int | float, int | float], int | float]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _divide,
    "//": lambda a, b: a // b,
    "%": _remainder,
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b),
    ">=": lambda a, b: int(a >= b),
}
_INTEGER: dict[str, Callable[[int, int], int]] = {
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}


def _cast(type_: str, operand: int | float) -> int | float:
    if not any(word in type_ for word in ("float", "double", "half")):
        return int(operand)
    try:
        return float(operand)
    except OverflowError as error:
        raise ExpressionError(f"a number of {int(operand).bit_length()} bits is no {type_}") from error


def type_bytes(type_: str) -> int:
    """Returns `sizeof(type_)`; a pointer has 8. Raises `ExpressionError` for a type that is not built in."""
    if type_.rstrip().endswith("*"):
        return 8
    words = [unqualified(w) for w in type_.split() if w not in ("const", "volatile")]
    if not words or any(w not in TYPE_BYTES for w in words):
        raise ExpressionError(f"the size of '{type_}' is not known")
    narrow = [w for w in words if w not in ("unsigned", "signed", "int")]
    return TYPE_BYTES[narrow[0] if narrow else words[0]]


def _cdiv(a: int | float, b: int | float) -> int | float:
    if b == 0:
        raise ExpressionError(f"division by zero in 'cdiv({a}, {b})'")
    return -(-a // b)


def _pow2ceil(a: int | float) -> int:
    return 1 << max(0, math.ceil(a) - 1).bit_length()


_FUNCTIONS: dict[str, tuple[int, Callable[..., int | float]]] = {
    "cdiv": (2, _cdiv),
    "min": (2, min),
    "max": (2, max),
    "abs": (1, abs),
    "pow2ceil": (1, _pow2ceil),
    "ceil": (1, lambda a: float(math.ceil(a))),
    "floor": (1, lambda a: float(math.floor(a))),
    "sqrt": (1, math.sqrt),
    "rsqrt": (1, lambda a: 1.0 / math.sqrt(a)),
    "exp": (1, math.exp),
    "log": (1, math.log),
    "log2": (1, math.log2),
}
_ALIASES = {"sqrtf": "sqrt", "rsqrtf": "rsqrt", "ceilf": "ceil", "floorf": "floor", "fmax": "max", "fmin": "min"}


def function_name(name: str) -> str:
    """Returns the name of a function in contracts: `std::max` is `max`; empty when there is none."""
    short = unqualified(name)
    short = _ALIASES.get(short, short)
    return short if short in _FUNCTIONS else ""


def _call(name: str, arguments: list[int | float]) -> int | float:
    known = function_name(name)
    if not known:
        raise ExpressionError(f"'{name}' is not a function", f"the known ones are {', '.join(sorted(_FUNCTIONS))}")
    arity, function = _FUNCTIONS[known]
    if len(arguments) != arity:
        raise ExpressionError(f"'{known}' takes {arity} arguments, not {len(arguments)}")
    try:
        return function(*arguments)
    except (ValueError, ZeroDivisionError, OverflowError) as error:
        raise ExpressionError(f"'{known}({', '.join(map(str, arguments))})' has no value: {error}") from error


_LEVEL = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, "<=": 7, ">": 7, ">=": 7,
    "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "//": 10, "%": 10,
}  # fmt: skip
_TIGHTEST = 12


def render(node: Node, floor: int = 0) -> str:
    """Returns `node` as text, with no more parentheses than it needs."""
    match node:
        case Number(literal):
            return repr(literal)
        case Text(text):
            return f'"{text}"'
        case Name(name, template):
            return f"{name}<{template}>" if template else name
        case Unary(operator, operand):
            return _bracket(f"{operator}{render(operand, _TIGHTEST)}", 11, floor)
        case Binary(operator, left, right):
            level = _LEVEL[operator]
            return _bracket(f"{render(left, level)} {operator} {render(right, level + 1)}", level, floor)
        case Choice(condition, yes, no):
            return _bracket(f"{render(condition, 1)} ? {render(yes, 1)} : {render(no, 1)}", 0, floor)
        case Cast(type_, operand):
            return _bracket(f"({type_}){render(operand, _TIGHTEST)}", 11, floor)
        case Member(owner, name, template):
            return f"{render(owner, _TIGHTEST)}.{name}" + (f"<{template}>" if template else "")
        case Subscript(owner, index):
            return f"{render(owner, _TIGHTEST)}[{render(index)}]"
        case Call(callee, arguments):
            return f"{render(callee, _TIGHTEST)}({', '.join(render(a) for a in arguments)})"
        case Braces(items):
            return f"{{{', '.join(render(i) for i in items)}}}"


def _bracket(text: str, level: int, floor: int) -> str:
    return f"({text})" if level < floor else text
