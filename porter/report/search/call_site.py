"""Finds a function in a module of another repository, and puts an earlier way out at the beginning of its body."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from porter.contract.model.contract import Argument
from porter.errors import InputError
from porter.python_tree import module_tree


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the function, with the text of its default; None where callers have to give it."""

    name: str
    default: str | None


@dataclass(frozen=True, slots=True)
class CallSite:
    """A function in the `lines` of a module.

    Imports end before line `imports`, and its first statement behind a docstring begins in line `body`, both counted
    from 0; `margin` is the indentation there.
    """

    function: str
    parameters: tuple[Parameter, ...]
    lines: tuple[str, ...]
    imports: int
    body: int
    margin: str

    def with_port(self, module: str, condition: str, call: str) -> str:
        """Returns the module's text in which `call` answers where `condition` holds, and what was there otherwise."""
        end = "\r\n" if self.lines[0].endswith("\r\n") else "\n"
        step = self.margin  # the function is at the top of its module
        answer = [f"{self.margin}if {condition}:{end}", f"{self.margin}{step}return {call}{end}"]
        imported = f"from . import {module}{end}"
        before, between, after = (
            self.lines[: self.imports],
            self.lines[self.imports : self.body],
            self.lines[self.body :],
        )
        return "".join((*before, imported, *between, *answer, *after))


def call_site(text: str, function: str, path: str) -> CallSite:
    """Returns the function called `function` at the top of a module.

    Raises `InputError` where there is none, or it is not one that a port can answer for.
    """
    try:
        tree = module_tree(text, path)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: is not read as Python: {error}") from error
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == function]
    if len(found) != 1:
        many = "several functions" if found else "no function"
        raise InputError(f"{path}: {many} {function} at the top of the module")
    node = found[0]
    if because := _unfit(node):
        raise InputError(f"{path}: {function} {because}, so a port cannot answer for it")
    first = node.body[1] if ast.get_docstring(node, clean=False) is not None and len(node.body) > 1 else node.body[0]
    lines = tuple(text.splitlines(keepends=True))
    body = min([first.lineno, *(one.lineno for one in getattr(first, "decorator_list", ()))]) - 1
    return CallSite(function, _parameters(node), lines, _imports_end(tree, node), body, lines[body][: first.col_offset])


def _unfit(node: ast.FunctionDef) -> str:
    """Returns why nothing can be put before the function's body; empty where it can."""
    inner = [child for statement in node.body for child in ast.walk(statement)]
    if node.args.vararg or node.args.kwarg:
        return "takes any number of arguments"
    if any(isinstance(child, ast.Yield | ast.YieldFrom) for child in inner):
        return "is a generator"
    if any("jit" in ast.unparse(one).split("(")[0].split(".") for one in node.decorator_list):
        return "is a kernel"
    return "has its body in the line of its head" if node.body[0].lineno == node.lineno else ""


def _parameters(node: ast.FunctionDef) -> tuple[Parameter, ...]:
    plain = [*node.args.posonlyargs, *node.args.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(node.args.defaults))
    pairs = [*zip(plain, [*defaults, *node.args.defaults], strict=True)]
    pairs += zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    return tuple(Parameter(arg.arg, None if default is None else ast.unparse(default)) for arg, default in pairs)


def _imports_end(tree: ast.Module, node: ast.FunctionDef) -> int:
    """Returns the line behind the last import before the function, or behind the module's docstring."""
    imports = [one for one in tree.body if isinstance(one, ast.Import | ast.ImportFrom) and one.lineno < node.lineno]
    if imports:
        return imports[-1].end_lineno or 0
    return (tree.body[0].end_lineno or 0) if ast.get_docstring(tree, clean=False) is not None else 0


def matched(arguments: Sequence[Argument], site: CallSite, path: str) -> tuple[tuple[str, ...], tuple[Parameter, ...]]:
    """Returns which parameter each argument of the port is, and the parameters that are none of them.

    Names that are the same belong together; of the others, the first to the first that has no default. Raises
    `InputError` where some are left.
    """
    named = {parameter.name for parameter in site.parameters}
    free = [p for p in site.parameters if p.name not in {argument.name for argument in arguments}]
    required = iter([p.name for p in free if p.default is None])
    given = [a.name if a.name in named else next(required, "") for a in arguments]
    left = [p for p in free if p.name not in given]
    if not all(given) or any(p.default is None for p in left):
        takes, wants = ", ".join(p.name for p in site.parameters), ", ".join(a.name for a in arguments)
        raise InputError(f"{path}: {site.function}({takes}) does not take what the port does: ({wants})")
    return tuple(given), tuple(left)
