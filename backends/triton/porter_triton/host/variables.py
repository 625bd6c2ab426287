"""Declarations of host variables: some become Python variables, some are known to the launcher alone."""

from __future__ import annotations

from dataclasses import replace

from porter.syntax.nodes import Braces, Call, Cast, Expression, Lambda, Name, TypeName, Unary, Variable
from porter_triton.host import expressions, held_kernels, lasting, pointers, records, vector_memory
from porter_triton.host.codes import MOMENT, SUCCESS, Code, Kind, integer, sequence
from porter_triton.host.instances import kind_of
from porter_triton.host.methods import options_of
from porter_triton.host.scope import Addresses, Closure, Context, KernelName
from porter_triton.refusal import Refusal

_INLINE = (Kind.PROPERTIES, Kind.OPTIONS, Kind.STREAM, Kind.ERROR, Kind.NOTHING, Kind.TIME)


def declare(cx: Context, variable: Variable) -> None:
    """Emits the declaration of one variable."""
    kind = kind_of(cx, variable.type)
    cx.demand_own(variable.name, variable.type, kind in (Kind.STREAM, Kind.TIME), variable.line)
    if (held := lasting.of_function(cx, variable)) is not None:
        cx.bind(variable.name, held)
    elif isinstance(variable.value, Lambda):
        cx.bind(variable.name, Closure(variable.value))
    elif (kernel := _kernel(cx, variable)) is not None:
        cx.bind(variable.name, kernel)
    elif kind is Kind.STREAM:
        cx.bind(variable.name, Code("", Kind.STREAM))
    elif kind is Kind.TIME:
        cx.bind(variable.name, MOMENT)
    elif kind is Kind.ERROR:
        _answer(cx, variable)
    elif variable.extents:
        _array(cx, variable)
    elif variable.value is None:
        _empty(cx, variable, kind)
    else:
        _initialised(cx, variable, kind)


def _kernel(cx: Context, variable: Variable) -> KernelName | None:
    """Returns the kernel that a variable which nothing sets again names."""
    value = variable.value
    if isinstance(value, Unary) and value.operator == "&":
        value = value.operand
    return held_kernels.named(cx, value) if isinstance(value, Name) and not cx.changes_of(variable.name) else None


def _answer(cx: Context, variable: Variable) -> None:
    """Translates `cudaError_t err = cudaMalloc(...)`."""
    if isinstance(variable.value, Call):
        expressions.expression(cx, variable.value)
    cx.bind(variable.name, SUCCESS)


def _array(cx: Context, variable: Variable) -> None:
    if variable.value is None:
        name = cx.python_name(variable.name)
        cx.changes[name] = cx.changes_of(variable.name)
        cx.bind(variable.name, _elements(cx, name, variable))
        return
    if (operands := _addresses(variable)) is not None:
        cx.bind(variable.name, Addresses(operands))
        return
    value = expressions.expression(cx, variable.value)
    name = cx.python_name(variable.name)
    cx.changes[name] = cx.changes_of(variable.name)
    given = (*value.parts, *(integer(0) for _ in range(_length(cx, variable) - len(value.parts))))
    cx.emit(f"{name} = {sequence(given, as_list=True).text}", name)
    inner, element = kind_of(cx, variable.type), cx.type(variable.type)
    parts = tuple(Code(f"{name}[{i}]", inner, ctype=element) for i in range(len(given)))
    kind = TypeName("std::array", (variable.type,))
    cx.bind(variable.name, Code(name, Kind.SEQUENCE, ctype=kind, parts=parts if inner is not Kind.OTHER else ()))


def _addresses(variable: Variable) -> tuple[Expression, ...] | None:
    """Returns the variables of `void* arguments[] = {&x, &n}`, for a launch by a function; else None."""
    if variable.type.name != "void" or not isinstance(variable.value, Braces):
        return None
    items = [item.operand if isinstance(item, Cast) else item for item in variable.value.items]
    operands = [item.operand for item in items if isinstance(item, Unary) and item.operator == "&"]
    return tuple(operands) if operands and len(operands) == len(items) else None


def _length(cx: Context, array: Variable) -> int:
    """Returns the extent of an array of one dimension where it is stated; else 0."""
    told = array.extents[0] if len(array.extents) == 1 else None
    known = expressions.expression(cx, told).constant if told is not None else None
    return int(known) if known is not None else 0


def _elements(cx: Context, name: str, array: Variable) -> Code:
    """Returns an array of numbers without values, as a list: reading an element before it is set raises."""
    extents, kind = records.extents(cx, array), kind_of(cx, array.type)
    if len(extents) > 1 or kind not in (Kind.INT, Kind.FLOAT, Kind.BOOL, Kind.POINTER):
        raise Refusal(array.line, f"the array '{array.name}' is not initialised")
    cx.emit(f"{name} = [None] * {extents[0]}", name)
    parts = tuple(Code(f"{name}[{i}]", kind, ctype=cx.type(array.type)) for i in range(extents[0]))
    return Code(name, Kind.SEQUENCE, ctype=TypeName("std::array", (array.type,)), parts=parts)


def _empty(cx: Context, variable: Variable, kind: Kind) -> None:
    """Declares a variable without a value: in Python it begins with its first assignment."""
    name = cx.python_name(variable.name)
    if kind is Kind.DIM3:
        _extents(cx, variable, (integer(1), integer(1), integer(1)))
        return
    if kind in (Kind.OPTIONS, Kind.PROPERTIES):
        cx.bind(variable.name, options_of() if kind is Kind.OPTIONS else Code("", kind))
        return
    if kind is Kind.OTHER and (code := _record(cx, name, variable.type)) is not None:
        cx.bind(variable.name, code)
        return
    if kind is Kind.OTHER:
        raise Refusal(variable.line, f"the type '{variable.type.name}' has no counterpart in a launcher")
    if kind is Kind.SEQUENCE:
        cx.emit(f"{name} = []", name)
    cx.changes[name] = cx.changes_of(variable.name)
    cx.bind(variable.name, Code(name, kind, ctype=cx.type(variable.type)))


def _record(cx: Context, name: str, type_: TypeName) -> Code | None:
    """Returns a struct of the source or a vector, a variable for each of its fields; None for any other type."""
    fields = records.fields(cx, cx.type(type_))
    if not fields:
        return None
    parts = tuple(_field(cx, f"{name}_{field.name}", field) for field in fields)
    return Code(name, Kind.RECORD, ctype=cx.type(type_), parts=parts, names=tuple(f.name for f in fields))


def _field(cx: Context, name: str, field: Variable) -> Code:
    if field.extents:
        return _elements(cx, name, field)
    return _record(cx, name, field.type) or Code(name, kind_of(cx, field.type), ctype=field.type)


def _initialised(cx: Context, variable: Variable, kind: Kind) -> None:
    assert variable.value is not None
    declared = cx.type(variable.type)
    value = expressions.initial(cx, variable)
    value = value if isinstance(variable.value, Braces) else vector_memory.copied(cx, declared, value)
    if vector_memory.is_of_thrust(declared) and value.kind is Kind.POINTER:
        name = cx.python_name(variable.name)
        cx.changes[name], cx.vectors[name] = cx.changes_of(variable.name), declared
        cx.emit(f"{name} = {value.text}", name)
        cx.bind(variable.name, Code(name, Kind.POINTER, ctype=value.ctype))
        return
    if kind is Kind.DIM3:
        extents = value.parts if value.kind is Kind.DIM3 else (value, integer(1), integer(1))
        _extents(cx, variable, extents)
        return
    if kind is Kind.POINTER and value.kind is Kind.NOTHING:
        _named(cx, variable, value, kind)
        return
    deduced = declared.name == "auto"  # `auto*` is of the type of its value
    if kind in (Kind.INT, Kind.FLOAT, Kind.BOOL, Kind.POINTER) and value.kind is not Kind.OTHER and not deduced:
        value = pointers.cast(cx, declared, value, variable.line)
    if value.kind is Kind.DIM3:
        _extents(cx, variable, value.parts)
        return
    if value.kind is Kind.POINTER and kind is Kind.SEQUENCE:
        kind = Kind.POINTER
    if value.kind is Kind.RECORD and declared.pointers:
        _point(cx, variable, value)
        return
    if value.kind is Kind.RECORD:
        cx.bind(variable.name, _with_fields(cx, variable, value))
        return
    if value.kind in _INLINE or _is_alias(cx, variable, value):
        cx.bind(variable.name, value)
        return
    _named(cx, variable, value, kind if kind is not Kind.OTHER else value.kind)


def _point(cx: Context, variable: Variable, value: Code) -> None:
    """Declares a pointer to a struct of the launcher: another name of its fields, which it also sets."""
    changes = cx.changes_of(variable.name)
    if changes > sum(cx.changes_of(f"{variable.name}.{name}") for name in value.names):
        raise Refusal(variable.line, f"'{variable.name}' points to more than one struct, or is handed on")
    for leaf in records.leaves(value):
        cx.changes[leaf.text] = cx.changes.get(leaf.text, 0) + changes
    cx.bind(variable.name, value)


def _with_fields(cx: Context, variable: Variable, value: Code) -> Code:
    """Declares a struct.

    Its fields are written where they are used, if nothing sets them or what they are made of until then; else they are
    variables.
    """
    changes = cx.changes_of(variable.name)
    if not changes and all(map(cx.settled, records.leaves(value))):
        return value
    kind = value.ctype if variable.type.name == "auto" else variable.type
    own = _record(cx, cx.python_name(variable.name), kind) if kind is not None else None
    if own is None:
        raise Refusal(variable.line, f"'{variable.name}' is a struct that changes, whose fields are not known")
    for field, given in zip(records.leaves(own), records.leaves(value), strict=True):
        cx.emit(f"{field.text} = {given.text}", field.text)
        cx.changes[field.text] = changes
    return own


def _is_alias(cx: Context, variable: Variable, value: Code) -> bool:
    """Returns whether the variable is another name of a tensor, which needs no variable of its own."""
    plain = value.kind is Kind.POINTER and value.text.isidentifier()
    return plain and not cx.changes_of(variable.name) and cx.is_steady(value.text)


def _named(cx: Context, variable: Variable, value: Code, kind: Kind) -> None:
    """Declares a Python variable, whose value is known where the source never changes it."""
    name = cx.python_name(variable.name)
    cx.changes[name] = cx.changes_of(variable.name)
    if value.kind is Kind.SEQUENCE and not cx.is_steady(name) and value.text.endswith((".shape", ".stride()")):
        value = replace(value, text=f"list({value.text})")
    cx.emit(f"{name} = {value.text}", name)
    if value.kind is Kind.INT and cx.is_steady(name) and cx.settled(value):
        cx.values[name] = value.text
    if value.length and kind is Kind.POINTER:
        cx.lengths[name] = value.length
    told = variable.type.name in ("auto", "std::vector")
    ctype = value.ctype if told else cx.type(variable.type)

    constant = value.constant if cx.is_steady(name) else None
    parts = value.parts if value.kind is Kind.SEQUENCE and cx.is_steady(name) else ()
    named = tuple(replace(p, text=f"{name}[{i}]", binds=12) for i, p in enumerate(parts))
    bound = Code(name, kind, constant=constant, ctype=ctype, parts=named, nullable=value.nullable)
    cx.bind(variable.name, replace(bound, kernels=value.kernels))


def _extents(cx: Context, variable: Variable, extents: tuple[Code, ...]) -> None:
    """Declares a `dim3`: an extent is written where it is used if nothing in it changes, else it is a variable."""
    parts = []
    for axis, extent in zip("xyz", extents, strict=True):
        if not cx.changes_of_axis(variable.name, axis) and cx.settled(extent):
            parts.append(extent)
            continue
        name = cx.python_name(f"{variable.name}_{axis}")
        if extent.text != name:
            cx.emit(f"{name} = {extent.text}", name)
        cx.changes[name] = cx.changes_of_axis(variable.name, axis)
        parts.append(Code(name, Kind.INT))
    cx.bind(variable.name, Code("", Kind.DIM3, parts=tuple(parts)))
