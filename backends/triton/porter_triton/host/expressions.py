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
    Update,
    Variable,
)
from porter_triton.host import answers, calls, held_kernels, layouts, methods, names, objects, records, runtime, times
from porter_triton.host.arithmetic import added, binary, condition, negation, negative
from porter_triton.host.codes import (
    ATOM,
    CONDITIONAL,
    MOMENT,
    NONE,
    SIGN,
    SUM,
    Code,
    Kind,
    integer,
    sequence,
    string,
    truth,
)
from porter_triton.host.pointers import cast, flat, part, pointed_kind
from porter_triton.host.scope import Context, plain
from porter_triton.refusal import Refusal

_ADDRESS = (
    "the address of a variable is handed to a function that is not at hand, or kept, and '&' has no counterpart in a "
    "launcher: set the variable in this function, or call the kernels from Python"
)


def expression(cx: Context, node: Expression) -> Code:
    """Returns the Python for `node`; raises `Refusal` for what Python cannot say."""
    match node:
        case Literal():
            return _literal(node)
        case Name():
            return names.name(cx, node)
        case Unary():
            return _unary(cx, node)
        case Binary():
            return _binary(cx, node)
        case Choice():
            return _choice(cx, node)
        case Cast():
            return runtime.host_memory(cx, node) or cast(cx, node.type, expression(cx, node.operand), node.line)
        case SizeOf():
            return _size_of(cx, node)
        case Call():
            return runtime.host_memory(cx, node) or calls.call(cx, node)
        case Member():
            return methods.member(cx, node)
        case Subscript():
            return _subscript(cx, node)
        case Braces():
            return braces(cx, node)
        case Assign(operator="", target=Name()) | Update(operand=Name()):
            return _assigned(cx, node) if isinstance(node, Assign) else _moved(cx, node)
    raise Refusal(getattr(node, "line", 0), _why_not(node))


def _assigned(cx: Context, node: Assign) -> Code:
    """Translates `name = value` as a value, which Python writes so."""
    target, value = expression(cx, node.target), expression(cx, node.value)
    if target.kind is value.kind is Kind.ERROR:
        return value
    if not target.is_number or not value.is_number or not target.text.isidentifier():
        raise Refusal(node.line, "an assignment within an expression has no counterpart in Python")
    cx.changed(target.text)
    return replace(value, text=f"({target.text} := {value.text})", binds=ATOM, constant=None)


def _moved(cx: Context, node: Update) -> Code:
    """Translates `++name` as a value, and `name++`, whose value is that before."""
    target, way = expression(cx, node.operand), node.operator[0]
    if not target.is_number or not target.text.isidentifier():
        raise Refusal(node.line, f"'{node.operator}' within an expression has no counterpart in Python")
    cx.changed(target.text)
    made = f"({target.text} := {target.text} {way} 1)"
    before = f"{made} {'-' if way == '+' else '+'} 1"
    return replace(target, text=made if node.prefix else before, binds=ATOM if node.prefix else SUM, constant=None)


def _size_of(cx: Context, node: SizeOf) -> Code:
    held = cx.find(node.of.name) if isinstance(node.of, TypeName) else expression(cx, node.of)
    of = held.ctype if isinstance(held, Code) else node.of if isinstance(node.of, TypeName) else None
    if isinstance(held, Code) and held.kind is Kind.SEQUENCE and held.parts and of is not None and of.arguments:
        inner = of.arguments[0]  # of an array of the launcher
        if isinstance(inner, TypeName):
            return integer(len(held.parts) * layouts.size_of(cx, inner, node.line))
    if of is None:
        raise Refusal(node.line, "the size of this is not known")
    return integer(layouts.size_of(cx, of, node.line))


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
        return string(str(node.value))
    if isinstance(node.value, bool):
        return truth(node.value)
    if isinstance(node.value, float):
        return Code(repr(node.value), Kind.FLOAT, constant=node.value, ctype=TypeName(node.type))
    return replace(integer(int(node.value)), ctype=TypeName(node.type))


def _unary(cx: Context, node: Unary) -> Code:
    if node.operator == "&" and isinstance(node.operand, Subscript):
        index = Binary("+", node.operand.owner, node.operand.index, node.line)
        return expression(cx, index)
    value = expression(cx, node.operand)
    if value.kind is Kind.TIME:
        return value
    match node.operator:
        case "-":
            return negative(value)
        case "!":
            return negation(value) if value.kind is not Kind.ERROR else truth(True)
        case "+":
            return value
        case "~":
            return Code(f"~{value.within(SIGN)}", Kind.INT, SIGN)
        case "&" | "*" if value.kind in (Kind.KERNEL, Kind.RECORD):  # a pointer to a struct is another name of it
            return value
        case "*" if value.kind in (Kind.TENSOR, Kind.SEQUENCE):  # an optional or an iterator's tensor
            return value
        case "*" if value.kind is Kind.POINTER:
            return Code(f"{flat(cx, value)}[0].item()", pointed_kind(cx, value), ctype=_pointed(value))
    if node.operator == "&":
        raise Refusal(node.line, _ADDRESS)
    raise Refusal(node.line, f"'{node.operator}' has no counterpart in a launcher")


def _last_of(cx: Context, node: Binary) -> Code:
    """Returns the right operand of a comma whose left one does nothing: `("a message", n > 0)`."""
    left = node.left
    while isinstance(left, Cast):
        left = left.operand
    if not isinstance(left, Literal | Name):
        raise Refusal(node.line, "a comma whose left operand does something has no counterpart in Python")
    return expression(cx, node.right)


def _binary(cx: Context, node: Binary) -> Code:
    node = _moved_once(cx, node)
    if node.operator in ("==", "!=") and names.failure(node.right):
        expression(cx, node.left)
        return truth(node.operator == "!=")  # what a call answers with is success, else it raises
    if node.operator == ",":
        return _last_of(cx, node)
    left = expression(cx, node.left)
    if node.operator in ("&&", "||") and (asked := condition(left)).constant is None:
        answers.demand_none(cx, node.right)
    elif node.operator in ("&&", "||") and bool(asked.constant) == (node.operator == "||"):
        return truth(bool(asked.constant))  # C++ does not evaluate the other side
    right = expression(cx, node.right)
    if times.is_any(left, right):
        return MOMENT
    if Kind.RECORD in (left.kind, right.kind):
        return calls.operator(cx, node.operator, left, right, node.line)
    if Kind.POINTER in (left.kind, right.kind) and node.operator in "+-*/%":
        return _moved_pointer(cx, node, left, right)
    if Kind.DEVICE in (left.kind, right.kind) and node.operator in ("==", "!="):
        return truth(node.operator == "==") if '"' in left.text + right.text else _compared(node.operator, left, right)
    if node.operator in ("/", "%") and Kind.OTHER in (left.kind, right.kind):
        raise Refusal(node.line, "it is not known whether this is a division of integers")
    if node.operator in ("+", "-"):
        return added(node.operator, left, right)
    return binary(node.operator, left, right)


def _moved_pointer(cx: Context, node: Binary, left: Code, right: Code) -> Code:
    """Translates `p + n` and `n + p`; raises `Refusal` for other arithmetic of pointers."""
    pointer, count = (left, right) if left.kind is Kind.POINTER else (right, left)
    if node.operator != "+" or count.kind is not Kind.INT:
        raise Refusal(node.line, "a pointer can only be moved forward")
    return left if pointer is left and count.constant == 0 else _moved_by(cx, pointer, count, node.line)


def _moved_by(cx: Context, pointer: Code, count: Code, line: int) -> Code:
    """Translates `p + n`: of vectors and structs each is several elements of the tensor."""
    kind = pointer.ctype
    per = layouts.items(cx, TypeName(kind.name, kind.arguments), line) if kind is not None and kind.pointers == 1 else 1
    begin = binary("*", count, integer(per)) if per > 1 else count
    return Code(f"{flat(cx, pointer)}{part(begin=begin)}", Kind.POINTER, ctype=kind)


def _moved_once(cx: Context, node: Binary) -> Binary:
    """Translates `p + n - 1` of a parameter p as `p + (n - 1)`: Python moves a tensor forward only."""
    moved = node.left
    if node.operator != "-" or not isinstance(moved, Binary) or moved.operator != "+":
        return node
    own = [p.name for p in cx.function.parameters if p.type.pointers]
    if not isinstance(moved.left, Name) or moved.left.name not in own or not cx.is_steady(moved.left.name):
        return node
    return Binary("+", moved.left, Binary("-", moved.right, node.right, node.line), node.line)


def _compared(symbol: str, left: Code, right: Code) -> Code:
    return truth(symbol == "==") if left.text == right.text else binary(symbol, left, right)


def _choice(cx: Context, node: Choice) -> Code:
    asked = condition(expression(cx, node.condition))
    if asked.constant is not None:
        return expression(cx, node.yes if asked.constant else node.no)
    answers.demand_none(cx, node.yes, node.no)
    with cx.where(asked):
        yes = expression(cx, node.yes)
    with cx.where(negation(asked)):
        no = expression(cx, node.no)
    if no.kind is Kind.NOTHING and asked.text == f"{yes.text} is not None":
        return yes
    if Kind.OPTIONS in (yes.kind, no.kind):
        return _chosen_options(asked, yes, no, node.line)
    return _either(asked, yes, no)


def _either(asked: Code, yes: Code, no: Code) -> Code:
    text = f"{yes.within(CONDITIONAL + 1)} if {asked.within(CONDITIONAL + 1)} else {no.text}"
    kind = yes.kind if yes.kind not in (Kind.NOTHING, Kind.INT) else no.kind
    found = Code(text, kind, CONDITIONAL, ctype=yes.ctype or no.ctype, nullable=yes.nullable or no.nullable)
    return replace(found, kernels=held_kernels.joined(yes, no))


def _chosen_options(asked: Code, yes: Code, no: Code, line: int) -> Code:
    """Returns one of two options: of two dtypes and of two devices, as far as they differ."""
    if any(yes_part.kind is not no_part.kind for yes_part, no_part in zip(yes.parts, no.parts, strict=True)):
        raise Refusal(line, "the two options do not set the same things")
    pairs = zip(yes.parts, no.parts, strict=True)
    return methods.options_of(*(y if y.text == n.text else _either(asked, y, n) for y, n in pairs))


def _subscript(cx: Context, node: Subscript) -> Code:
    owner = expression(cx, node.owner)
    if owner.kind is Kind.RECORD:
        return objects.element(cx, owner, node.index, node.line)
    index = expression(cx, node.index)
    if owner.kind is Kind.SEQUENCE and owner.parts and index.constant is not None:
        return owner.parts[int(index.constant)]
    if owner.kind is Kind.SEQUENCE:
        return element(owner, index)
    if owner.kind is Kind.TENSOR:
        return Code(f"{owner.text}[{index.text}]", Kind.TENSOR)
    if owner.kind is Kind.POINTER:
        return Code(f"{flat(cx, owner)}[{index.text}].item()", pointed_kind(cx, owner), ctype=_pointed(owner))
    if owner.kind in (Kind.STREAM, Kind.TIME):
        return owner
    raise Refusal(node.line, "this has no elements in a launcher")


def element(owner: Code, index: Code) -> Code:
    """Returns an element of a sequence."""
    text = f"{owner.text}[{index.text}]"
    if owner.text.endswith((".shape", ".stride()")):
        return Code(text, Kind.INT)
    inner = owner.ctype.arguments[0] if owner.ctype is not None and owner.ctype.arguments else None
    return Code(text, element_kind(owner), ctype=inner if isinstance(inner, TypeName) else None)


def _pointed(pointer: Code) -> TypeName | None:
    """Returns the type of what a pointer points to."""
    kind = pointer.ctype
    return replace(kind, pointers=kind.pointers - 1) if kind is not None and kind.pointers else None


def element_kind(owner: Code) -> Kind:
    """Returns what the elements of a `std::vector` or array are."""
    inner = owner.ctype.arguments[0] if owner.ctype is not None and owner.ctype.arguments else None
    name = plain(inner.name) if isinstance(inner, TypeName) else ""
    if isinstance(inner, TypeName) and inner.pointers:
        return Kind.POINTER
    if name == "Tensor" or (owner.ctype is not None and plain(owner.ctype.name) == "TensorList"):
        return Kind.TENSOR
    return Kind.SEQUENCE if name == "vector" else Kind.FLOAT if name in ("float", "double") else Kind.INT


def braces(cx: Context, node: Braces) -> Code:
    """Translates `{a, b}`; for one type, to an object made of them."""
    if node.type is not None:
        items = tuple(expression(cx, i) for i in node.items)
        made = calls.made(cx, node.type, items, node.line, listed=not node.parentheses)
        if made is not None:
            return made
    return sequence(tuple(expression(cx, i) for i in node.items))


def initial(cx: Context, variable: Variable) -> Code:
    """Returns the initial value of a variable; `T x(a)` and `T x{a}` of one number or tensor is that."""
    value = variable.value
    assert value is not None
    if isinstance(value, Braces) and value.type is not None:
        items = tuple(expression(cx, i) for i in value.items)
        made = calls.made(cx, value.type, items, variable.line, listed=not value.parentheses)
        if made is not None:
            return made
        if len(items) == 1:
            return items[0]
        raise Refusal(variable.line, f"the type '{value.type.name}' has no counterpart in a launcher")
    if isinstance(value, Braces) and (made := _made_of(cx, variable.type, value, variable.line)) is not None:
        return made
    return expression(cx, value)


def _made_of(cx: Context, kind: TypeName, value: Braces, line: int) -> Code | None:
    """Translates `T x = {a, b}`."""
    return calls.made(cx, kind, _in_order(cx, kind, value), line, listed=not value.parentheses)


def _in_order(cx: Context, kind: TypeName, value: Braces) -> tuple[Code, ...]:
    """Returns the items of a list in the order of the fields of a struct, also where `{.n = 4}` names them."""
    if not any(isinstance(item, Assign) for item in value.items):
        return tuple(expression(cx, item) for item in value.items)
    given = {i.target.name: i.value for i in value.items if isinstance(i, Assign) and isinstance(i.target, Name)}
    fields = records.fields(cx, cx.type(kind))
    if not given.keys() <= {field.name for field in fields} or len(given) != len(value.items):
        raise Refusal(value.line, f"the fields of '{kind.name}' are not those that are named")
    return tuple(
        expression(cx, given[field.name]) if field.name in given else calls.left_out(cx, field) for field in fields
    )


def returned(cx: Context, value: Braces, kind: TypeName) -> Code:
    """Translates `return {a, b};` of a function that returns `kind`: a list for a vector, else a tuple."""
    items = tuple(expression(cx, i) for i in value.items)
    return calls.made(cx, kind, items, value.line, listed=True) or sequence(items)
