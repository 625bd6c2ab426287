"""Finds the names that a body may change, and tells whether an expression does more than compute."""

from __future__ import annotations

from collections.abc import Iterator

from porter.ir.simt.builder.mathematics import FUNCTIONS
from porter.source.qualified import unqualified
from porter.syntax.nodes import Asm, Assign, Call, Declare, Expression, Member, Name, Subscript, TypeName, Unary, Update
from porter.syntax.unit import Unit
from porter.syntax.walk import walk


def assigned_names(unit: Unit, body: object) -> frozenset[str]:
    """Names assigned, updated, or whose address or a reference to which may be taken."""
    found: set[str] = set()
    for node in walk(body):
        if isinstance(node, Assign):
            found |= _root(node.target)
        elif isinstance(node, Update) or (isinstance(node, Unary) and node.operator == "&"):
            found |= _root(node.operand)
        elif isinstance(node, Call):
            for argument in _referenced(unit, node):
                found |= _root(argument)
            if isinstance(node.callee, Member) and not _only_reads(unit, node.callee.name):
                found |= _root(node.callee.owner)
        elif isinstance(node, Asm):
            for _, operand in node.outputs:
                found |= _root(operand)
    return frozenset(found)


def _only_reads(unit: Unit, name: str) -> bool:
    """Returns whether all methods of that name leave their object unchanged, and give no way to change it."""
    methods = [m for s in unit.structs for m in s.methods if m.head.name == name]
    return bool(methods) and all(
        not (m.returns.reference or m.returns.pointers)
        and not any(isinstance(n, Call) and changes(unit, n) for n in walk(m.body))
        and {_base(target) for target in _targets(m.body)} <= _own_values(m.body)
        for m in methods
    )


def _targets(body: object) -> Iterator[Expression]:
    """Yields what `body` assigns, updates, or takes the address of."""
    for node in walk(body):
        if isinstance(node, Assign):
            yield node.target
        elif isinstance(node, Update) or (isinstance(node, Unary) and node.operator == "&"):
            yield node.operand


def _own_values(body: object) -> set[str]:
    """Returns the variables that `body` declares and that hold what they are, not where it is."""
    declared = [variable for node in walk(body) if isinstance(node, Declare) for variable in node.variables]
    return {v.name for v in declared if not (v.type.reference or v.type.pointers or v.type.name == "auto")}


def _base(node: Expression) -> str:
    """Returns the variable of which an lvalue is an element or part; empty for what a pointer points to."""
    while isinstance(node, Member | Subscript) and not getattr(node, "arrow", False):
        node = node.owner
    return node.name if isinstance(node, Name) else ""


def _root(node: Expression) -> frozenset[str]:
    """Returns the variable an lvalue is a part of; the target of a pointer is not a part of the pointer."""
    while isinstance(node, Member) and not node.arrow:
        node = node.owner
    return frozenset({node.name}) if isinstance(node, Name) else frozenset()


def _referenced(unit: Unit, call: Call) -> Iterator[Expression]:
    """Yields the arguments that a function may change; of CUDA's own only atomics do, by address."""
    if isinstance(call.callee, Name):
        candidates = unit.named(call.callee.name)
    elif isinstance(call.callee, Member):
        plain = call.callee.name
        candidates = tuple(m for s in unit.structs for m in s.methods if m.head.name == plain)
    else:
        candidates = ()
    methods = tuple(m for s in unit.structs for m in s.methods if m.head.name == "operator()")
    for i, argument in enumerate(call.arguments):
        if any(i < len(c.parameters) and _by_reference(c.parameters[i].type) for c in candidates or methods):
            yield argument


def _by_reference(type_: TypeName) -> bool:
    return type_.reference and not type_.const


def changes(unit: Unit, node: Expression) -> bool:
    """Returns whether an expression may change a variable: it assigns, or calls more than CUDA's math functions."""
    if isinstance(node, Call) and isinstance(node.callee, Name) and _is_of_numbers(unit, node.callee.name):
        return any(changes(unit, argument) for argument in node.arguments)
    return isinstance(node, Assign | Update | Call) or any(changes(unit, part) for part in _parts(node))


def _is_of_numbers(unit: Unit, name: str) -> bool:
    """Returns whether a name is that of one of CUDA's functions of numbers."""
    return unqualified(name) in FUNCTIONS and not unit.named(name)


def acts(node: Expression) -> bool:
    """Returns whether an expression assigns or calls."""
    return isinstance(node, Assign | Update | Call) or any(map(acts, _parts(node)))


def _parts(node: Expression) -> list[Expression]:
    children = [getattr(node, part, None) for part in _PARTS]
    return [c for c in children if c is not None and not isinstance(c, TypeName | str)]


_PARTS = ("left", "right", "operand", "owner", "index", "condition", "yes", "no")
