"""The single changes that can be made to the device functions and the launches of a C++ port.

Left alone are extents of arrays, arguments of templates and hexadecimal constants, of which most changes do not build,
and the grids of kernels that ask for `gridDim`, since those stride over the whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from tree_sitter import Node

from benchmarks.mutation.mutation import Kind, Mutation
from porter.source.parse import parse
from porter.source_text import Source
from porter.warp.tree import functions_of, root_of

_OPERATORS = {
    "+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "&": "|", "|": "&", "^": "|", "<<": ">>", ">>": "<<",
    "&&": "||", "||": "&&", "+=": "-=", "-=": "+=", "*=": "+=", "/=": "*=", ">>=": "<<=", "<<=": ">>=",
    "|=": "&=", "&=": "|=",
}  # fmt: skip
_COMPARISONS = {"<": ("<=", ">"), "<=": ("<", ">"), ">": (">=", "<"), ">=": (">", "<"), "==": ("!=",), "!=": ("==",)}
_EXTREMA = {
    "fmaxf": "fminf", "fminf": "fmaxf", "fmax": "fmin", "fmin": "fmax", "max": "min", "min": "max",
    "__hmax": "__hmin", "__hmin": "__hmax", "atomicMax": "atomicMin", "atomicMin": "atomicMax",
}  # fmt: skip
_DECIMAL = re.compile(r"(?P<minus>-?)(?P<digits>\d+\.\d*(?:e[+-]?\d+)?|\.\d+|\d+e[+-]?\d+|\d+)(?P<suffix>[fFuUlL]*)\Z")
_PLAIN = re.compile(r"(?!.*\bdim3\b)[\w\s+/*().>-]+")  # a grid of one dimension, as far as its text tells
_MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(?P<name>\w+)(?P<body>(?:[^\n\\]|\\.)*)", re.M | re.S)
_SKIPPED = frozenset(
    ("array_declarator", "template_argument_list", "template_parameter_list", "preproc_call", "sizeof_expression",
     "static_assert_declaration", "alignas_qualifier")
)  # fmt: skip


def mutations(text: str) -> tuple[Mutation, ...]:
    """Every single change of the source `text`, in the order of their places."""
    device = [function for function in functions_of(root_of(text), text) if function.is_device]
    found = [mutation for function in device for mutation in _in_body(function.node, text)]
    striding = frozenset(f.name for f in device if _strides(_text(f.node, text), text))
    return tuple(sorted({*found, *_launches(text, striding)}))


def _strides(function: str, text: str) -> bool:
    """Returns whether the function, or a macro that it names, asks how many blocks there are."""
    macros = (m["name"] for m in _MACRO.finditer(text) if "gridDim" in m["body"])
    return "gridDim" in function or any(re.search(rf"\b{name}\b", function) for name in macros)


def _in_body(function: Node, text: str) -> Iterator[Mutation]:
    body = function.child_by_field_name("body")
    if body is not None and not body.has_error:
        for node in _reached(body):
            yield from _of_node(node, text)


def _reached(node: Node) -> Iterator[Node]:
    """The nodes below, without what is left alone."""
    for child in node.named_children:
        if child.type not in _SKIPPED:
            yield child
            yield from _reached(child)


def _of_node(node: Node, text: str) -> Iterator[Mutation]:
    match node.type:
        case "binary_expression" | "assignment_expression":
            yield from _operator(node)
        case "unary_expression":
            yield from _sign(node, text)
        case "number_literal":
            yield from _constant(node, text)
        case "call_expression":
            yield from _call(node, text)
        case "subscript_expression":
            yield from _index(node, text)
        case "for_statement":
            yield from _bound(node, text)
        case "expression_statement":
            yield Mutation(node.start_byte, node.end_byte, ";", Kind.REMOVED)
        case "if_statement":
            yield from _branch(node)
        case "conditional_expression":
            yield from _exchange(node.child_by_field_name("consequence"), node.child_by_field_name("alternative"), text)


def _text(node: Node, text: str) -> str:
    return text[node.start_byte : node.end_byte]


def _operator(node: Node) -> Iterator[Mutation]:
    sign = node.child_by_field_name("operator")
    word = sign.type if sign is not None else ""
    if sign is None:
        return
    if word in _OPERATORS:
        yield Mutation(sign.start_byte, sign.end_byte, _OPERATORS[word], Kind.OPERATOR)
    for other in _COMPARISONS.get(word, ()):
        yield Mutation(sign.start_byte, sign.end_byte, other, Kind.COMPARISON)


def _sign(node: Node, text: str) -> Iterator[Mutation]:
    operand, sign = node.child_by_field_name("argument"), node.child_by_field_name("operator")
    if operand is not None and sign is not None and sign.type in ("-", "!", "~"):
        yield Mutation(node.start_byte, node.end_byte, f"({_text(operand, text)})", Kind.SIGN)


def _constant(node: Node, text: str) -> Iterator[Mutation]:
    number = _DECIMAL.match(_text(node, text))
    if number is None:
        return
    digits, suffix = number["digits"], number["suffix"]
    is_whole = digits.isdigit() and "f" not in suffix.lower()
    value = float(digits)
    if value and (number["minus"] or not is_whole):
        opposite = _text(node, text)[1:] if number["minus"] else f"-{_text(node, text)}"
        yield Mutation(node.start_byte, node.end_byte, f"({opposite})", Kind.SIGN)
    for other in _others(value, is_whole=is_whole):
        signed = -other if number["minus"] else other
        literal = f"{int(signed) if is_whole else signed}{suffix}"
        yield Mutation(node.start_byte, node.end_byte, f"({literal})" if signed < 0 else literal, Kind.CONSTANT)


def _others(value: float, *, is_whole: bool) -> Iterator[float]:
    """Yields what a constant is mistaken for."""
    yield value + 1
    if is_whole:
        yield value - 1
    if value > 1 or (value and not is_whole):
        yield 2 * value


def _call(node: Node, text: str) -> Iterator[Mutation]:
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if function is None or arguments is None:
        return
    name = _text(function, text).removeprefix("std::")
    if name in _EXTREMA:
        yield Mutation(function.end_byte - len(name), function.end_byte, _EXTREMA[name], Kind.EXTREMUM)
        return
    for a, b in pairwise(arguments.named_children):
        if a.type == b.type == "identifier":
            yield from _exchange(a, b, text)


def _exchange(a: Node | None, b: Node | None, text: str) -> Iterator[Mutation]:
    """Two neighbours change places."""
    if a is None or b is None or _text(a, text) == _text(b, text):
        return
    between = text[a.end_byte : b.start_byte]
    yield Mutation(a.start_byte, b.end_byte, f"{_text(b, text)}{between}{_text(a, text)}", Kind.SWAPPED)


def _index(node: Node, text: str) -> Iterator[Mutation]:
    """Another element is read or written: a term of the index is left out, or one added."""
    indices = node.child_by_field_name("indices")
    for index in indices.named_children if indices is not None else ():
        yield Mutation(index.start_byte, index.end_byte, f"{_text(index, text)} + 1", Kind.INDEX)
        for term in (index, *_reached(index)):
            left, sign = term.child_by_field_name("left"), term.child_by_field_name("operator")
            if left is not None and sign is not None and sign.type == "+":
                yield Mutation(term.start_byte, term.end_byte, f"({_text(left, text)})", Kind.INDEX)


def _bound(node: Node, text: str) -> Iterator[Mutation]:
    """A loop ends one iteration early, where its condition is a comparison."""
    condition = node.child_by_field_name("condition")
    right = condition.child_by_field_name("right") if condition is not None else None
    if condition is not None and condition.type == "binary_expression" and right is not None:
        yield Mutation(right.start_byte, right.end_byte, f"({_text(right, text)}) - 1", Kind.BOUND)


def _branch(node: Node) -> Iterator[Mutation]:
    """A branch that is never taken."""
    condition = node.child_by_field_name("condition")
    if condition is not None and condition.type == "condition_clause":
        yield Mutation(condition.start_byte, condition.end_byte, "(false)", Kind.REMOVED)


def _launches(text: str, striding: frozenset[str]) -> Iterator[Mutation]:
    """A block too few, of a launch that has more than one in one dimension."""
    several = frozenset(re.findall(r"\bdim3\s+(\w+)", text))
    for launch in parse(Source(Path("port.cu"), text)).launches:
        start, end = launch.grid.span.start, launch.grid.span.end
        grid = text[start:end]
        if launch.kernel not in striding and grid not in several and _PLAIN.fullmatch(grid):
            fewer = f"std::max<long long>(1, static_cast<long long>({grid}) - 1)"
            yield Mutation(start, end, fewer, Kind.GRID)
