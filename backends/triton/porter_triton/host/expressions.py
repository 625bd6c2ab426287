"""Expressions of host code in Python."""

from __future__ import annotations

from dataclasses import replace

from porter.syntax.nodes import (
    Assign,
    Binary,
    Braces,
    Call,
    Cast,
    Choice,
    Expression,
    Lambda,
    Literal,
    Member,
    Name,
    SizeOf,
    Subscript,
    TypeName,
    Unary,
    Unread,
    Variable,
)
from porter_triton.host import calls, methods, runtime
from porter_triton.host.arithmetic import added, binary, condition, negation, negative
from porter_triton.host.codes import (
    CONDITIONAL,
    NONE,
    SIGN,
    SUCCESS,
    Code,
    Kind,
    integer,
    sequence,
    truth,
)
from porter_triton.host.scope import Closure, Context, plain
from porter_triton.host.table import table
from porter_triton.lower.types import Arithmetic
from porter_triton.refusal import Refusal

_LIMITS = {"C10_WARP_SIZE": 32, "INT_MAX": 2**31 - 1, "INT_MIN": -(2**31), "WARP_SIZE": 32, "warpSize": 32}


def expression(cx: Context, node: Expression) -> Code:
    """The Python for `node`; raises `Refusal` for what Python cannot say."""
    match node:
        case Literal():
            return _literal(node)
        case Name():
            return _name(cx, node)
        case Unary():
            return _unary(cx, node)
        case Binary():
            return _binary(cx, node)
        case Choice():
            return _choice(cx, node)
        case Cast():
            return runtime.host_memory(cx, node) or cast(cx, node.type, expression(cx, node.operand), node.line)
        case SizeOf():
            of = node.of if isinstance(node.of, TypeName) else expression(cx, node.of).ctype
            if of is None:
                raise Refusal(node.line, "the size of this is not known")
            return integer(cx.size_of(of, node.line))
        case Call():
            return runtime.host_memory(cx, node) or calls.call(cx, node)
        case Member():
            return methods.member(cx, node)
        case Subscript():
            return _subscript(cx, node)
        case Braces():
            return braces(cx, node)
    raise Refusal(getattr(node, "line", 0), _why_not(node))


def _why_not(node: Expression) -> str:
    match node:
        case Unread():
            return node.reason
        case Lambda():
            return "a lambda as a value has no counterpart in a launcher"
        case Assign():
            return "an assignment within an expression has no counterpart in Python"
    return f"{type(node).__name__} has no counterpart in a launcher"


def _literal(node: Literal) -> Code:
    if node.type == "nullptr":
        return NONE
    if node.type == "string":
        return Code(repr_string(str(node.value)), Kind.STRING)
    if isinstance(node.value, bool):
        return truth(node.value)
    if isinstance(node.value, float):
        return Code(repr(node.value), Kind.FLOAT, constant=node.value, ctype=TypeName(node.type))
    return replace(integer(int(node.value)), ctype=TypeName(node.type))


def repr_string(text: str) -> str:
    """`text` in double quotes."""
    escaped = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")
    if '"' in text and "'" not in text:
        return f"'{escaped}'"
    return '"' + escaped.replace('"', '\\"') + '"'


def _name(cx: Context, node: Name) -> Code:
    meaning = cx.find(node.name)
    if isinstance(meaning, Code):
        return meaning
    if isinstance(meaning, TypeName | Closure):
        raise Refusal(node.line, f"'{node.name}' is no value")
    if node.name in _LIMITS:
        return integer(_LIMITS[node.name])
    if plain(node.name) in ("nullptr", "NULL", "nullopt", "None"):
        return NONE
    if node.name.startswith(("cudaSuccess", "cudaMemcpy", "cudaStream", "cudaEvent")):
        return SUCCESS
    if (found := _constant(cx, node)) is not None:
        return found
    if node.name in ("__FILE__", "__func__", "__FUNCTION__", "__PRETTY_FUNCTION__"):
        return Code(repr_string(cx.function.head.name), Kind.STRING)
    if node.name == "__LINE__":
        return integer(node.line)
    short = plain(node.name).removeprefix("ScalarType::")
    if short in table().dtypes:
        return Code(f"torch.{table().dtypes[short]}", Kind.DTYPE)
    if short in ("kCUDA", "DeviceType::CUDA"):
        return Code(f"{cx.tensor}.device" if cx.tensor else '"cuda"', Kind.DEVICE)
    if short == "kCPU":
        return Code('"cpu"', Kind.DEVICE)
    if short in ("INFINITY", "numeric_limits::infinity"):
        return Code("math.inf", Kind.FLOAT)
    raise Refusal(node.line, f"'{node.name}' is not known")


def _constant(cx: Context, node: Name) -> Code | None:
    """The value of a constant of file scope, or of `std::is_same_v<A, B>`."""
    if node.name in ("std::is_same::value", "std::is_same_v") and len(node.template) == 2:
        first, second = (cx.type(t) if isinstance(t, TypeName) else t for t in node.template)
        same = isinstance(first, TypeName) and isinstance(second, TypeName)
        alike = cx.built_in(first) if isinstance(first, TypeName) else None
        return truth(same and (first == second or (alike is not None and alike == cx.built_in(second))))  # type: ignore[arg-type]
    if (member := _static_member(cx, node)) is not None:
        return member
    plain_name = node.name.split("::")[-1]
    for variable in reversed(cx.unit.variables):
        if variable.name in (node.name, plain_name) and variable.value is not None and not variable.extents:
            if not (variable.constexpr or variable.type.const):
                return None
            value = expression(cx, variable.value)
            return replace(value, text=str(value.constant)) if value.constant is not None else value
    return None


def _static_member(cx: Context, node: Name) -> Code | None:
    """The value of `T::size`, its template parameters those of `T`."""
    owner, _, name = node.name.rpartition("::")
    if not owner:
        return None
    kind = cx.type(TypeName(owner, node.template))
    for struct in reversed(cx.unit.struct(kind.name)):
        for field in struct.fields:
            if field.name == name and field.constexpr and field.value is not None:
                with cx.scope():
                    for parameter, argument in zip(struct.template, kind.arguments, strict=False):
                        cx.bind(
                            parameter.name, argument if isinstance(argument, TypeName) else expression(cx, argument)
                        )
                    value = expression(cx, field.value)
                return replace(value, text=str(value.constant)) if value.constant is not None else value
    return None


def _unary(cx: Context, node: Unary) -> Code:
    if node.operator == "&" and isinstance(node.operand, Subscript):
        index = Binary("+", node.operand.owner, node.operand.index, node.line)
        return expression(cx, index)
    value = expression(cx, node.operand)
    match node.operator:
        case "-":
            return negative(value)
        case "!":
            return negation(value) if value.kind is not Kind.ERROR else truth(True)
        case "+":
            return value
        case "~":
            return Code(f"~{value.within(SIGN)}", Kind.INT, SIGN)
        case "*" if value.kind in (Kind.TENSOR, Kind.SEQUENCE):  # an optional or an iterator's tensor
            return value
        case "*" if value.kind is Kind.POINTER:
            return Code(f"{flat(cx, value)}[0].item()", pointed_kind(cx, value))
    raise Refusal(node.line, f"'{node.operator}' has no counterpart in a launcher")


def flat(cx: Context, pointer: Code) -> str:
    """The tensor that `pointer` is, as a row of elements."""
    return pointer.text if pointer.text.endswith("]") or pointer.text in cx.lengths else f"{pointer.text}.view(-1)"


def part(begin: Code | None = None, end: Code | None = None) -> str:
    """`[begin:]` or `[:end]`, blanks beside the colon where the bound is no plain name or number."""
    first, last = begin.text if begin else "", end.text if end else ""
    plain = all(not text or text.isidentifier() or text.isdecimal() for text in (first, last))
    return f"[{first}:{last}]" if plain else f"[{first} : {last}]".replace("[ :", "[:").replace(": ]", ":]")


def pointed_kind(cx: Context, pointer: Code) -> Kind:
    """What a number is that `pointer` points to."""
    kind = None if pointer.ctype is None else cx.built_in(TypeName(pointer.ctype.name, pointer.ctype.arguments))
    if not isinstance(kind, Arithmetic):
        return Kind.OTHER
    return Kind.FLOAT if kind.is_float else Kind.INT


def _binary(cx: Context, node: Binary) -> Code:
    left, right = expression(cx, node.left), expression(cx, node.right)
    if left.kind is Kind.POINTER and node.operator == "+" and right.kind is Kind.INT:
        if right.constant == 0:
            return left
        return Code(f"{flat(cx, left)}{part(begin=right)}", Kind.POINTER, ctype=left.ctype)
    if right.kind is Kind.POINTER and node.operator == "+" and left.kind is Kind.INT:
        return Code(f"{flat(cx, right)}{part(begin=left)}", Kind.POINTER, ctype=right.ctype)
    if Kind.POINTER in (left.kind, right.kind) and node.operator in "+-*/%":
        raise Refusal(node.line, "a pointer can only be moved forward")
    if Kind.DEVICE in (left.kind, right.kind) and node.operator in ("==", "!="):
        return truth(node.operator == "==") if '"' in left.text + right.text else _compared(node.operator, left, right)
    if node.operator in ("/", "%") and Kind.OTHER in (left.kind, right.kind):
        raise Refusal(node.line, "it is not known whether this division is one of integers")
    if node.operator == ",":
        raise Refusal(node.line, "the comma operator has no counterpart in Python")
    if node.operator in ("+", "-"):
        return added(node.operator, left, right)
    return binary(node.operator, left, right)


def _compared(symbol: str, left: Code, right: Code) -> Code:
    return truth(symbol == "==") if left.text == right.text else binary(symbol, left, right)


def _choice(cx: Context, node: Choice) -> Code:
    asked = condition(expression(cx, node.condition))
    if asked.constant is not None:
        return expression(cx, node.yes if asked.constant else node.no)
    yes, no = expression(cx, node.yes), expression(cx, node.no)
    if no.kind is Kind.NOTHING and asked.text == f"{yes.text} is not None":
        return yes
    text = f"{yes.within(CONDITIONAL + 1)} if {asked.within(CONDITIONAL + 1)} else {no.text}"
    kind = yes.kind if yes.kind not in (Kind.NOTHING, Kind.INT) else no.kind
    return Code(text, kind, CONDITIONAL, ctype=yes.ctype or no.ctype)


def cast(cx: Context, target: TypeName, value: Code, line: int) -> Code:
    """`(T)value`."""
    kind = cx.type(target)
    if kind.pointers or value.kind is Kind.NOTHING:
        return _pointer_cast(cx, kind, value, line)
    wanted = cx.built_in(kind)
    if value.kind is Kind.POINTER and isinstance(wanted, Arithmetic):
        return Code(f"{value.text}.data_ptr()", Kind.INT, ctype=kind)
    if not isinstance(wanted, Arithmetic) or not value.is_number:
        return value
    if wanted.is_float:
        constant = None if value.constant is None else float(value.constant)
        text = value.text if value.constant is None or value.kind is Kind.FLOAT else repr(float(value.constant))
        return Code(text, Kind.FLOAT, value.binds, constant, kind)
    if value.kind is Kind.FLOAT:
        constant = None if value.constant is None else int(value.constant)
        if value.text.startswith(("math.ceil(", "math.floor(")) and value.text.endswith(")"):
            return Code(value.text, Kind.INT, constant=constant, ctype=kind)
        return Code(f"int({value.text})", Kind.INT, constant=constant, ctype=kind)
    return replace(value, ctype=kind, kind=Kind.BOOL if wanted.kind == "bool" else Kind.INT)


def _pointer_cast(cx: Context, kind: TypeName, value: Code, line: int) -> Code:
    """A pointer as one to another type: a view where the elements are of another dtype."""
    if value.ctype is None or value.kind is not Kind.POINTER:
        return value.typed(kind) if value.kind is Kind.TENSOR else value
    if kind.name == "void" or value.ctype.name == "void" or kind.pointers != 1:
        return value if kind.name == "void" else value.typed(kind)
    wanted, given = cx.dtype(kind, line), cx.dtype(value.ctype, line)
    text = value.text if wanted == given else f"{value.text}.view(torch.{wanted})"
    return Code(text, Kind.POINTER, ctype=kind)


def _subscript(cx: Context, node: Subscript) -> Code:
    owner, index = expression(cx, node.owner), expression(cx, node.index)
    if owner.kind is Kind.SEQUENCE and owner.parts and index.constant is not None:
        return owner.parts[int(index.constant)]
    if owner.kind is Kind.SEQUENCE:
        text = f"{owner.text}[{index.text}]"
        if owner.text.endswith((".shape", ".stride()")):
            return Code(text, Kind.INT)
        inner = owner.ctype.arguments[0] if owner.ctype is not None and owner.ctype.arguments else None
        return Code(text, element_kind(owner), ctype=inner if isinstance(inner, TypeName) else None)
    if owner.kind is Kind.TENSOR:
        return Code(f"{owner.text}[{index.text}]", Kind.TENSOR)
    if owner.kind is Kind.POINTER:
        return Code(f"{flat(cx, owner)}[{index.text}].item()", pointed_kind(cx, owner))
    raise Refusal(node.line, "this has no elements in a launcher")


def element_kind(owner: Code) -> Kind:
    """What the elements of a `std::vector` or array are."""
    inner = owner.ctype.arguments[0] if owner.ctype is not None and owner.ctype.arguments else None
    name = plain(inner.name) if isinstance(inner, TypeName) else ""
    if name == "Tensor" or (owner.ctype is not None and plain(owner.ctype.name) == "TensorList"):
        return Kind.TENSOR
    return Kind.SEQUENCE if name == "vector" else Kind.FLOAT if name in ("float", "double") else Kind.INT


def braces(cx: Context, node: Braces) -> Code:
    """`{a, b}`; of one type, the object made of them."""
    if node.type is not None:
        made = calls.made(cx, node.type, tuple(expression(cx, i) for i in node.items), node.line)
        if made is not None:
            return made
    return sequence(tuple(expression(cx, i) for i in node.items))


def initial(cx: Context, variable: Variable) -> Code:
    """The value a variable is declared with; `T x(a)` and `T x{a}` of one number or tensor is that."""
    value = variable.value
    assert value is not None
    if isinstance(value, Braces) and value.type is not None:
        items = tuple(expression(cx, i) for i in value.items)
        made = calls.made(cx, value.type, items, variable.line)
        if made is not None:
            return made
        if len(items) == 1:
            return items[0]
        raise Refusal(variable.line, f"the type '{value.type.name}' has no counterpart in a launcher")
    if isinstance(value, Braces) and (made := _made_of(cx, variable.type, value, variable.line)) is not None:
        return made
    return expression(cx, value)


def _made_of(cx: Context, kind: TypeName, value: Braces, line: int) -> Code | None:
    """`T x = {a, b}`."""
    if any(isinstance(i, Assign) for i in value.items):
        raise Refusal(line, "designated initializers are not understood")
    return calls.made(cx, kind, tuple(expression(cx, i) for i in value.items), line)


def returned(cx: Context, value: Braces, kind: TypeName) -> Code:
    """`return {a, b};` of a function that returns `kind`: a list for a vector, else a tuple."""
    items = tuple(expression(cx, i) for i in value.items)
    return calls.made(cx, kind, items, value.line) or sequence(items)
