"""Finds the functions at the top of a module, and how they can be called: reads its text, without running it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

from porter.evaluate.judge.ported import Signature
from porter.python_tree import module_tree


def functions_of(module: Path) -> Mapping[str, Signature]:
    """Returns the functions by name, including those imported from a file beside it and other names for them.

    None where it is not Python.
    """
    return _functions(module, frozenset())


def _functions(module: Path, above: frozenset[Path]) -> dict[str, Signature]:
    found: dict[str, Signature] = {}
    for node in _statements(module):
        match node:
            case ast.FunctionDef():
                found[node.name] = _signature(node.args)
            case ast.ClassDef() if _is_module(node) and (forward := _forward(node)):
                found[node.name] = _of_class(forward)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda(args=arguments)):
                found[name] = _signature(arguments)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=other)) if other in found:
                found[name] = found[other]
            case ast.ImportFrom(module=str(source)) if module not in above:
                imported = _functions(module.parent.joinpath(*source.split(".")).with_suffix(".py"), above | {module})
                found |= {a.asname or a.name: imported[a.name] for a in node.names if a.name in imported}
    return found


def _of_class(forward: ast.FunctionDef) -> Signature:
    method = _signature(forward.args)
    return Signature(method.parameters[1:], max(0, method.required - 1), method.variadic, is_class=True)


def _is_module(node: ast.ClassDef) -> bool:
    bases = (base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", "") for base in node.bases)
    return "Module" in bases


def _forward(node: ast.ClassDef) -> ast.FunctionDef | None:
    return next((f for f in node.body if isinstance(f, ast.FunctionDef) and f.name == "forward"), None)


def _statements(module: Path) -> Iterator[ast.stmt]:
    try:
        yield from module_tree(module.read_text("utf-8")).body
    except (SyntaxError, ValueError, RecursionError, OSError):
        return


def _signature(arguments: ast.arguments) -> Signature:
    positional = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    return Signature(tuple(positional), len(positional) - len(arguments.defaults), arguments.vararg is not None)
