"""Cooperative groups: the block, and tiles of a warp."""

from __future__ import annotations

from porter.source.qualified import unqualified
from porter.syntax.nodes import Call, Expression, Member, Name
from porter_triton.lower import access, calls, choices, coordinates, expressions, memory, operators, predefined, warp
from porter_triton.lower.arithmetic import binary
from porter_triton.lower.context import Context
from porter_triton.lower.types import UINT
from porter_triton.lower.values import Group, Nothing, Scalar, Value, number
from porter_triton.refusal import Refusal

_WARP = 32
_OPERATIONS = {"plus": "add", "greater": "max", "less": "min", "bit_and": "and", "bit_or": "or", "bit_xor": "xor"}
_SHUFFLES = {"shfl": "", "shfl_up": "up", "shfl_down": "down", "shfl_xor": "xor"}
_VOTES = {"any": "__any", "all": "__all", "ballot": "__ballot"}


def call(cx: Context, callee: Name, node: Call) -> Value | None:
    """A function of the namespace; None for any other."""
    if not callee.name.startswith("cooperative_groups::"):
        return None
    plain = unqualified(callee.name)
    if plain == "this_thread_block":
        return Group(0)
    if plain == "tiled_partition":
        given = callee.template[0] if callee.template else node.arguments[1]
        width = expressions.constant(cx, given, node.line).constant
        if not isinstance(width, int) or not 0 < width <= _WARP or width & (width - 1):
            raise Refusal(node.line, f"a tile of {width} threads")
        return Group(width)
    if plain == "sync" and node.arguments:
        return _synchronised(cx, _group(cx, node.arguments[0], node.line))
    if plain == "reduce" and len(node.arguments) == 3:
        group = _group(cx, node.arguments[0], node.line)
        return _reduced(cx, group, expressions.value(cx, node.arguments[1]), node.arguments[2], node)
    raise Refusal(node.line, f"`{callee.name}`")


def _group(cx: Context, node: Expression, line: int) -> Group:
    value = expressions.value(cx, node)
    if not isinstance(value, Group):
        raise Refusal(line, "what stands for a cooperative group is none")
    return value


def _synchronised(cx: Context, group: Group) -> Nothing:
    if group.width:
        memory.warp_barrier(cx)
    else:
        memory.barrier(cx)
    return Nothing()


def method(cx: Context, group: Group, callee: Member, node: Call) -> Value:
    """A method of a group."""
    name = callee.name
    if name == "sync":
        return _synchronised(cx, group)
    if name in {"thread_rank", "size", "num_threads", "meta_group_rank", "meta_group_size"}:
        return _counted(cx, group, name)
    triples = {
        "thread_index": "threadIdx",
        "group_index": "blockIdx",
        "group_dim": "blockDim",
        "dim_threads": "blockDim",
    }
    if name in triples and not group.width:
        value = predefined.name(cx, Name(triples[name]))
        assert value is not None
        return value
    if group.width and name in _SHUFFLES:
        values = tuple(expressions.value(cx, a) for a in node.arguments)
        return warp.shuffle(cx, _SHUFFLES[name], (*values, number(group.width)), node.line)
    if group.width == _WARP and name in _VOTES:
        return warp.vote(cx, _VOTES[name], None, expressions.truth(cx, node.arguments[0]))
    raise Refusal(node.line, f"`{name}` of a cooperative group")


def _counted(cx: Context, group: Group, name: str) -> Scalar:
    rank = coordinates.rank(cx)
    total = number(1, UINT)
    for extent in cx.extents:
        total = binary("*", total, extent, 0)
    width = number(group.width, UINT)
    if not group.width:
        return rank if name == "thread_rank" else total
    if name in {"size", "num_threads"}:
        return width
    if name == "thread_rank":
        return binary("%", rank, width, 0)
    if name == "meta_group_rank":
        return binary("/", rank, width, 0)
    return binary("/", binary("+", total, number(group.width - 1, UINT), 0), width, 0)


def _reduced(cx: Context, group: Group, value: Value, operation: Expression, node: Call) -> Value:
    name = operation.callee.name if isinstance(operation, Call) and isinstance(operation.callee, Name) else ""
    name = getattr(getattr(operation, "type", None), "name", "") or name
    kind = _OPERATIONS.get(unqualified(name))
    if group.width == _WARP and kind is not None and isinstance(value, Scalar):
        return warp.reduce(cx, kind, None, value)
    if not group.width:
        raise Refusal(node.line, "a reduction over a whole block as a cooperative group")
    return _by_shuffles(cx, group, value, operation, kind, node=node)


def _by_shuffles(
    cx: Context, group: Group, value: Value, operation: Expression, kind: str | None, *, node: Call
) -> Value:
    """A reduction of a narrow tile or with the source's own operation: a tree of shuffles."""
    functor = None if kind is not None else calls.argument(cx, operation)
    offset = group.width // 2
    while offset:
        other = warp.shuffle(cx, "xor", (value, number(offset), number(group.width)), node.line)
        if kind in {"max", "min"}:
            left, right = access.scalar(value, node.line), access.scalar(other, node.line)
            value = choices.choose(
                binary("<" if kind == "max" else ">", left, right, node.line), right, left, node.line
            )
        elif kind is not None:
            symbol = {"add": "+", "and": "&", "or": "|", "xor": "^"}[kind]
            value = operators.operate(cx, symbol, value, other, node.line)
        else:
            assert functor is not None
            value = calls.apply(cx, functor, (value, other), node)
        value = cx.temporary(value, "value") if isinstance(value, Scalar) else value
        offset //= 2
    return value
