"""Follows what helpers are called with: branches that no call of a module takes are left out of it.

A helper asks for the type of an argument (`x.dtype == tl.float64`), whether one is given (`mask is None`), or for a
constant (`loose`). What a kernel calls it with is known where the call is made, and followed from there through the
helpers that it calls.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass

# An argument by what is known of it: a type (`tl.float32`), a constant of Python (`True`, `None`), GIVEN where it is no
# such constant, ANY_NUMBER where it has the type of whatever it meets; missing where nothing is known.
Known = Mapping[str, str]
GIVEN, ANY_NUMBER = "given", "number"
# Functions of the language whose results have the type of their arguments.
_KEEPING = frozenset(
    ("abs", "ceil", "cos", "div_rn", "erf", "exp", "exp2", "floor", "fma", "log", "log2", "maximum", "minimum", "rsqrt",
     "sin", "sqrt", "sqrt_rn")
)  # fmt: skip


@dataclass(frozen=True, slots=True, order=True)
class HelperCall:
    """A call of the helper `name`, with what is `known` of its arguments by the names of its parameters."""

    name: str
    known: tuple[tuple[str, str], ...] = ()


def helper_call(name: str, known: Known) -> HelperCall:
    """The call with what is known in one order."""
    return HelperCall(name, tuple(sorted(known.items())))


Trees = Callable[[str], ast.FunctionDef | None]


@dataclass(frozen=True)
class Following:
    """Follows types through expressions and bodies; `tree` gives the helper of a name, None for no helper.

    `note` is told each call of a helper, `take` each condition of an `if` with how it is decided, None where it is not.
    """

    tree: Trees
    note: Callable[[HelperCall], object]
    take: Callable[[ast.If, bool | None], object]

    def expression(self, node: ast.expr, known: Known) -> str | None:
        """Returns what is known of a value."""
        match node:
            case ast.Name(name):
                if self.tree(name) is not None and name not in known:
                    self.note(HelperCall(name))  # handed to somebody who calls it
                return known.get(name)
            case ast.Constant(value):
                return str(value) if value is None or isinstance(value, bool) else ANY_NUMBER
            case ast.UnaryOp(op, operand):
                held = self.expression(operand, known)
                return held if isinstance(op, ast.USub | ast.Invert) else None
            case ast.BinOp(left, _, right):
                return _met(self.expression(left, known), self.expression(right, known))
            case ast.Call():
                return self._call(node, known)
        for inner in ast.iter_child_nodes(node):
            if isinstance(inner, ast.expr):
                self.expression(inner, known)
        return None

    def _call(self, node: ast.Call, known: Known) -> str | None:
        if isinstance(node.func, ast.Name) and (helper := self.tree(node.func.id)) is not None:
            given = self._bound(helper, node, known)
            self.note(helper_call(helper.name, given))
            return Following(self.tree, lambda _: None, lambda *_: None).body(helper, given)
        given_to = [self.expression(argument, known) for argument in (*node.args, *(k.value for k in node.keywords))]
        match node.func:
            case ast.Attribute(value, "to"):
                self.expression(value, known)
                return _type_named(node.args[0], known) if node.args else None
            case ast.Attribute(ast.Name("tl"), "cast"):
                return _type_named(node.args[1], known)
            case ast.Attribute(ast.Name("tl"), "where"):
                return _met(*given_to[1:3])
            case ast.Name("float"):
                return ANY_NUMBER
            case ast.Attribute(ast.Name("tl"), name) if name in _KEEPING:
                return _met(*given_to)
            case ast.Attribute(value, _):
                self.expression(value, known)
        return None

    def _bound(self, helper: ast.FunctionDef, node: ast.Call, known: Known) -> dict[str, str]:
        """Returns what is known of the parameters of `helper` in a call."""
        names = [parameter.arg for parameter in helper.args.args]
        defaults = dict(zip(reversed(names), reversed(helper.args.defaults), strict=False))
        given = dict(zip(names, node.args, strict=False)) | {k.arg: k.value for k in node.keywords if k.arg}
        found = {name: self.expression(given.get(name, defaults.get(name, node)), known if name in given else {})
                 for name in names if name in given or name in defaults}  # fmt: skip
        return {name: value for name, value in found.items() if value is not None}

    def body(self, helper: ast.FunctionDef, known: Known) -> str | None:
        """Follows a helper, and tells what is known of its result."""
        results: list[str | None] = []
        self._statements(helper.body, dict(known), results)
        return _met(*results) if results else None

    def _statements(self, body: list[ast.stmt], known: dict[str, str], results: list[str | None]) -> None:
        for statement in body:
            match statement:
                case ast.If():
                    self._branch(statement, known, results)
                case ast.Return(ast.expr() as value):
                    results.append(self.expression(value, known))
                case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(ast.Name(name), _, ast.expr() as value):
                    _keep(known, name, self.expression(value, known))
                case ast.AugAssign(ast.Name(name), _, value):
                    _keep(known, name, _met(known.get(name), self.expression(value, known)))
                case ast.For(_, iterated, turn):
                    self.expression(iterated, known)
                    self._statements(turn, known, results)
                case _:
                    for target in (n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and _is_set(n)):
                        known.pop(target, None)
                    for inner in (n for n in ast.iter_child_nodes(statement) if isinstance(n, ast.expr)):
                        self.expression(inner, known)

    def _branch(self, branch: ast.If, known: dict[str, str], results: list[str | None]) -> None:
        taken = _decided(branch.test, known)
        self.take(branch, taken)
        self.expression(branch.test, known)
        if taken is not None:
            self._statements(branch.body if taken else branch.orelse, known, results)
            return
        other = dict(known)
        self._statements(branch.body, known, results)
        self._statements(branch.orelse, other, results)
        for name in [name for name, value in known.items() if other.get(name) != value]:
            del known[name]


def _is_set(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _keep(known: dict[str, str], name: str, value: str | None) -> None:
    known.pop(name, None)
    if value is not None:
        known[name] = value


def _met(*values: str | None) -> str | None:
    """Returns what is known of the result of values that meet."""
    types = {value for value in values if value != ANY_NUMBER}
    return (types.pop() if len(types) == 1 else None) if types else ANY_NUMBER


def _type_named(node: ast.expr, known: Known) -> str | None:
    """The type that `tl.float32` or `x.dtype` says."""
    match node:
        case ast.Attribute(ast.Name("tl"), name):
            return f"tl.{name}"
        case ast.Attribute(ast.Name(name), "dtype"):
            return known.get(name)
    return None


def _decided(test: ast.expr, known: Known) -> bool | None:
    """Returns how a condition on what is known comes out; None where that does not tell."""
    match test:
        case ast.Compare(ast.Attribute(ast.Name(name), "dtype"), [ast.Eq()], [ast.Attribute(ast.Name("tl"), wanted)]):
            held = known.get(name, "")
            return held == f"tl.{wanted}" if held.startswith("tl.") else None
        case ast.Compare(ast.Name(name), [ast.Is()], [ast.Constant(None)]):
            return known[name] == "None" if name in known else None
        case ast.Name(name):
            return known[name] == "True" if known.get(name) in ("True", "False") else None
    return None
