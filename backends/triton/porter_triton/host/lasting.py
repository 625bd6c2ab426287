"""Variables of host code that outlive a call, which are the module's: those outside of functions, `static` ones."""

from __future__ import annotations

from porter.syntax.nodes import Braces, Expression, Name, TypeName, Variable
from porter.syntax.walk import walk
from porter_triton.host import expressions, names, pointers
from porter_triton.host.codes import Code, Kind
from porter_triton.host.instances import kind_of
from porter_triton.host.scope import Context
from porter_triton.host.unchanged import keeps_value
from porter_triton.refusal import Refusal

_ZERO = {Kind.INT: "0", Kind.FLOAT: "0.0", Kind.BOOL: "False", Kind.POINTER: "None"}
_MEANINGLESS = (Kind.STREAM, Kind.TIME, Kind.ERROR, Kind.PROPERTIES)
_MOST_ELEMENTS = 1024


def bind_all(cx: Context) -> None:
    """Binds the variables of the file that a function names, before anything in it can be called like one of them."""
    for node in {n.name: n for n in walk(cx.function.body) if isinstance(n, Name)}.values():
        if names.of_device(cx, node) is None and (held := of_file(cx, node.name)) is not None:
            cx.bind(node.name, held)


def of_file(cx: Context, name: str) -> Code | None:
    """Returns the variable outside of functions that `name` means; None for a constant and for what has no counterpart.

    Its value is what calls before left in it.
    """
    found = cx.unit.variables_named(name, cx.function.head.scope)
    if not found or len({(v.type, v.extents, str(v.value)) for v in found}) > 1 or not _may_change(cx, found[-1]):
        return None
    variable = found[-1]
    if kind_of(cx, variable.type) is Kind.STREAM:
        return Code("", Kind.STREAM)
    with cx.apart():
        return _kept(cx, variable, variable.name.rpartition("::")[2])


def _may_change(cx: Context, variable: Variable) -> bool:
    if variable.storage not in ("", "static") or variable.constexpr or variable.type.reference:
        return False
    is_const = variable.type.const and not variable.type.pointers
    return not is_const and not (variable.value is not None and keeps_value(cx.unit, variable))


def of_function(cx: Context, variable: Variable) -> Code | None:
    """Returns a `static` variable of the function that a call may change; None for one that keeps its first value."""
    if variable.storage != "static" or kind_of(cx, variable.type) in _MEANINGLESS:
        return None
    if not cx.changes_of(variable.name):
        _demand_constant(cx, variable)
        return None
    held = None if cx.hidden or cx.inlined else _kept(cx, variable, f"{cx.python}_{variable.name}")
    if held is None:
        raise Refusal(variable.line, f"the static variable '{variable.name}' keeps what a call leaves in it")
    cx.own_lasting.append(held.text)
    return held


def _demand_constant(cx: Context, variable: Variable) -> None:
    """Raises `Refusal` for a first value that hangs on what the first call was given."""
    own = {p.name for p in cx.function.parameters}
    if any(isinstance(node, Name) and node.name in own for node in walk(variable.value)):
        raise Refusal(variable.line, f"the static variable '{variable.name}' keeps what the first call was given")


def _kept(cx: Context, variable: Variable, name: str) -> Code | None:
    """Returns a variable of the module with the value it is declared with; None where that cannot be told."""
    kind, ctype = kind_of(cx, variable.type), cx.type(variable.type)
    if kind not in _ZERO:
        return None
    if variable.extents:
        return _list(cx, variable, name, kind)
    text = _initial(cx, kind, ctype, variable.value)
    if text is None:
        return None
    cx.last(name, f"{name} = {text}")
    return Code(name, kind, ctype=ctype)


def _list(cx: Context, variable: Variable, name: str, kind: Kind) -> Code | None:
    """Returns an array of one extent, as a list."""
    extent = variable.extents[0] if len(variable.extents) == 1 else None
    count = expressions.expression(cx, extent).constant if extent is not None else None
    value = variable.value
    if not isinstance(count, int) or count > _MOST_ELEMENTS or not (value is None or isinstance(value, Braces)):
        return None
    ctype = cx.type(variable.type)
    given = [_initial(cx, kind, ctype, item) for item in (value.items if isinstance(value, Braces) else ())]
    if None in given or len(given) > count:
        return None
    texts = [text for text in given if text is not None]
    rest = f"[{_ZERO[kind]}] * {count - len(texts)}"
    shown = rest if set(texts) <= {_ZERO[kind]} else f"[{', '.join(texts)}] + {rest}"
    shown = f"[{_ZERO[kind]}] * {count}" if set(texts) <= {_ZERO[kind]} else shown
    cx.last(name, f"{name} = {shown}")
    parts = tuple(Code(f"{name}[{i}]", kind, ctype=ctype) for i in range(count))
    return Code(name, Kind.SEQUENCE, ctype=TypeName("std::array", (variable.type,)), parts=parts)


def _initial(cx: Context, kind: Kind, ctype: TypeName, value: Expression | None) -> str | None:
    """Returns the first value of a number or pointer; None where it is not known before any call."""
    if value is None or (isinstance(value, Braces) and not value.items):
        return _ZERO[kind]
    try:
        found = expressions.expression(cx, value)
    except Refusal:
        return None
    if kind is Kind.POINTER:
        return "None" if found.kind is Kind.NOTHING or found.constant == 0 else None
    held = pointers.cast(cx, ctype, found, 0)
    return None if held.constant is None else str(bool(held.constant) if kind is Kind.BOOL else held.constant)
