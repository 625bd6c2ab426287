"""What a reduction says needlessly: a limit that its values keep anyway, a mask outside of which they are zero.

The source has the one for lanes without a warp, lowering the other for blocks that are padded.
"""

from __future__ import annotations

import ast
import re
from abc import ABC, abstractmethod
from collections import defaultdict

from porter.python_tree import expression_tree
from porter_triton.lower.context import Context
from porter_triton.lower.emit import Suite, lines_of, names_in

_VALUE = r"(?:[^(),]|\(\"-?inf\"\))+"
_LIMITED = re.compile(
    rf"tl\.(max|min)imum\((tl\.\1\((\w+), axis=0\)), ((?:tl\.where\({_VALUE}, {_VALUE}, {_VALUE}\))|{_VALUE})\)"
)
_MASKED = re.compile(r"tl\.(max|min)\(tl\.where\((\w+), (\w+), float\(\"-?inf\"\)\), axis=0\)")
_ZEROED = re.compile(r"tl\.sum\(tl\.where\((\w+), (\w+), 0(?:\.0)?\), axis=0\)")
_SAME = frozenset({"by_thread", "broadcast_to", "reshape"})  # functions that keep the values of their first argument

_Texts = dict[str, list[str]]


def leave_out(cx: Context, suite: Suite) -> None:
    """Simplify the reductions of a function's body."""
    texts: _Texts = defaultdict(list)
    for line in lines_of(suite):
        texts[line.target].append(line.text)
    for line in lines_of(suite):
        for found in _ZEROED.finditer(line.text):
            if found[1] == cx.inside and _Outside(texts, cx.inside, 0.0).holds(found[2]):
                line.text = line.text.replace(found[0], f"tl.sum({found[2]}, axis=0)")
        for found in _MASKED.finditer(line.text):
            if found[2] == cx.inside and _kept_outside(texts, cx.inside, found[1], found[3]):
                line.text = line.text.replace(found[0], f"tl.{found[1]}({found[3]}, axis=0)")
        for found in _LIMITED.finditer(line.text):
            limits = _limits(_parsed(found[4]))
            if limits and all(_Beyond(texts, found[1], limit).holds(found[3]) for limit in limits):
                line.text = line.text.replace(found[0], found[2])


def _kept_outside(texts: _Texts, inside: str, operation: str, name: str) -> bool:
    """Returns whether threads that the block does not have keep what all began with, which nobody's value is below."""
    begun = [_number(node.args[1]) for text in texts[name] if _function(node := _parsed(text)) == "full"]  # type: ignore[attr-defined]
    begin = begun[0] if begun else None
    if begin is None:
        return False
    return _Beyond(texts, operation, begin).holds(name) and _Outside(texts, inside, begin).holds(name)


def _limits(node: ast.expr) -> list[float]:
    """The numbers that a limit may be, by the size of the block; none where it may be another."""
    choices = node.args[1:] if _function(node) == "where" and isinstance(node, ast.Call) else [node]
    numbers = [_number(choice) for choice in choices]
    return [] if None in numbers else [n for n in numbers if n is not None]


class _Property(ABC):
    """What holds for all that names are ever given."""

    def __init__(self, texts: _Texts) -> None:
        self.texts = texts
        self._held: set[str] = set()

    def holds(self, name: str) -> bool:
        """Returns whether it holds for a name: it began so, and whatever is assigned keeps it."""
        self._held = self._reached(name)
        while failing := {n for n in self._held if not all(self.of(_parsed(t)) for t in self.texts.get(n, ["None"]))}:
            self._held -= failing
        return name in self._held

    def _reached(self, name: str) -> set[str]:
        reached, waiting = {name}, [name]
        while waiting:
            new = frozenset().union(*map(names_in, self.texts.get(waiting.pop(), []))) - reached
            reached |= new
            waiting += new
        return reached

    def of(self, node: ast.expr) -> bool:
        """Returns whether it holds for an expression if it does for the names in it."""
        if isinstance(node, ast.Name):
            return node.id in self._held
        if _function(node) in _SAME and isinstance(node, ast.Call):
            return self.of(node.args[0])
        return self.made(node)

    @abstractmethod
    def made(self, node: ast.expr) -> bool:
        """Returns whether it holds for what an expression computes."""


class _Beyond(_Property):
    """No element is below a limit, or above it where `operation` is min."""

    def __init__(self, texts: _Texts, operation: str, limit: float) -> None:
        super().__init__(texts)
        self._operation, self._limit = operation, limit

    def made(self, node: ast.expr) -> bool:
        value, arguments = _number(node), node.args if isinstance(node, ast.Call) else []
        if value is not None:
            return value >= self._limit if self._operation == "max" else value <= self._limit
        match _function(node):
            case "zeros":
                return self.made(ast.Constant(0))
            case "full":
                return self.made(arguments[1])
            case "where":
                return self.of(arguments[1]) and self.of(arguments[2])
            case "maximum" | "minimum" as name:
                return name.startswith(self._operation) and any(map(self.of, arguments[:2]))
        return False


class _Outside(_Property):
    """All elements of threads that the block does not have are one number, as sums and extremes of it are again."""

    def __init__(self, texts: _Texts, inside: str, number: float) -> None:
        super().__init__(texts)
        self._inside, self._number = inside, number

    def made(self, node: ast.expr) -> bool:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self._number == 0 and self.of(node.left) and self.of(node.right)
        arguments = node.args if isinstance(node, ast.Call) else []
        match _function(node):
            case "where":
                return self.of(arguments[2]) and (self._implied(arguments[0]) or self.of(arguments[1]))
            case "zeros":
                return self._number == 0
            case "full":
                return self.of(arguments[1])
            case "maximum" | "minimum":
                return self.of(arguments[0]) and self.of(arguments[1])
        return _number(node) == self._number

    def _implied(self, mask: ast.expr) -> bool:
        """Returns whether a mask holds only in the block's own threads."""
        if isinstance(mask, ast.BinOp) and isinstance(mask.op, ast.BitAnd):
            return self._implied(mask.left) or self._implied(mask.right)
        made = self.texts.get(mask.id, []) if isinstance(mask, ast.Name) else []
        is_inside = isinstance(mask, ast.Name) and mask.id == self._inside
        return is_inside or (len(made) == 1 and self._implied(_parsed(made[0])))


def _parsed(text: str) -> ast.expr:
    return expression_tree(text)


def _function(node: ast.expr) -> str:
    """The last part of the name of the function that a call calls."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _number(node: ast.expr) -> float | None:
    """The value of a number; of `float("-inf")`, too."""
    if _function(node) == "float" and isinstance(node, ast.Call) and isinstance(node.args[0], ast.Constant):
        return float(str(node.args[0].value))
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return float(value) if isinstance(value, int | float) else None
