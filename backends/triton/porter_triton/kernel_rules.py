"""Checks the text of a kernel against a positive list of syntax, names and attributes.

In Triton's interpreter, and while it is compiled, the text is Python once more; so it may hold nothing that could lead
anywhere else. The list comes from Triton's language itself (`language.py`), not from known misuse.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache

from porter.python_tree import module_tree
from porter_triton.language import ATTRIBUTES, BUILTINS, LANGUAGE, MEMBERS, is_listed
from porter_triton.records import Binding, Builtin, CompileTime, Foreign, KernelText, LanguageName, Values

_SYNTAX = (
    ast.FunctionDef, ast.arguments, ast.arg, ast.Return, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For, ast.While,
    ast.If, ast.Expr, ast.Pass, ast.Break, ast.Continue, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Compare,
    ast.Call, ast.Constant, ast.Attribute, ast.Subscript, ast.Name, ast.List, ast.Tuple, ast.Slice, ast.keyword,
    ast.Assert, ast.Starred, ast.JoinedStr, ast.FormattedValue, ast.ListComp, ast.comprehension, ast.expr_context,
    ast.boolop, ast.operator, ast.unaryop, ast.cmpop,
)  # fmt: skip


class KernelRefusedError(Exception):
    """A kernel's text holds something that it may not; `line` is one of the candidate's file."""

    def __init__(self, message: str, kernel: KernelText, line: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.kernel = kernel
        self.line = line


def check(kernel: KernelText) -> None:
    """Raises `KernelRefusedError` for a text that is not one function of Triton's language."""
    try:
        tree = module_tree(kernel.text)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise KernelRefusedError(f"the kernel '{kernel.name}' is no Python: {error}", kernel) from None
    function = tree.body[0] if len(tree.body) == 1 else None
    if not isinstance(function, ast.FunctionDef) or function.name != kernel.name or function.decorator_list:
        raise KernelRefusedError(f"the kernel '{kernel.name}' is not one plain function", kernel)
    found = next(_Check(kernel, function).broken(), None)
    if found is not None:
        node, what = found
        line = getattr(node, "lineno", 0)
        raise KernelRefusedError(f"the kernel '{kernel.name}' {what}", kernel, kernel.line + line - 1 if line else 0)


@cache
def constants_of(kernel: KernelText) -> frozenset[str]:
    """Returns the parameters whose values are compiled into a kernel."""
    function = module_tree(kernel.text).body[0]
    assert isinstance(function, ast.FunctionDef)
    arguments = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    return frozenset(a.arg for a in arguments if a.annotation is not None and "constexpr" in ast.unparse(a.annotation))


class _Check:
    def __init__(self, kernel: KernelText, function: ast.FunctionDef) -> None:
        self._function = function
        self._bindings: Mapping[str, Binding] = dict(kernel.bindings)
        self._local = frozenset(bound_in(function))

    def broken(self) -> Iterator[tuple[ast.AST, str]]:
        """Yields each place with the reason why it may not be there."""
        for name in self._bindings:
            if not name.isidentifier() or name.startswith("__") or name in self._local:
                yield self._function, f"has a binding for {name!r}"
        for node in ast.walk(self._function):
            if node is not self._function and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield node, f"holds a function, '{node.name}'"
            elif not isinstance(node, _SYNTAX):
                yield node, f"holds Python that is not Triton's ({type(node).__name__})"
            elif isinstance(node, ast.Attribute):
                yield from self._attribute(node)
            elif isinstance(node, ast.Name):
                yield from self._name(node)

    def _attribute(self, node: ast.Attribute) -> Iterator[tuple[ast.AST, str]]:
        if not isinstance(node.ctx, ast.Load):
            yield node, f"assigns to .{node.attr}"
        elif isinstance(node.value, ast.Name) and self._is_language(node.value.id):
            if node.attr not in MEMBERS[LANGUAGE]:
                yield node, f"uses {node.value.id}.{node.attr}, which is not part of Triton's language"
        elif node.attr not in ATTRIBUTES:
            yield node, f"uses the attribute .{node.attr}, which nothing of Triton's language has"

    def _is_language(self, name: str) -> bool:
        return name not in self._local and self._bindings.get(name) == LanguageName(LANGUAGE)

    def _name(self, node: ast.Name) -> Iterator[tuple[ast.AST, str]]:
        if node.id.startswith("__"):
            yield node, f"uses the name {node.id}"
        elif node.id not in self._local:
            found = self._bindings.get(node.id)
            if found is None:
                yield node, f"uses the name '{node.id}', which is bound to nothing"
            elif unlisted := next(_unlisted(found), ""):
                yield node, f"uses '{node.id}', which is {unlisted}"


def _unlisted(binding: Binding) -> Iterator[str]:
    """Yields names that a kernel may not use."""
    match binding:
        case Foreign(what):
            yield what
        case LanguageName(path):
            if not is_listed(path):
                yield f"{path}, which is not part of Triton's language"
        case Builtin(name):
            if name not in BUILTINS:
                yield f"Python's {name}"
        case CompileTime(value):
            yield from _unlisted(value)
        case Values(items):
            for item in items:
                yield from _unlisted(item)


def bound_in(function: ast.FunctionDef) -> Iterator[str]:
    """Yields the names that a kernel gives values itself: its parameters, and what it assigns to."""
    arguments = function.args
    for parameter in (
        *arguments.posonlyargs,
        *arguments.args,
        *arguments.kwonlyargs,
        arguments.vararg,
        arguments.kwarg,
    ):
        if parameter is not None:
            yield parameter.arg
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
