"""The rules: a code, and what in a module breaks it. Each has its reason in the catalogue (`findings.toml`)."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from porter.rules.operators import METHODS, library_operator
from porter_triton.rules.forbidden import (
    BUILTINS,
    MODULES,
    THROUGH_OTHERS,
    forbidden_attribute,
    forbidden_module,
    private_part,
)
from porter_triton.rules.module import Module

_FOREIGN = ("torch", "triton", "numpy", "math")
# Settings that torch means to be assigned to.
_SETTINGS = ("torch.backends.", "torch.set_", "triton.knobs.")


@dataclass(frozen=True, slots=True)
class Broken:
    """A place at which a rule is broken, and what stands there."""

    code: str
    node: ast.AST
    message: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What a rule looks at: a module, and the operators that the original's host code uses."""

    module: Module
    permitted: frozenset[str]


def _library(asked: Asked) -> Iterator[Broken]:
    """An operator of the library in a function that an entry reaches."""
    for function in asked.module.reached:
        if function.name == "__init__":  # what it makes are modules that hold parameters; to call one is work
            continue
        given = {argument.arg for argument in (*function.args.posonlyargs, *function.args.args)}
        for node in ast.walk(function):
            name = _operator(node, given, asked.module)
            if name and name not in asked.permitted:
                yield Broken("PORT1901", node, f"the library's {name} does the work in '{function.name}'")


def _operator(node: ast.AST, given: set[str], module: Module) -> str:
    if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.MatMult):
        return "matmul"
    if not isinstance(node, ast.Call):
        return ""
    if found := library_operator(module.dotted(node.func)):
        return found
    called = node.func
    of_argument = isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name) and called.value.id in given
    return called.attr if of_argument and isinstance(called, ast.Attribute) and called.attr in METHODS else ""


def _ways_out(asked: Asked) -> Iterator[Broken]:
    """Modules and names that lead out of a module of kernels."""
    module = asked.module
    for node in module.running:
        if isinstance(node, ast.ImportFrom):
            yield from _imported(node)
        elif isinstance(node, ast.Attribute):
            yield from _attribute(node, module)
        elif isinstance(node, ast.Name) and (code := _name(node.id, module)):
            yield Broken(code, node, f"it uses {module.dotted(node) or node.id}")
        elif isinstance(node, ast.Call) and (code := forbidden_attribute(_spelt_out(node))):
            yield Broken(code, node, f"it asks for {_spelt_out(node)} by a string")


def _name(name: str, module: Module) -> str:
    """The code that a plain name breaks."""
    if name in module.names:
        return forbidden_module(module.names[name])
    return "" if name in module.bound else BUILTINS.get(name, "")


def _imported(node: ast.ImportFrom) -> Iterator[Broken]:
    for alias in node.names:
        whole = f"{node.module}.{alias.name}"
        if alias.name == "*" and node.module and (code := forbidden_module(node.module)):
            yield Broken(code, node, f"it imports everything of {node.module}")
        elif not forbidden_module(whole) and (code := forbidden_attribute(alias.name) or private_part(whole)):
            yield Broken(code, node, f"it imports {whole}")


def _attribute(node: ast.Attribute, module: Module) -> Iterator[Broken]:
    dotted = module.dotted(node)
    foreign = dotted.split(".")[0] in _FOREIGN
    if code := forbidden_module(dotted) or forbidden_attribute(node.attr):
        yield Broken(code, node, f"it uses {dotted or node.attr}")
    elif foreign and node.attr in THROUGH_OTHERS:
        yield Broken(MODULES[node.attr], node, f"it reaches {node.attr} through {dotted}")
    elif code := private_part(dotted):
        yield Broken(code, node, f"it uses {dotted}, which is private")


def _spelt_out(node: ast.Call) -> str:
    """The attribute that a call of `getattr` and its like names by a constant."""
    if not isinstance(node.func, ast.Name) or node.func.id not in ("getattr", "setattr", "delattr", "hasattr"):
        return ""
    named = node.args[1] if len(node.args) > 1 else None
    return named.value if isinstance(named, ast.Constant) and isinstance(named.value, str) else ""


def _replaced(asked: Asked) -> Iterator[Broken]:
    """Names of other modules that are assigned to."""
    for node in asked.module.running:
        dotted = asked.module.dotted(_assigned(node))
        if dotted and not dotted.startswith(_SETTINGS):
            yield Broken("PORT1907", node, f"it replaces {dotted}")


def _assigned(node: ast.AST) -> ast.AST:
    """The attribute that a node stores to or deletes, or what `setattr` is given."""
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, (ast.Store, ast.Del)):
        return node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("setattr", "delattr"):
        return node.args[0] if node.args else node
    return ast.Pass()


def _in_kernels(asked: Asked) -> Iterator[Broken]:
    """What a kernel cannot hold, since Triton does not compile it: here it would run as Python."""
    for kernel in asked.module.kernels:
        for node in (inner for statement in kernel.body for inner in ast.walk(statement)):
            if isinstance(node, (ast.Import, ast.ImportFrom, ast.Try, ast.ClassDef, ast.Lambda, ast.Await, ast.Yield)):
                yield Broken("PORT1911", node, f"the kernel '{kernel.name}' holds Python that is not Triton's")
            elif isinstance(node, ast.Call) and asked.module.dotted(node.func).split(".")[0] in ("torch", "numpy"):
                yield Broken("PORT1911", node, f"the kernel '{kernel.name}' calls {asked.module.dotted(node.func)}")


RULES: tuple[Callable[[Asked], Iterator[Broken]], ...] = (_library, _ways_out, _replaced, _in_kernels)
