"""Lines that would be too long: a part gets a name of its own on the line before."""

from __future__ import annotations

import ast

from porter.python_tree import expression_tree
from porter_triton.lower.emit import Branch, Line, Loop, Node, Suite, suites_of
from porter_triton.lower.naming import Names, settled_length

_COLUMNS = 100
_LEAST = 12  # shorter parts are not worth a name


def shorten(suite: Suite, names: Names, indent: int = 4) -> None:
    """Bring the lines of a function's body within 100 columns."""
    nodes: list[Node] = []
    for node in suite.nodes:
        if isinstance(node, Line):
            head = settled_length(node.target) + 3 if node.target else 0
            nodes += _parts(node, names, _COLUMNS - indent - head)
        elif isinstance(node, Branch):
            condition = Line(node.condition)
            nodes += _parts(condition, names, _COLUMNS - indent - 4)
            nodes.pop()
            node.condition = condition.text
        elif isinstance(node, Loop) and node.variable:
            header = Line(node.header)
            nodes += _parts(header, names, _COLUMNS - indent - len(node.variable) - 9)
            nodes.pop()
            node.header = header.text
        for inner in suites_of(node):
            shorten(inner, names, indent + 4)
        if not isinstance(node, Line):
            nodes.append(node)
    suite.nodes = nodes


def _parts(line: Line, names: Names, room: int) -> list[Node]:
    """The line, made to fit into `room` by lines before it that compute parts of it."""
    before: list[Node] = []
    while settled_length(line.text) > room:
        part = _part(line.text, settled_length(line.text) - room)
        if part is None:
            break
        name = names.temporary("part")
        text = line.text[part[0] : part[1]]
        before += _parts(Line(text[1:-1] if part[2] else text, name), names, _COLUMNS - 16)
        line.text = line.text[: part[0]] + name + line.text[part[1] :]
    return [*before, line]


def _part(text: str, excess: int) -> tuple[int, int, bool] | None:
    """The smallest part whose removal is enough, else the largest there is; and whether it is in brackets."""
    tree = expression_tree(text)
    found: list[tuple[int, int, bool]] = []
    for node in ast.walk(tree):
        if node is not tree and isinstance(node, ast.Call | ast.BinOp | ast.Compare) and _is_value(text, node):
            start, end = node.col_offset, node.end_col_offset or 0
            bracketed = text[start - 1 : start] == "(" and text[end : end + 1] == ")" and _encloses(text, start)
            found.append((start - bracketed, end + bracketed, bracketed))
    candidates = [f for f in found if f[1] - f[0] >= _LEAST]
    enough = [f for f in candidates if f[1] - f[0] - 8 >= excess]
    if enough:
        return min(enough, key=lambda f: f[1] - f[0])
    return max(candidates, key=lambda f: f[1] - f[0], default=None)


def _is_value(text: str, node: ast.Call | ast.BinOp | ast.Compare) -> bool:
    """Returns whether the part is a value of its own: not a method's object, not `range(...)`."""
    start = node.col_offset
    is_range = text[start:].startswith(("range(", "tl.pointer_type(", "tl.arange("))
    return not is_range and "[" not in text[node.end_col_offset or 0 : (node.end_col_offset or 0) + 1]


def _encloses(text: str, start: int) -> bool:
    """Returns whether the brackets around a part are grouping ones, not a call's."""
    before = text[: start - 1].rstrip()
    return not before or not (before[-1].isalnum() or before[-1] in "_)]")
