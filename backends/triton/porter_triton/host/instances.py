"""Finds the instance of a template that is meant, and the kind of value that a C++ type is."""

from __future__ import annotations

from porter.syntax.nodes import Expression, Literal, Name, TypeName
from porter.syntax.unit import FunctionTree
from porter_triton.host import expressions, times
from porter_triton.host.c_types import Arithmetic
from porter_triton.host.codes import Code, Kind
from porter_triton.host.scope import Context, Template, plain
from porter_triton.host.table import table
from porter_triton.kernels import template_argument
from porter_triton.refusal import Refusal

_TENSORS = ("Tensor", "TensorArg", "optional", "OptionalTensorRef")
_CLASSES = {Kind.STRING: TypeName("std::string"), Kind.TENSOR: TypeName("at::Tensor"), Kind.BOOL: TypeName("bool")}
_STRINGS = ("string", "string_view", "c10::string_view")


def kind_of(cx: Context, declared: TypeName) -> Kind:
    """Returns what a value of the type is in Python."""
    name = cx.type(declared)
    if name.name in table().dropped_types:
        return Kind.STREAM
    if times.is_moment(cx, name):
        return Kind.TIME
    if name.pointers == 1 and plain(name.name) == "Tensor" and not cx.is_own(name):
        return Kind.TENSOR
    if name.name == "()":
        return Kind.KERNEL
    if name.pointers:
        return Kind.STRING if name.name == "char" and name.const else Kind.POINTER
    if name.name.startswith("cudaError") or name.name == "CUresult":
        return Kind.ERROR
    wanted = cx.built_in(name)
    if isinstance(wanted, Arithmetic):
        return Kind.BOOL if wanted.kind == "bool" else Kind.FLOAT if wanted.is_float else Kind.INT
    return Kind.OTHER if plain(name.name) in _TENSORS and cx.is_own(name) else _of_class(name)


def _of_class(name: TypeName) -> Kind:
    short = plain(name.name)
    if short == "optional" and name.arguments and isinstance(inner := name.arguments[0], TypeName):
        return Kind.TENSOR if plain(inner.name) == "Tensor" else Kind.OTHER
    kinds = {
        "dim3": Kind.DIM3, "TensorOptions": Kind.OPTIONS, "ScalarType": Kind.DTYPE, "Device": Kind.DEVICE,
        "Dtype": Kind.DTYPE, "vector": Kind.SEQUENCE, "tuple": Kind.SEQUENCE, "pair": Kind.SEQUENCE,
        "array": Kind.SEQUENCE, "thrust::device_vector": Kind.POINTER, "thrust::host_vector": Kind.POINTER,
        "IntArrayRef": Kind.SEQUENCE, "TensorList": Kind.SEQUENCE, "void": Kind.NOTHING,
    }  # fmt: skip
    if short == "cudaDeviceProp":
        return Kind.PROPERTIES
    if short in _TENSORS:
        return Kind.TENSOR
    if short in _STRINGS:
        return Kind.STRING
    return kinds.get(short, Kind.OTHER)


def instance(
    cx: Context, function: FunctionTree, explicit: Template, arguments: tuple[Code, ...], line: int
) -> Template:
    """Returns the template arguments of a call: those given, then those the arguments tell, then the defaults."""
    found = [settled(cx, a, line) for a in explicit]
    for parameter in function.head.template[len(found) :]:
        if parameter.kind.endswith("...") or not parameter.name:
            break
        told: TypeName | Expression | None = _deduced(cx, function, parameter.name, arguments)
        if told is None and parameter.default:
            told = settled(cx, template_argument(parameter.default), line)
        if told is None:
            raise Refusal(line, f"what '{parameter.name}' of '{function.head.name}' is cannot be told")
        found.append(told)
    return tuple(found)


def settled(cx: Context, argument: TypeName | Expression, line: int) -> TypeName | Expression:
    """Returns a template argument without names of this function: a type or a constant."""
    if isinstance(argument, TypeName):
        held = cx.find(argument.name)
        of_function = held is None and not cx.unit.struct(argument.name) and cx.unit.named(argument.name)
        if not (isinstance(held, Code) or of_function):
            return cx.type(argument)
        argument = Name(argument.name, argument.arguments, line)
    if isinstance(argument, Name) and isinstance(meaning := cx.find(argument.name), TypeName):
        return cx.type(meaning)
    if isinstance(argument, Name) and cx.find(argument.name) is None and cx.unit.named(argument.name):
        return Name(argument.name, tuple(settled(cx, a, line) for a in argument.template))
    value = expressions.expression(cx, argument)
    if value.constant is None:
        raise Refusal(line, f"the template argument '{value.text}' is not known when the kernel is compiled")
    kind = "bool" if isinstance(value.constant, bool) else "float" if isinstance(value.constant, float) else "int"
    return Literal(value.constant, kind)


def _deduced(
    cx: Context, function: FunctionTree, name: str, arguments: tuple[Code, ...]
) -> TypeName | Expression | None:
    """Returns what the template parameter `name` must be for the arguments to fit: a type, or an argument of it."""
    for parameter, argument in zip(function.parameters, arguments, strict=False):
        told = argument.ctype or _CLASSES.get(argument.kind)
        if told is None:
            continue
        given = cx.type(told)
        if parameter.type.name == name and given.pointers >= parameter.type.pointers:
            return TypeName(given.name, given.arguments, given.pointers - parameter.type.pointers)
        for pattern, inner in zip(parameter.type.arguments, given.arguments, strict=False):
            if getattr(pattern, "name", "") == name and not getattr(pattern, "arguments", ()):
                return inner
    return None
