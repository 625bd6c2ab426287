"""Finds what host code measures time with: clocks, their values, and functions that only ask them. A port drops it.

Moments and spans have one text in Python, which no statement may hold in the end. Values that only measure have no
reader and are dropped; a statement that still has the text depends on a measured time.
"""

from __future__ import annotations

from porter.syntax.nodes import Call, Expression, Launch, Name, TypeName, Unread
from porter.syntax.unit import FunctionTree, StructTree
from porter.syntax.walk import walk
from porter_triton.host.c_types import Arithmetic
from porter_triton.host.codes import MOMENT, Code, Kind
from porter_triton.host.scope import Context
from porter_triton.host.table import table

ELAPSED = "cudaEventElapsedTime"
_HARMLESS = ("std::string", "std::string_view", "string")


def is_moment(cx: Context, declared: TypeName) -> bool:
    """Returns whether a type holds what clocks say: one of C's, of `std::chrono`, or a stopwatch of the source."""
    kind = cx.type(declared)
    if kind.name in table().clock_types or kind.name.startswith(("std::chrono::", "chrono::")):
        return True
    return any(_is_stopwatch(cx, struct) for struct in cx.unit.struct(kind.name))


def _is_stopwatch(cx: Context, struct: StructTree) -> bool:
    """Returns whether a struct holds moments or events, numbers beside them at most, and its methods only measure."""
    fields = [f.type for f in struct.fields if f.storage != "static"]
    if any(f.pointers or f.reference or cx.type(f).name == struct.name for f in fields):
        return False
    told = [f for f in fields if _is_event(cx, f) or is_moment(cx, f)]
    rest = [f for f in fields if f not in told]
    return bool(told) and all(_is_plain(cx, f) for f in rest) and all(_is_idle(cx, m) for m in struct.methods)


def _is_event(cx: Context, declared: TypeName) -> bool:
    return cx.type(declared).name in table().dropped_types


def _is_plain(cx: Context, declared: TypeName) -> bool:
    """Returns whether a value of the type cannot lead to memory of a device."""
    kind = cx.type(declared)
    if kind.name == "char" or kind.name in _HARMLESS:
        return True
    return not kind.pointers and isinstance(cx.built_in(kind), Arithmetic)


def told(cx: Context, node: Call) -> Code | None:
    """Returns the moment that a clock, or a function of the source that only measures, returns; else None."""
    name = node.callee.name if isinstance(node.callee, Name) else ""
    if not name or cx.find(name) is not None:
        return None
    own = [f for f in cx.unit.named(name) if f.head.space == "host"]
    measures = _is_clock(cx, name) or (bool(own) and all(_measures(cx, f) and _is_idle(cx, f) for f in own))
    return MOMENT if measures else None


def variable(cx: Context, name: str) -> Code | None:
    """Returns a stopwatch of file scope, or a number that only clocks need."""
    declared = cx.unit.variables_named(name, cx.function.head.scope)
    if declared:
        return MOMENT if is_moment(cx, declared[-1].type) else None
    return MOMENT if name in table().clock_names else None


def _is_clock(cx: Context, name: str) -> bool:
    return (name in table().clocks or name.endswith("::now")) and not cx.unit.named(name)


def _measures(cx: Context, function: FunctionTree) -> bool:
    """Returns whether a function asks a clock, or is given what one said."""
    if any(is_moment(cx, p.type) for p in function.parameters):
        return True
    called = [n.callee.name for n in walk(function.body) if isinstance(n, Call) and isinstance(n.callee, Name)]
    return any(_is_clock(cx, name) for name in called)


def _is_idle(cx: Context, function: FunctionTree, around: tuple[FunctionTree, ...] = ()) -> bool:
    """Returns whether a function reaches no device memory: it launches nothing, and only gets pointers to moments."""
    given = (is_moment(cx, p.type) or _is_plain(cx, p.type) for p in function.parameters)
    return all(given) and not any(
        isinstance(n, Launch | Unread) or (isinstance(n, Call) and _acts(cx, n.callee, (*around, function)))
        for n in walk(function.body)
    )


def _acts(cx: Context, callee: Expression, around: tuple[FunctionTree, ...]) -> bool:
    """Returns whether a call may reach the memory of a device, or runs what the function was given."""
    if not isinstance(callee, Name):
        return False
    if own := [f for f in cx.unit.named(callee.name) if f not in around]:
        return not all(_is_idle(cx, f, around) for f in own)
    runs = any(p.name == callee.name for p in around[-1].parameters)
    idle = callee.name == ELAPSED or callee.name in table().dropped_calls
    return runs or (callee.name.startswith(("cu", "thrust::")) and not idle)


def is_any(*codes: Code) -> bool:
    """Returns whether one of the values is a moment, or made of one."""
    return any(code.kind is Kind.TIME for code in codes)
