"""Members and methods: of tensors, their options, devices, `dim3`, vectors."""

from __future__ import annotations

from dataclasses import replace

from porter.syntax.nodes import Call, Member, TypeName
from porter_triton.emulated import MULTIPROCESSORS
from porter_triton.host import accessors, expressions, indexing, pointers
from porter_triton.host.c_types import Arithmetic
from porter_triton.host.codes import ATOM, COMPARE, CONDITIONAL, NONE, Code, Kind, integer, sequence, truth
from porter_triton.host.scope import Context
from porter_triton.host.table import table
from porter_triton.refusal import Refusal

_OF_SCALAR = {"toInt": "int", "toLong": "long", "toFloat": "float", "toDouble": "double", "toBool": "bool"}
_ENDS = {"front": 0, "back": -1}
_BY_PLACE = ("to", "view")
_OF_DEVICE = {"is_cuda": True, "is_cpu": False}


def member(cx: Context, node: Member) -> Code:
    """Translates `owner.name` where it is not a call."""
    owner = expressions.expression(cx, node.owner)
    if owner.kind is Kind.DIM3 and node.name in ("x", "y", "z"):
        return owner.parts["xyz".index(node.name)]
    if owner.kind is Kind.RECORD:
        return record_field(owner, node.name, node.line)
    if owner.kind is Kind.PROPERTIES:
        return device_property(cx, node.name, node.line)
    if owner.kind is Kind.TIME:
        return owner
    raise Refusal(node.line, f"the member '{node.name}' is not known")


def record_field(owner: Code, name: str, line: int) -> Code:
    """Returns the variable behind a field of a struct."""
    if name in owner.names:
        return owner.parts[owner.names.index(name)]
    raise Refusal(line, f"the member '{name}' is not known")


def device_property(cx: Context, name: str, line: int) -> Code:
    """Returns what host code asks of its device; without one there are as many multiprocessors as porter emulates."""
    if (known := table().device.get(name)) is not None:
        return integer(known) if isinstance(known, int) else sequence(tuple(map(integer, known)))
    if name != "multiProcessorCount":
        raise Refusal(line, f"the property '{name}' of a device is not known")
    if not cx.tensor:
        return Code("torch.cuda.get_device_properties(None).multi_processor_count", Kind.INT)
    asked = f"torch.cuda.get_device_properties({cx.tensor}.device).multi_processor_count"
    return Code(f"{asked} if {cx.tensor}.is_cuda else {MULTIPROCESSORS}", Kind.INT, CONDITIONAL)


def method(cx: Context, node: Call, callee: Member, owner: Code) -> Code:
    """Translates `owner.name(arguments)`, where `owner` is no object of a class of the source."""
    if callee.name in _OF_DEVICE:
        return truth(_OF_DEVICE[callee.name])
    if owner.kind is Kind.STREAM or (owner.kind is Kind.NOTHING and callee.name == "stream"):
        return Code("", Kind.STREAM)
    if owner.kind is Kind.TIME or _is_itself(owner, callee):
        return owner
    arguments = tuple(expressions.expression(cx, a) for a in node.arguments)
    if callee.name in ("data_ptr", "data", "const_data_ptr", "mutable_data_ptr") and owner.kind is not Kind.OPTIONS:
        return data(cx, owner, callee)
    if callee.name in accessors.METHODS:
        return accessors.packed(cx, owner, callee)
    if owner.kind in (Kind.OPTIONS, Kind.DTYPE, Kind.DEVICE):
        return _of_options(owner, callee.name, arguments, node.line)
    if callee.name == "options":
        return options_of(Code(f"{owner.text}.dtype", Kind.DTYPE), Code(f"{owner.text}.device", Kind.DEVICE))
    if callee.name == "item":
        return _item(cx, owner, callee)
    if owner.kind is Kind.OTHER and (callee.name in _OF_SCALAR or (callee.name == "to" and callee.template)):
        return _of_scalar(cx, owner, callee)
    if owner.kind is Kind.POINTER and callee.name == "get":
        return owner
    if owner.kind is Kind.POINTER and callee.name == "size":
        return Code(f"{owner.text}.numel()", Kind.INT)
    if owner.kind is Kind.SEQUENCE and callee.name in ("size", "vec", "slice", "begin", "end", "back", "front"):
        return _of_sequence(owner, callee.name, arguments, node.line)
    found = _of_standard(owner, callee.name, arguments)
    is_tensor = owner.kind is Kind.TENSOR
    found = found or (indexing.method(cx, owner, callee.name, arguments, node.line) if is_tensor else None)
    return found or of_tensor(owner, callee.name, arguments, node.line)


def _of_standard(owner: Code, name: str, arguments: tuple[Code, ...]) -> Code | None:
    """Returns a method of the standard library's optionals and lists that takes an argument; None for any other."""
    if name == "value_or" and len(arguments) == 1:
        return _given_or(owner, arguments[0])
    is_element = name == "at" and owner.kind is Kind.SEQUENCE and len(arguments) == 1
    return expressions.element(owner, arguments[0]) if is_element else None


def _given_or(owner: Code, other: Code) -> Code:
    """Translates `x.value_or(other)` of an optional."""
    if other.kind is Kind.NOTHING:
        return owner
    text = f"{owner.within(COMPARE)} if {owner.text} is not None else {other.within(CONDITIONAL)}"
    return replace(other, text=text, binds=CONDITIONAL, constant=None)


def _is_itself(owner: Code, callee: Member) -> bool:
    """Returns whether a method gives the tensor itself, without its history."""
    return owner.kind is Kind.TENSOR and callee.name in ("data", "variable_data") and not callee.template


def data(cx: Context, owner: Code, callee: Member) -> Code:
    """Returns a tensor as the pointer to its elements; the first template argument of `callee` is their type."""
    line = callee.line
    if owner.kind is Kind.POINTER:
        return owner
    if owner.kind not in (Kind.TENSOR, Kind.OTHER, Kind.SEQUENCE):
        raise Refusal(line, "only a tensor has data here")
    inner = callee.template[0] if callee.template else None
    if not isinstance(inner, TypeName):
        return Code(owner.text, Kind.POINTER, owner.binds, ctype=TypeName("void", pointers=1))
    kind = cx.type(inner)
    if owner.kind is not Kind.SEQUENCE:
        subject = cx.dtypes.subjects.get(inner.name)
        cx.dtypes.ask(owner.text, subject or f"torch.{cx.dtype(inner, line)}", cx.is_steady)
    return Code(owner.text, Kind.POINTER, owner.binds, ctype=TypeName(kind.name, kind.arguments, 1))


def _of_options(owner: Code, name: str, arguments: tuple[Code, ...], line: int) -> Code:
    """Returns a method of options, or of a dtype or device."""
    if owner.kind is Kind.OPTIONS:
        return _option(owner, name, arguments, line)
    if owner.kind is Kind.DTYPE and name in ("scalarType", "toScalarType"):
        return owner
    return _device(owner, name, line)


def _option(owner: Code, name: str, arguments: tuple[Code, ...], line: int) -> Code:
    """Translates `options.dtype(...)`, `.device(...)`; without an argument they ask."""
    dtype, device = owner.parts
    if name == "dtype":
        return Code("", Kind.OPTIONS, parts=(arguments[0], device)) if arguments else dtype
    if name == "device":
        return Code("", Kind.OPTIONS, parts=(dtype, arguments[0])) if arguments else device
    if name in ("requires_grad", "layout", "memory_format", "pinned_memory"):
        return owner
    raise Refusal(line, f"the option '{name}' is not known")


def _device(owner: Code, name: str, line: int) -> Code:
    if name == "type":
        return owner
    if name == "index":
        return Code(f"{owner.text}.index", Kind.INT)
    raise Refusal(line, f"the member '{name}' of a device is not known")


def _item(cx: Context, owner: Code, callee: Member) -> Code:
    inner = callee.template[0] if callee.template else None
    kind = Kind.OTHER
    if isinstance(inner, TypeName):
        name = cx.type(inner).name
        kind = Kind.FLOAT if name in ("float", "double") else Kind.BOOL if name == "bool" else Kind.INT
    return Code(f"{owner.within(ATOM)}.item()", kind)


def _of_scalar(cx: Context, owner: Code, callee: Member) -> Code:
    """Returns the number that a `Scalar`, such as `x.item()`, holds."""
    inner = callee.template[0] if callee.template else TypeName(_OF_SCALAR.get(callee.name, ""))
    ctype = cx.type(inner) if isinstance(inner, TypeName) else None
    wanted = cx.built_in(ctype) if ctype is not None else None
    if not isinstance(wanted, Arithmetic):
        raise Refusal(callee.line, f"the method '{callee.name}' is not known")
    kind = Kind.FLOAT if wanted.is_float else Kind.BOOL if wanted.kind == "bool" else Kind.INT
    return Code(f"{kind.value}({owner.text})", kind, ctype=ctype)


def _of_sequence(owner: Code, name: str, arguments: tuple[Code, ...], line: int) -> Code:
    if name in _ENDS and not arguments:
        return owner.parts[_ENDS[name]] if owner.parts else expressions.element(owner, integer(_ENDS[name]))
    if name == "size":
        return Code(f"len({owner.text})", Kind.INT)
    if name == "vec":
        return owner
    if name == "slice" and len(arguments) == 2 and arguments[0].constant == 0:  # from the first on, so many
        return Code(f"{owner.text}{pointers.part(end=arguments[1])}", Kind.SEQUENCE, ctype=owner.ctype)
    raise Refusal(line, f"'{name}' of a sequence has no counterpart")


def of_tensor(owner: Code, name: str, arguments: tuple[Code, ...], line: int) -> Code:
    """Translates `x.name(arguments)` of a tensor as the table says."""
    found = table()
    if name in found.methods:
        return found.methods[name].apply(owner, arguments)
    if name in found.same_methods and owner.kind in (Kind.TENSOR, Kind.OTHER):
        inside = ", ".join(passed(name, a) for a in arguments)
        return Code(f"{owner.within(ATOM)}.{name}({inside})", found.same_methods[name])
    raise Refusal(line, f"the method '{name}' is not known")


def passed(name: str, argument: Code) -> str:
    """Returns an argument of a method or function; a dtype goes by its name, but where it stands for more."""
    is_named = argument.kind is Kind.DTYPE and name not in _BY_PLACE
    return f"dtype={argument.text}" if is_named else spread(argument)


def spread(argument: Code) -> str:
    """Returns an argument of a PyTorch function; options are the keywords they stand for."""
    if argument.kind is Kind.OPTIONS:
        return ", ".join(keywords(argument))
    return argument.text


def keywords(options: Code) -> list[str]:
    """Returns `dtype=..., device=...` as far as the options say."""
    dtype, device = options.parts
    named = (("dtype", dtype), ("device", device))
    return [f"{name}={code.text}" for name, code in named if code.kind is not Kind.NOTHING]


def options_of(dtype: Code = NONE, device: Code = NONE) -> Code:
    """Returns options with the known parts."""
    return Code("", Kind.OPTIONS, parts=(dtype, device))
