"""What the numbers of a vector end in: a store of neighbours, or a sum or an extreme of them all.

A sum of four floats is added in another order then, as it is where several turns of a loop are done at a time.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from porter.python_tree import expression_tree
from porter_triton.device.helper_calls import GIVEN
from porter_triton.lower.context import Context
from porter_triton.lower.emit import Line
from porter_triton.lower.gathering import called, chosen
from porter_triton.lower.types import Arithmetic

ACCESS = re.compile(r"(load|store)([248])\(")
_WIDTHS = (8, 4, 2)
_EXTREMES = {"maximum": "max", "minimum": "min"}
_LEAST_BITS = 32  # of what is added up: fewer would show in which order
_TERM = "\0"


@dataclass(frozen=True, slots=True)
class End:
    """The statements at the places `key`, which become one in place of the last; `written` is its text for a row's.

    `texts` are of each number, and stand in the statements `readers`; `frame` is what is around each of several.
    """

    key: tuple[int, ...]
    readers: tuple[int, ...]
    texts: Sequence[str]
    written: Callable[[str], str]
    frame: str = ""


def ends(cx: Context, lines: Mapping[int, Line]) -> Iterator[End]:
    """All that statements may be the end of, wider ones first."""
    for at, line in lines.items():
        access = ACCESS.match(line.text)
        if access is not None and access[1] == "store":
            yield _store(cx, at, line.text, int(access[2]))
    summing = {at: line for at, line in lines.items() if _is_wide(line)}
    for at, line in summing.items():
        yield from _folds(at, line.text)
    by_target = sorted(summing.items(), key=lambda item: (item[1].target, item[0]))
    for _, same in groupby(by_target, key=lambda item: item[1].target):
        yield from _turns(list(same))


def arguments(text: str) -> list[str]:
    """The texts of a call's arguments, with the names of those that have one."""
    call = expression_tree(text)
    assert isinstance(call, ast.Call)
    return [_text(text, node) for node in call.args] + [f"{k.arg}={_text(text, k.value)}" for k in call.keywords]


def tile_helper(cx: Context, name: str, further: list[str]) -> str:
    """The helper called `name`, which takes a mask and whether elements lie loose, if `further` has them."""
    loose = [text for text in further if text.startswith("loose=")]
    mask = "None" if len(further) == len(loose) else GIVEN
    return cx.helper(name, mask=mask, loose=str(bool(loose)))


def _store(cx: Context, at: int, text: str, width: int) -> End:
    pointer, *rest = arguments(text)

    def written(row: str) -> str:
        return f"{tile_helper(cx, 'store_tile', rest[width:])}({', '.join([pointer, row, *rest[width:]])})"

    return End((at,), (at,) * width, rest[:width], written)


def _is_wide(line: Line) -> bool:
    kind = line.value
    return kind is not None and isinstance(kind.type, Arithmetic) and kind.type.bits >= _LEAST_BITS


def _folds(at: int, text: str) -> Iterator[End]:
    """Neighbours in a sum, or among the arguments of an extreme, of one statement."""
    for node in _chains(expression_tree(text)):
        operation = _operation(node)
        leaves = list(_leaves(node, operation))
        for width in _WIDTHS:
            for first in range(len(leaves) - width + 1):
                window = leaves[first : first + width]

                def written(
                    row: str, node: ast.expr = node, operation: str = operation, first: int = first, width: int = width
                ) -> str:
                    whole = [_inside(text, leaf) for leaf in _leaves(node, operation)]
                    whole[first : first + width] = [f"tl.{operation}({row}, axis=1)"]
                    return _with(text, node, _joined(operation, whole), closed=len(whole) == 1)

                yield End((at,), (at,) * width, [_text(text, leaf) for leaf in window], written)


def _chains(node: ast.expr) -> Iterator[ast.expr]:
    """Sums and extremes whose type is that of the whole."""
    operation = _operation(node)
    if operation:
        yield node
    inner: Sequence[ast.expr] = list(_leaves(node, operation)) if operation else ()
    match node:
        case ast.Call(args=[_, *sides]) if called(node) == "where":
            inner = sides
        case ast.BinOp(left=left, right=right) if not operation:
            inner = left, right
        case ast.UnaryOp(operand=operand):
            inner = (operand,)
    for part in inner:
        yield from _chains(part)


def _operation(node: ast.expr) -> str:
    match node:
        case ast.BinOp(op=ast.Add()):
            return "sum"
        case ast.Call(args=[_, _], keywords=[]):
            return _EXTREMES.get(called(node), "")
    return ""


def _leaves(node: ast.expr, operation: str) -> Iterator[ast.expr]:
    if _operation(node) != operation:
        yield node
        return
    for part in _sides(node):
        yield from _leaves(part, operation)


def _sides(node: ast.expr) -> list[ast.expr]:
    assert isinstance(node, ast.BinOp | ast.Call)
    return [node.left, node.right] if isinstance(node, ast.BinOp) else node.args


def _joined(operation: str, parts: Sequence[str]) -> str:
    if operation == "sum":
        return " + ".join(parts)
    first, *others = parts
    for other in others:
        first = f"tl.{operation}imum({first}, {other})"
    return first


def _inside(text: str, node: ast.expr) -> str:
    """The text of a part of a sum."""
    closed = not isinstance(node, ast.BinOp | ast.Compare) or (
        isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div | ast.FloorDiv | ast.Mod)
    )
    return _text(text, node) if closed else f"({_text(text, node)})"


def _turns(same: Sequence[tuple[int, Line]]) -> Iterator[End]:
    """Statements one after the other that add to one name, or compare with it: a number each, or as many."""
    found = [(at, taken) for at, line in same if (taken := _accumulated(line)) is not None]
    for width in _WIDTHS:
        for first in range(len(found)):
            (_, (operation, frame, terms)) = found[first]
            window = found[first : first + width // len(terms)]
            if len(window) < 2 or len(window) * len(terms) != width:
                continue
            if {(o, f, len(leaves)) for _, (o, f, leaves) in window} != {(operation, frame, len(terms))}:
                continue

            def written(row: str, operation: str = operation, frame: str = frame) -> str:
                return frame.replace(_TERM, f"tl.{operation}({row}, axis=1)")

            key = tuple(at for at, _ in window)
            readers = tuple(at for at in key for _ in terms)
            yield End(key, readers, [leaf for _, (_, _, leaves) in window for leaf in leaves], written, frame)


def _accumulated(line: Line) -> tuple[str, str, list[str]] | None:
    """Returns what a statement does to its target: the operation, its text without the term, and the parts of the
    term.
    """
    whole = expression_tree(line.text)
    mask, value = chosen(line) or ("", whole)
    operation = _operation(value)
    if not operation:
        return None
    terms = [side for side in _sides(value) if not (isinstance(side, ast.Name) and side.id == line.target)]
    reads = sum(isinstance(node, ast.Name) and node.id == line.target for node in ast.walk(whole))
    if len(terms) != 1 or reads != 1 + bool(mask):
        return None
    term = _under_mask(terms[0], operation)
    return (
        operation,
        _with(line.text, term, _TERM, closed=True),
        [_text(line.text, leaf) for leaf in _leaves(term, operation)],
    )


def _under_mask(term: ast.expr, operation: str) -> ast.expr:
    """The sum within `tl.where(mask, ... + ..., 0.0)`."""
    match term:
        case ast.Call(args=[_, inner, ast.Constant(value=0)]) if called(term) == "where" and operation == "sum":
            return inner if _operation(inner) == operation else term
    return term


def _with(text: str, node: ast.expr, other: str, *, closed: bool) -> str:
    """A text with another one in the place of a part; one that is `closed` needs no brackets."""
    begin, end = node.col_offset, node.end_col_offset or 0
    if closed and text[:begin].endswith((" (", "((")) and text[end:].startswith(")"):
        begin, end = begin - 1, end + 1
    return text[:begin] + other + text[end:]


def _text(text: str, node: ast.expr) -> str:
    return ast.get_source_segment(text, node) or ""
