"""Spells out what `cudaLaunchKernelEx` is told in a struct: a variable for each part of a `cudaLaunchConfig_t`.

The stream and the attributes of a launch, which say when and not what is computed, go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from porter.source.qualified import unqualified
from porter.syntax.nodes import (
    Assign,
    Block,
    Braces,
    Call,
    Cast,
    Declare,
    Evaluate,
    Expression,
    Launch,
    Literal,
    Member,
    Name,
    Skipped,
    Statement,
    Subscript,
    TypeName,
    Unary,
    Variable,
)
from porter.syntax.walk import rebuilt, walk

CALL = "cudaLaunchKernelEx"
_CONFIG, _ATTRIBUTES = "cudaLaunchConfig_t", "cudaLaunchAttribute"
_PARTS = {"gridDim": "dim3", "blockDim": "dim3", "dynamicSmemBytes": "size_t"}  # in the order of the struct


def spelled_out(body: Block) -> Block:
    """Returns the body of a function with its launch configurations as variables."""
    declared = [v for node in walk(body) if isinstance(node, Declare) for v in node.variables]
    configs = frozenset(v.name for v in declared if _is(v, _CONFIG))
    idle = frozenset(v.name for v in declared if _is(v, _ATTRIBUTES))
    if not configs:
        return body
    changed = rebuilt(body, lambda node: _changed(node, configs, idle))
    assert isinstance(changed, Block)
    return changed


def launch_of(node: Call) -> Launch | None:
    """Returns the launch that `cudaLaunchKernelEx(&config, kernel, arguments...)` is, spelled out; None for others."""
    config, kernel, *arguments = node.arguments
    config, kernel = (_pointed(given) for given in (config, kernel))
    if not isinstance(config, Name) or not isinstance(kernel, Name):
        return None
    grid, block, shared = (Name(_part(config.name, part), (), node.line) for part in _PARTS)
    return Launch(kernel, grid, block, shared, None, tuple(arguments), node.line)


def _pointed(given: Expression) -> Expression:
    """Returns what an address, cast or not, is of."""
    while isinstance(given, Cast) or (isinstance(given, Unary) and given.operator == "&"):
        given = given.operand
    return given


def _is(variable: Variable, kind: str) -> bool:
    """Returns whether a variable is such a struct, which nothing but a list of its parts has filled."""
    is_listed = variable.value is None or isinstance(variable.value, Braces)
    return is_listed and unqualified(variable.type.name) == kind and not variable.type.pointers


def _part(config: str, part: str) -> str:
    return f"{config}_{part}"


def _changed(node: object, configs: frozenset[str], idle: frozenset[str]) -> object:
    match node:
        case Declare(variables, line):
            parts = [part for v in variables for part in _declared(v, configs, idle)]
            return replace(node, variables=tuple(parts)) if parts else Skipped(line)
        case Member(Name(name), part) if name in configs and part in _PARTS:
            return Name(_part(name, part), (), node.line)
        case Evaluate(Assign(target=target), line) if _root(target) in configs | idle:
            return Skipped(line)
        case Block():
            return _declared_where_set(node, [_part(name, part) for name in sorted(configs) for part in _PARTS])
        case _:
            return node


def _declared_where_set(block: Block, parts: list[str]) -> Block:
    """Returns `block` with the parts that it declares, and sets once, declared there: then they are constants."""
    declared = {v.name: v for s in block.statements if isinstance(s, Declare) for v in s.variables if v.name in parts}
    once = {name for name in declared if len(_settings(block, name)) == 1}
    places = {_set_by(step) for step in block.statements} & once
    moved = {name: declared[name] for name in places}
    return replace(block, statements=tuple(_with_declaration(step, moved) for step in block.statements))


def _with_declaration(step: Statement, moved: Mapping[str, Variable]) -> Statement:
    """Returns a statement without the declarations of variables that are `moved` to where they are set."""
    if isinstance(step, Declare):
        return replace(step, variables=tuple(v for v in step.variables if v.name not in moved))
    if isinstance(step, Evaluate) and isinstance(step.expression, Assign) and (found := moved.get(_set_by(step))):
        return Declare((replace(found, value=_made(found.type, step.expression.value)),), step.line)
    return step


def _settings(block: Block, name: str) -> list[Assign]:
    """Returns every assignment to the variable `name`, or to a part of it."""
    assigned = (node for node in walk(block) if isinstance(node, Assign))
    return [a for a in assigned if name in (_named(a.target), _root(a.target))]


def _set_by(step: Statement) -> str:
    """Returns the variable that a statement sets as a whole; empty for any other statement."""
    match step:
        case Evaluate(Assign(operator="", target=Name(name))):
            return name
        case _:
            return ""


def _named(target: Expression) -> str:
    return target.name if isinstance(target, Name) else ""


def _made(kind: TypeName, value: Expression) -> Expression:
    """Returns the value of a `dim3` that is set to a number, another one, or a list."""
    if kind.name != "dim3":
        return value
    return replace(value, type=kind) if isinstance(value, Braces) else Call(Name("dim3"), (value,))


def _declared(variable: Variable, configs: frozenset[str], idle: frozenset[str]) -> list[Variable]:
    """Returns what stands for the declaration of a variable."""
    if variable.name in idle:
        return []
    if variable.name not in configs:
        return [variable]
    items = variable.value.items if isinstance(variable.value, Braces) else ()
    given = (*items, *(None, None, Literal(0, "int", variable.line))[len(items) :])
    return [
        Variable(_part(variable.name, part), TypeName(kind), (), value, line=variable.line)
        for (part, kind), value in zip(_PARTS.items(), given, strict=False)
    ]


def _root(target: Expression) -> str:
    """Returns the name of the variable that a member or an element belongs to; empty for one that is neither."""
    if isinstance(target, Name):
        return ""
    while isinstance(target, Member | Subscript):
        target = target.owner
    return target.name if isinstance(target, Name) else ""
