"""Cooperative groups of a whole block and of a warp, said with the thread's number and the warp's functions."""

from __future__ import annotations

from dataclasses import replace

from porter.source.qualified import unqualified
from porter.syntax.nodes import (
    Assign,
    Binary,
    Call,
    Expression,
    Literal,
    Member,
    Name,
    TypeName,
    Variable,
)
from porter.syntax.unit import FunctionTree
from porter.syntax.walk import walk
from porter_triton.lift.facts import WARP, Facts
from porter_triton.lift.trees import intrinsic, is_name, mapped, number

_OPERATIONS = {"plus": "sum", "greater": "max", "less": "min", "bit_and": "and", "bit_or": "or", "bit_xor": "xor"}
_SHUFFLES = frozenset({"shfl", "shfl_up", "shfl_down", "shfl_xor"})
_THREAD, _THREADS = Member(Name("threadIdx"), "x"), Member(Name("blockDim"), "x")
_FULL = Literal(0xFFFFFFFF, "unsigned int")


def without_groups(facts: Facts) -> FunctionTree:
    """The function as it is without groups, in a block of one dimension; what has no other words for it stays."""
    if facts.block[1:] != (1, 1):
        return facts.function
    body = mapped(facts.function.body, lambda node: _without(facts, node))
    return facts.function if body is facts.function.body else replace(facts.function, body=body)


def _without(facts: Facts, node: object) -> object:
    if not isinstance(node, Call):
        return node
    if isinstance(node.callee, Member) and isinstance(node.callee.owner, Name):
        width = _width(facts, node.callee.owner.name)
        return node if width is None else _method(node, node.callee.name, width)
    name = node.callee.name if isinstance(node.callee, Name) else ""
    if not name.startswith("cooperative_groups::") or not node.arguments or not isinstance(node.arguments[0], Name):
        return node
    width = _width(facts, node.arguments[0].name)
    if width is not None and unqualified(name) == "sync":
        return _synchronised(width, node.line)
    if width == WARP and unqualified(name) == "reduce" and len(node.arguments) == 3:
        operation = _OPERATIONS.get(_functor(node.arguments[2]))
        return intrinsic(f"warp_{operation}", node.arguments[1], line=node.line) if operation else node
    return node


def _width(facts: Facts, name: str) -> int | None:
    """0 for the group of the block, 32 for that of a warp; None for anything else."""
    parameter = next((p for p in facts.function.parameters if p.name == name), None)
    variable = facts.declared.get(name)
    if (parameter is None) == (variable is None) or any(_sets(node, name) for node in walk(facts.function.body)):
        return None
    type_ = parameter.type if parameter is not None else variable.type if variable is not None else TypeName("")
    known = _of_type(type_)
    return known if known is not None or variable is None else _of_value(variable)


def _sets(node: object, name: str) -> bool:
    return isinstance(node, Assign) and is_name(node.target, name)


def _of_type(type_: TypeName) -> int | None:
    if type_.name == "cooperative_groups::thread_block":
        return 0
    is_warp = type_.name == "cooperative_groups::thread_block_tile" and type_.arguments
    return WARP if is_warp and number(type_.arguments[0]) == WARP else None


def _of_value(variable: Variable) -> int | None:
    """The group that an `auto` variable is declared with."""
    made = variable.value
    if not isinstance(made, Call) or not isinstance(made.callee, Name):
        return None
    if made.callee.name == "cooperative_groups::this_thread_block":
        return 0
    is_warp = made.callee.name == "cooperative_groups::tiled_partition" and made.callee.template
    return WARP if is_warp and number(made.callee.template[0]) == WARP else None


def _method(node: Call, name: str, width: int) -> object:
    """Returns what a method of a group gives."""
    line, warp = node.line, Literal(WARP, "int", node.line)
    if name == "sync":
        return _synchronised(width, line)
    if width and name in _SHUFFLES:
        return Call(Name(f"__{name}_sync", line=line), (_FULL, *node.arguments), line)
    if name in {"size", "num_threads"}:
        return warp if width else _THREADS
    if name == "thread_rank":
        return Binary("%", _THREAD, warp, line) if width else _THREAD
    if width and name == "meta_group_rank":
        return Binary("/", _THREAD, warp, line)
    if width and name == "meta_group_size":
        return Binary("/", Binary("+", _THREADS, Literal(WARP - 1, "int", line), line), warp, line)
    return node


def _synchronised(width: int, line: int) -> Expression:
    return Call(Name("__syncwarp" if width else "__syncthreads", line=line), (), line)


def _functor(node: Expression) -> str:
    """`plus` of `cg::plus<float>()` or `cg::plus<float>{}`."""
    callee = node.callee if isinstance(node, Call) else None
    name = callee.name if isinstance(callee, Name) else ""
    return unqualified(getattr(getattr(node, "type", None), "name", "") or name)
