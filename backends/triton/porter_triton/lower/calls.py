"""Calls: what is called, and with what."""

from __future__ import annotations

from porter.source.qualified import unqualified
from porter.syntax.nodes import Call, Expression, Lambda, Member, Name, TypeName
from porter.syntax.unit import FunctionTree
from porter_triton.lower import (
    access,
    cub,
    expressions,
    float8,
    inline,
    intrinsics,
    local_arrays,
    lvalues,
    objects,
    overloads,
    own_overloads,
    resolve,
    structs,
    table,
)
from porter_triton.lower.context import Context
from porter_triton.lower.places import Held, Members, Place, Variable
from porter_triton.lower.scopes import Binding, Closure, FunctionName
from porter_triton.lower.types import BUILT_IN, Arithmetic, Array, Pointer, Record, Type
from porter_triton.lower.values import Bits, Fields, Scalar, Value
from porter_triton.refusal import Refusal

Argument = Place | Closure | FunctionName


def call(cx: Context, node: Call) -> Value:
    """The value of a call."""
    callee = node.callee
    if isinstance(callee, Name):
        return _named(cx, callee, node)
    if isinstance(callee, Member):
        return _method(cx, callee, node)
    return _object(cx, lvalues.place(cx, callee), node)


def place(cx: Context, node: Call) -> Place:
    """Returns what a call names: functions may return a reference."""
    cx.reference = None
    value = call(cx, node)
    found, cx.reference = cx.reference, None
    return found if found is not None else Held(value)


def _named(cx: Context, callee: Name, node: Call) -> Value:
    bound = cx.find(callee.name)
    collective = cub.collective(cx, TypeName(callee.name, callee.template))
    if collective is not None:
        return collective
    if isinstance(bound, Closure | FunctionName):
        return apply_to(cx, bound, arguments(cx, node), node)
    if isinstance(bound, TypeName | Arithmetic | Pointer | Record | Array):
        return _constructed(cx, resolve.type_of(cx, TypeName(callee.name, callee.template), node.line), node)
    if bound is not None and not _is_number(bound):
        return _object(cx, lvalues.place(cx, callee), node)
    candidates = tuple(f for f in cx.unit.named(callee.name) if "device" in f.head.space or _is_constexpr(f.head.space))
    if candidates:
        return _function(cx, callee.name, callee.template, candidates, arguments(cx, node), node=node)
    made = intrinsics.call(cx, callee, node)
    if made is not None:
        return made
    return _of_class(cx, callee, node)


def _function(
    cx: Context,
    name: str,
    template: tuple[object, ...],
    candidates: tuple[FunctionTree, ...],
    given: tuple[Argument, ...],
    *,
    node: Call,
) -> Value:
    """A call of one of the source's functions `candidates`, or of CUDA's of that name."""
    cudas = None if template else own_overloads.call(cx, name, candidates, given, node)
    return cudas or inline.function(cx, candidates, template, given, node)


def _is_number(bound: Binding) -> bool:
    """Returns whether a name is that of a number, which nobody can call: `::max(max, x)` means the function."""
    return isinstance(bound, Scalar | Variable) or (isinstance(bound, Held) and isinstance(bound.value, Scalar))


def _of_class(cx: Context, callee: Name, node: Call) -> Value:
    """A method of the class around or named, or a constructor."""
    own = _own_method(cx, callee.name)
    if own is not None:
        return method(cx, own, callee.name, callee.template, arguments(cx, node), node=node)
    inside = cx.find(structs.OWN)
    if isinstance(inside, Record) and (static := structs.methods(cx, inside, callee.name)):
        return inline.function(cx, static, callee.template, arguments(cx, node), node, scope_of=inside)
    if callee.name in BUILT_IN or cx.unit.struct(callee.name) or _is_alias(cx, callee.name):
        type_ = resolve.type_of(cx, TypeName(callee.name, callee.template), node.line)
        return _constructed(cx, type_, node)
    made = _static_method(cx, callee, node)
    if made is not None:
        return made
    raise Refusal(node.line, f"`{callee.name}` is called, which is not known")


def _is_constexpr(space: str) -> bool:
    return space == "host"  # a constexpr function may be called from device code


def _own_method(cx: Context, name: str) -> Place | None:
    """The object whose method, being lowered, calls another by its bare name."""
    this = cx.find("this")
    if not isinstance(this, Held):
        return None
    owner = lvalues.pointee(this.value, 0)
    return owner if structs.methods(cx, access.place_type(owner), name) else None


def _static_method(cx: Context, callee: Name, node: Call) -> Value | None:
    """`Struct<T>::method(...)`."""
    if "::" not in callee.name:
        return None
    owner, name = callee.name.rsplit("::", 1)
    bound = cx.find(owner)
    if bound is None and not cx.unit.struct(owner) and not _is_alias(cx, owner):
        return None
    type_ = resolve.type_of(cx, TypeName(owner, callee.template), node.line)
    candidates = structs.methods(cx, type_, name)
    if not candidates or not isinstance(type_, Record):
        return None
    return inline.function(cx, candidates, (), arguments(cx, node), node, scope_of=type_)


def _is_alias(cx: Context, name: str) -> bool:
    plain = unqualified(name)
    return any(unqualified(a.name) == plain for a in cx.unit.aliases)


def arguments(cx: Context, node: Call) -> tuple[Argument, ...]:
    """The arguments as places, so that references can bind to them."""
    return tuple(argument(cx, a) for a in node.arguments)


def argument(cx: Context, node: Expression) -> Argument:
    """One argument."""
    if isinstance(node, Lambda):
        return Closure(node, tuple(cx.scopes))
    if isinstance(node, Name):
        bound = cx.find(node.name)
        if isinstance(bound, Closure | FunctionName):
            return bound
        if bound is None and (cx.unit.named(node.name) or _is_cudas(cx, node)):
            return FunctionName(node.name, structs.arguments(cx, node.template, node.line))
    return lvalues.place(cx, node)


def _is_cudas(cx: Context, node: Name) -> bool:
    """Returns whether a name nobody declares here is that of a function of CUDA's: `reduce(fmaxf, x)`."""
    return table.knows(node.name) and not cx.unit.variables_named(node.name, cx.namespaces[-1])


def apply(cx: Context, functor: Argument, values: tuple[Value, ...], node: Call) -> Value:
    """Call what an argument is with values."""
    return apply_to(cx, functor, tuple(Held(v) for v in values), node)


def apply_to(cx: Context, functor: Argument, given: tuple[Argument, ...], node: Call) -> Value:
    """Call what an argument is."""
    if isinstance(functor, Closure):
        return inline.closure(cx, functor, given, node)
    if isinstance(functor, FunctionName):
        template = node.callee.template if isinstance(node.callee, Name) else ()
        named = cx.unit.named(functor.name)
        return _function(cx, functor.name, template or functor.template, named, given, node=node)
    return method(cx, functor, "operator()", (), given, node=node)


def _constructed(cx: Context, type_: Type, node: Call) -> Value:
    if isinstance(type_, Record) and any(isinstance(a, Lambda) for a in node.arguments):
        raise Refusal(node.line, "a struct is made of a lambda")
    values = tuple(expressions.value(cx, a) for a in node.arguments)
    if isinstance(type_, Record):
        return construct(cx, type_, values, node.line)
    if not values:
        return local_arrays.zero(type_)
    if len(values) == 1:
        return objects.cast(cx, values[0], type_, node.line)
    raise Refusal(node.line, "a value of a simple type is made of several")


def construct(cx: Context, type_: Record, values: tuple[Value, ...], line: int) -> Value:
    """`T(a, b)`: by a constructor of the source's, else field by field, where what is missing is zero."""
    if len(values) == 1 and isinstance(values[0], Fields | Bits) and values[0].type == type_:
        return values[0]
    if len(values) == 1 and (packed := float8.packed(cx, values[0], type_, line)) is not None:
        return packed
    if type_.union or structs.methods(cx, type_, unqualified(type_.name)):
        return _in_place(cx, type_, values, line)
    if len(values) > len(type_.fields):
        raise Refusal(line, f"`{type_.name}` is made of more values than it has fields")
    made = []
    for i, (name, field) in enumerate(type_.fields):
        value = values[i] if i < len(values) else local_arrays.zero(field)
        made.append((name, objects.cast(cx, value, field, line) if isinstance(field, Arithmetic) else value))
    return Fields(type_, tuple(made))


def _in_place(cx: Context, type_: Record, values: tuple[Value, ...], line: int) -> Value:
    """Returns what a variable holds that is made by a constructor; of a union without one its first field is given."""
    node = cx.implied(type_.name, line)
    made = local_arrays.variable(cx, "made", type_, node, line)
    if structs.methods(cx, type_, unqualified(type_.name)):
        initialise(cx, made, type_, tuple(Held(v) for v in values), node)
    elif len(values) != 1 or not isinstance(made, Members):
        raise Refusal(line, f"`{type_.name}` is a union that is made of {len(values)} values")
    else:
        name, field = type_.fields[0]
        value = objects.cast(cx, values[0], field, line) if isinstance(field, Arithmetic) else values[0]
        access.store(cx, made.fields[name], value, line)
    return access.load(cx, made, line)


def initialise(cx: Context, place_: Place, type_: Record, given: tuple[Argument, ...], node: Call) -> None:
    """Give a struct variable the values of its fields' initialisers, then call its constructor."""
    tree = structs.tree_of(cx, type_)
    if tree is None or not isinstance(place_, Members):
        return
    for field in tree.fields:
        if field.value is not None and field.storage != "static" and field.name in place_.fields:
            with cx.scope(wall=True):
                structs.bind_members(cx, type_, node.line)
                value = expressions.value(cx, field.value)
            access.store(cx, place_.fields[field.name], value, node.line)
    constructors = structs.methods(cx, type_, unqualified(type_.name))
    fitting = tuple(c for c in constructors if overloads.accepts(c, len(given)))
    if fitting:
        inline.function(cx, fitting, (), given, node, this=place_)
    elif given:
        raise Refusal(node.line, f"no constructor of `{type_.name}` takes what it is given")


def _method(cx: Context, callee: Member, node: Call) -> Value:
    owner = lvalues.place(cx, callee.owner)
    if callee.arrow:
        owner = lvalues.pointee(access.load(cx, owner, node.line), node.line)
    made = intrinsics.method(cx, owner, callee, node)
    if made is not None:
        return made
    return method(cx, owner, callee.name, callee.template, arguments(cx, node), node=node)


def method(
    cx: Context, owner: Place, name: str, template: tuple[object, ...], given: tuple[Argument, ...], *, node: Call
) -> Value:
    """`owner.name(...)`."""
    candidates = structs.methods(cx, access.place_type(owner), name)
    if not candidates:
        raise Refusal(node.line, f"`{name}` is called on what has no such method")
    return inline.function(cx, candidates, template, given, node, this=owner)


def method_place(cx: Context, owner: Place, name: str, given: tuple[Argument, ...], node: Call) -> Place:
    """Returns what `owner.name(...)` names."""
    cx.reference = None
    value = method(cx, owner, name, (), given, node=node)
    found, cx.reference = cx.reference, None
    return found if found is not None else Held(value)


def _object(cx: Context, held: Place, node: Call) -> Value:
    """A functor's call."""
    return method(cx, held, "operator()", (), arguments(cx, node), node=node)


def operator(cx: Context, symbol: str, operands: tuple[Value, ...], line: int) -> Value:
    """An operator the source or CUDA's headers define for a struct."""
    made = intrinsics.vector_operator(cx, symbol, operands, line)
    if made is not None:
        return made
    node = cx.implied(f"operator{symbol}", line)
    places: tuple[Place, ...] = tuple(Held(o) for o in operands)
    candidates = tuple(f for f in cx.unit.functions if f.head.name == f"operator{symbol}")
    fitting = tuple(f for f in candidates if len(f.parameters) == len(operands))
    if fitting and overloads.fits(cx, fitting, places, line):
        return inline.function(cx, fitting, (), places, node)
    first = operands[0]
    candidates = structs.methods(cx, first.type, f"operator{symbol}") if isinstance(first, Fields) else ()
    if candidates:
        return inline.function(cx, candidates, (), places[1:], node, this=places[0])
    raise Refusal(line, f"`{symbol}` on a struct that does not define it")


def compound(cx: Context, symbol: str, target: Place, right: Value, line: int) -> bool:
    """`target symbol= right` where the source defines this operator for a struct; whether it does."""
    name, type_ = f"operator{symbol}=", access.place_type(target)
    if not isinstance(type_, Record):
        return False
    node, given = cx.implied(name, line), Held(right)
    if candidates := structs.methods(cx, type_, name):
        inline.function(cx, candidates, (), (given,), node, this=target)
        return True
    free = tuple(f for f in cx.unit.functions if f.head.name == name and len(f.parameters) == 2)
    if not free or not overloads.fits(cx, free, (target, given), line):
        return False
    inline.function(cx, free, (), (target, given), node)
    return True
