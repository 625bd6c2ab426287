"""Finds what is known of an expression: how it depends on the thread's place in its warp, its value where constant."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Flag, auto

from tree_sitter import Node

WARP_LANES = 32
WARP_SHIFT = 5


class Fact(Flag):
    """The origins of a value; a value may have several."""

    NONE = 0
    VARIES = auto()  # may differ between threads
    THREAD = auto()  # an index of the thread: threadIdx and sums and multiples of it
    LANE = auto()  # a thread's place among 32
    WARP = auto()  # which group of 32 the thread is in
    LANES = auto()  # a set of lanes


INDEX = Fact.THREAD | Fact.LANE | Fact.WARP


@dataclass(frozen=True, slots=True)
class Value:
    """`constant` is None for what is not known to be one number."""

    facts: Fact = Fact.NONE
    constant: int | None = None

    def join(self, other: Value) -> Value:
        """Returns what holds of a variable that has been given both."""
        return Value(self.facts | other.facts, self.constant if self.constant == other.constant else None)


UNKNOWN = Value()
Environment = Mapping[str, Value]
Returned = Callable[[str], Fact]

_VARYING = Value(Fact.VARIES)
_LANE_SETS = frozenset({"__ballot_sync", "__ballot", "__activemask", "__match_any_sync", "__match_all_sync"})
_TRANSPARENT = frozenset({"min", "max", "static_cast", "int", "unsigned", "uint32_t", "int32_t", "size_t"})
_INTEGER = re.compile(r"(0[xX][0-9a-fA-F']+|0[bB][01']+|[0-9][0-9']*)[uUlL]*")
_FOLD: Mapping[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "<<": lambda a, b: a << min(b, 64),
    ">>": lambda a, b: a >> b,
}


def evaluate(node: Node | None, known: Environment, returned: Returned) -> Value:
    """Returns what is known of the expression `node`; `returned` gives the facts of a user's function by name."""
    if node is None:
        return UNKNOWN
    match node.type:
        case "number_literal":
            return Value(constant=_integer(_text(node)))
        case "identifier":
            return Value(constant=WARP_LANES) if _text(node) == "warpSize" else known.get(_text(node), UNKNOWN)
        case "field_expression":
            return _field(node, known, returned)
        case "binary_expression":
            return _binary(node, known, returned)
        case "call_expression":
            return _call(node, known, returned)
        case "subscript_expression":
            return _VARYING if any(evaluate(c, known, returned).facts for c in node.named_children) else UNKNOWN
        case "cast_expression":
            return evaluate(node.child_by_field_name("value"), known, returned)
        case "conditional_expression":
            return _choice(node, known, returned)
        case "argument_list" | "initializer_list":
            return _product(node.named_children, known, returned)
        case "assignment_expression":
            return evaluate(node.child_by_field_name("right"), known, returned)
        case _:
            return _joined(node.named_children, known, returned)


def warp_arithmetic(operator: str, left: Value, right: Value) -> Fact:
    """LANE or WARP where an index of the thread is taken modulo, or divided by, 32."""
    if not left.facts & Fact.THREAD or right.constant is None:
        return Fact.NONE
    if (operator, right.constant) in {("%", WARP_LANES), ("&", WARP_LANES - 1)}:
        return Fact.LANE
    if (operator, right.constant) in {("/", WARP_LANES), (">>", WARP_SHIFT)}:
        return Fact.WARP
    return Fact.NONE


def _text(node: Node) -> str:
    return node.text.decode() if node.text else ""


def _integer(literal: str) -> int | None:
    match = _INTEGER.fullmatch(literal)
    if match is None:
        return None
    digits = match.group(1).replace("'", "")
    octal = len(digits) > 1 and digits[0] == "0" and digits.isdigit()
    return int(digits, 8 if octal else 0) if not octal or set(digits) <= set("01234567") else None


def _joined(nodes: list[Node], known: Environment, returned: Returned) -> Value:
    """The facts of all `nodes`; the constant of a single one (parentheses)."""
    values = [evaluate(n, known, returned) for n in nodes if n.type != "comment"]
    facts = Fact.NONE
    for value in values:
        facts |= value.facts
    return Value(facts, values[0].constant if len(values) == 1 else None)


def _product(nodes: list[Node], known: Environment, returned: Returned) -> Value:
    """`dim3(a, b)`: how many threads it makes; `int n(a)` and `int n{a}` give a."""
    product = Value(constant=1)
    for value in (evaluate(n, known, returned) for n in nodes if n.type != "comment"):
        both = product.constant is not None and value.constant is not None
        constant = (product.constant or 0) * (value.constant or 0) if both else None
        product = Value(product.facts | value.facts, constant)
    return product


def _field(node: Node, known: Environment, returned: Returned) -> Value:
    owner = node.child_by_field_name("argument")
    if owner is not None and _text(owner) == "threadIdx":
        return Value(Fact.THREAD | Fact.VARIES)
    return _VARYING if evaluate(owner, known, returned).facts else UNKNOWN


def _binary(node: Node, known: Environment, returned: Returned) -> Value:
    left = evaluate(node.child_by_field_name("left"), known, returned)
    right = evaluate(node.child_by_field_name("right"), known, returned)
    sign = node.child_by_field_name("operator")
    operator = _text(sign) if sign is not None else ""
    if left.constant is not None and right.constant is not None:
        return Value(constant=_folded(operator, left.constant, right.constant))
    if place := warp_arithmetic(operator, left, right):
        return Value(place | Fact.VARIES)
    facts = left.facts | right.facts
    if operator in {"/", "%", "&", ">>", "|", "^"}:
        facts &= Fact.VARIES | Fact.LANES | Fact.WARP
    return Value(facts)


def _folded(operator: str, left: int, right: int) -> int | None:
    if operator in {"/", "%"}:
        exact = right != 0 and left >= 0 and right > 0
        return (left // right if operator == "/" else left % right) if exact else None
    if operator == ">>" and right < 0:
        return None
    fold = _FOLD.get(operator)
    return fold(left, right) if fold and not (operator == "<<" and right < 0) else None


def _call(node: Node, known: Environment, returned: Returned) -> Value:
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    name = callee(function)
    if name in _LANE_SETS:
        return Value(Fact.LANES | Fact.VARIES)
    if name == "dim3":
        return _product(arguments.named_children if arguments else [], known, returned)
    given = _joined(arguments.named_children if arguments else [], known, returned)
    if name in _TRANSPARENT:
        return given
    return Value(returned(name) | (Fact.VARIES if given.facts or name.startswith("__shfl") else Fact.NONE))


def callee(function: Node | None) -> str:
    """The plain name of what is called: without namespace, object and template arguments."""
    if function is None:
        return ""
    if function.type in {"template_function", "qualified_identifier", "template_method"}:
        return callee(function.child_by_field_name("name"))
    if function.type == "field_expression":
        return callee(function.child_by_field_name("field"))
    return _text(function)


def _choice(node: Node, known: Environment, returned: Returned) -> Value:
    condition = evaluate(node.child_by_field_name("condition"), known, returned)
    yes = evaluate(node.child_by_field_name("consequence"), known, returned)
    no = evaluate(node.child_by_field_name("alternative"), known, returned)
    joined = yes.join(no)
    return Value(joined.facts | (condition.facts & Fact.VARIES), joined.constant)
