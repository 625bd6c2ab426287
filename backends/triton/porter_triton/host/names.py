"""Names in host code: variables, constants of the source, members of classes, PyTorch's enumerators."""

from __future__ import annotations

import math
import re
from dataclasses import replace

from porter.contract.analysis.elements import torch_constant
from porter.ir.simt.builder.errors import told_by_build
from porter.syntax.nodes import Assign, Braces, Declare, Expression, Member, Name, TypeName, Unary, Variable
from porter.syntax.walk import walk
from porter_triton.host import (
    expressions,
    held_kernels,
    indexing,
    lasting,
    member_types,
    methods,
    objects,
    predefined,
    times,
)
from porter_triton.host.assigned import assigned
from porter_triton.host.codes import (
    ATOM,
    NONE,
    SIGN,
    SUCCESS,
    Code,
    Kind,
    integer,
    sequence,
    string,
    truth,
)
from porter_triton.host.scope import Addresses, Closure, Context, plain
from porter_triton.host.unchanged import keeps_value
from porter_triton.refusal import Refusal


def name(cx: Context, node: Name) -> Code:
    """Returns the value a name stands for: the function's own, the source's, or one of CUDA and PyTorch."""
    meaning = cx.find(node.name)
    if isinstance(meaning, Code):
        return meaning
    if (kernel := held_kernels.value(cx, node)) is not None:
        return kernel
    if isinstance(meaning, TypeName | Closure | Addresses):
        raise Refusal(node.line, f"'{node.name}' is not a value")
    found = _constant(cx, node) or _predefined(cx, node) or _of_torch(cx, plain(node.name)) or of_device(cx, node)
    found = found or times.variable(cx, node.name) or indexing.named(plain(node.name))
    found = found or lasting.of_file(cx, node.name)
    if found is None and (own := objects.static_constant(cx, node.name)) is not None:
        return name(cx, own)
    if found is None:
        declared = cx.unit.variables_named(node.name, cx.function.head.scope)
        raise Refusal(node.line, f"'{node.name}' is not known{'' if declared else told_by_build(node.name)}")
    return found


def failure(node: Expression) -> str:
    """Returns the name of one of CUDA's error codes, except success; else empty."""
    named = isinstance(node, Name) and re.fullmatch(r"(?:::)?cudaError[A-Z]\w*", node.name)
    return node.name if isinstance(node, Name) and named else ""


def _predefined(cx: Context, node: Name) -> Code | None:
    """Returns what the compiler and CUDA's headers define."""
    if (found := _number(node.name.removeprefix("::"))) is not None:
        return found
    if node.name.startswith(("cudaSuccess", "cudaMemcpy", "cudaStream", "cudaEvent")):
        return SUCCESS
    if node.name in ("__func__", "__FUNCTION__", "__PRETTY_FUNCTION__"):
        return string(cx.function.head.name)
    return integer(node.line) if node.name == "__LINE__" else None


def _number(name: str) -> Code | None:
    """Returns the value of a number that a header defines, such as `FLT_MAX`; None for any other name, and for null."""
    found = predefined.constant(name)
    if found is None or name in ("true", "false", "NULL"):
        return None
    value, kind = found[0], TypeName(found[1].name)
    if isinstance(value, int):
        return integer(value).typed(kind)
    if not math.isfinite(value):
        return Code(f"math.{value}", Kind.FLOAT, ctype=kind)
    return Code(repr(value), Kind.FLOAT, constant=value, ctype=kind)


def of_device(cx: Context, node: Name) -> Code | None:
    """Returns the properties of the device, also for a variable of the file that only ever gets them."""
    declared = [v for v in cx.unit.variables if v.name == node.name]
    if not declared:
        return None
    if declared[-1].type.name == "cudaDeviceProp":
        return Code("", Kind.PROPERTIES)
    asked: set[str] = set()
    for function in cx.unit.functions:
        if not assigned(function.body)[node.name]:
            continue
        inside = list(walk(function.body))
        held = {
            v.name for n in inside if isinstance(n, Declare) for v in n.variables if v.type.name == "cudaDeviceProp"
        }
        for change in inside:
            match change:
                case Assign(operator="", target=Name(name=node.name), value=Member(owner=Name(name=owner), name=asks)):
                    asked.add(asks if owner in held else "")
                case Assign(target=Name(name=node.name)) | Unary(operator="&", operand=Name(name=node.name)):
                    asked.add("")
    return methods.device_property(cx, asked.pop(), node.line) if len(asked) == 1 and "" not in asked else None


# As keywords, which is how Python's functions take them.
_FORMATS = {"ChannelsLast": "channels_last", "ChannelsLast3d": "channels_last_3d", "Contiguous": "contiguous_format"}


def _of_torch(cx: Context, name: str) -> Code | None:
    """Returns what PyTorch and the standard library define, by its name without namespaces."""
    if (dtype := torch_constant(name)) is not None:
        return Code(f"torch.{dtype}", Kind.DTYPE)
    short = name.removeprefix("ScalarType::")
    if short in ("kCUDA", "DeviceType::CUDA"):
        return Code(f"{cx.tensor}.device" if cx.tensor else '"cuda"', Kind.DEVICE)
    known = {
        "kCPU": Code('"cpu"', Kind.DEVICE),
        "kStrided": Code("torch.strided", Kind.OTHER),
        "numeric_limits::infinity": Code("math.inf", Kind.FLOAT),
        **{f"MemoryFormat::{n}": Code(f"memory_format=torch.{text}", Kind.OTHER) for n, text in _FORMATS.items()},
    }
    return NONE if short in ("nullptr", "NULL", "nullopt", "None") else known.get(short)


def _constant(cx: Context, node: Name) -> Code | None:
    """Returns the value of a constant of file scope, or of `std::is_same_v<A, B>`."""
    if node.name in ("std::is_same::value", "std::is_same_v") and len(node.template) == 2:
        first, second = (cx.type(t) if isinstance(t, TypeName) else t for t in node.template)
        same = isinstance(first, TypeName) and isinstance(second, TypeName)
        alike = cx.built_in(first) if isinstance(first, TypeName) else None
        return truth(same and (first == second or (alike is not None and alike == cx.built_in(second))))  # type: ignore[arg-type]
    if (member := _static_member(cx, node)) is not None:
        return member
    found = [v for v in cx.unit.variables_named(node.name, cx.function.head.scope) if v.value is not None]
    if not found or not (found[-1].constexpr or found[-1].type.const or keeps_value(cx.unit, found[-1])):
        return None
    if found[-1].extents:
        return _constants(cx, found[-1])
    values = [expressions.expression(cx, v.value) for v in found if v.value is not None]
    if len({value.text for value in values}) > 1:
        raise Refusal(node.line, f"several variables are called '{node.name}'")
    value = values[-1]
    return replace(value, text=str(value.constant)) if value.constant is not None else value


def _constants(cx: Context, array: Variable) -> Code | None:
    """Returns the numbers of a constant array of file scope that names them all; None for any other."""
    value = array.value
    if not isinstance(value, Braces) or len(array.extents) > 1:
        return None
    items = tuple(expressions.expression(cx, item) for item in value.items)
    length = expressions.expression(cx, array.extents[0]).constant if array.extents[0] is not None else len(items)
    if length != len(items) or any(item.constant is None for item in items):
        return None
    numbers = tuple(replace(item, text=str(item.constant), binds=ATOM) for item in items)
    return sequence(numbers).typed(TypeName("std::array", (array.type,)))


def _static_member(cx: Context, node: Name) -> Code | None:
    """Returns the value of `T::size`, its template parameters those of `T`."""
    owner, _, name = node.name.rpartition("::")
    if not owner:
        return None
    found = member_types.definition(cx, cx.type(TypeName(owner, node.template)))
    struct, bindings = found if found is not None else (None, ())
    field = next((f for f in struct.fields if f.name == name), None) if struct is not None else None
    if field is None or not field.constexpr or field.value is None:
        return None
    with cx.scope():
        member_types.bind(cx, bindings)
        value = expressions.expression(cx, field.value)
    if value.constant is None:
        return value
    return replace(value, text=str(value.constant), binds=ATOM if value.constant >= 0 else SIGN)
