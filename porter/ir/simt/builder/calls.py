"""Calls: of functions of the source, of methods, of types, and of CUDA's own functions."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from porter.ir.simt.builder import (
    access,
    arithmetic,
    assignments,
    declarations,
    expressions,
    inlining,
    intrinsics,
    names,
    resolve,
    tuples,
)
from porter.ir.simt.builder.c_types import FUNCTION, INT, ArrayOf, CType, PointerTo, Record, Void, are_extents
from porter.ir.simt.builder.errors import NotExpressibleError, what_instead
from porter.ir.simt.builder.state import Builder
from porter.ir.simt.builder.values import (
    Closure,
    Elements,
    Fields,
    FunctionName,
    Held,
    Nothing,
    Number,
    OneOf,
    Place,
    RValue,
)
from porter.ir.simt.types import Scalar
from porter.source.qualified import unqualified
from porter.syntax.nodes import (
    Assign,
    Braces,
    Call,
    Expression,
    Lambda,
    Member,
    Name,
    TypeName,
    Update,
)
from porter.syntax.unit import FunctionTree

_OF_SHUFFLE = 3  # arguments that every one of CUDA's has: a mask, a value, a lane


def call(b: Builder, node: Call) -> RValue:
    """The value of a call."""
    return access.load(b, place(b, node))


def place(b: Builder, node: Call) -> Place:
    """Returns the result of a call: a place where it is a reference."""
    callee = node.callee
    match callee:
        case Name():
            return _of_name(b, callee, node)
        case Member():
            return _of_method(b, callee, node)
        case Lambda():
            return inlining.closure(b, Closure(callee, tuple(b.scopes)), given(b, node.arguments), node.line)
    held = expressions.place(b, callee)
    return _of_object(b, held, node)


def of_library(b: Builder, name: str, arguments: Sequence[inlining.Argument], line: int) -> RValue:
    """The value of a function of the library's text."""
    return access.load(b, inlining.function(b, functions(b, name), (), arguments, line))


def given(b: Builder, nodes: Sequence[Expression]) -> list[inlining.Argument]:
    """The arguments of a call: places, or lists that the parameter's type gives a meaning."""
    return [
        inlining.Listed(tuple(given(b, n.items)))
        if isinstance(n, Braces) and n.type is None
        else expressions.place(b, n)
        for n in nodes
    ]


def _of_name(b: Builder, callee: Name, node: Call) -> Place:
    bound = b.find(callee.name)
    if isinstance(bound, Place) and not isinstance(access.place_type(bound), Scalar):  # `::max(max, x)` means CUDA's
        return _of_object(b, bound, node)
    if isinstance(bound, FunctionName):
        callee = Name(bound.name, bound.template, callee.line)
    elif isinstance(bound, Name):
        callee = Name(bound.name, bound.template or callee.template, callee.line)
    elif isinstance(bound, TypeName):
        return Held(construct(b, resolve.type_of(b, bound, node.line), node.arguments, node.line))
    method = inlining.own_method(b, callee.name)
    if method is not None:
        methods, this, owner = method
        template = resolve.arguments(b, callee.template)
        return inlining.function(b, methods, template, given(b, node.arguments), node.line, this=this, owner=owner)
    candidates = functions(b, callee.name)
    if b.functions[-1] in candidates and (meant := intrinsics.call(b, callee, node)) is not None:
        return meant if isinstance(meant, Place) else Held(meant)  # an overload of CUDA's function calls that one
    if candidates and not _is_cudas_own(b, callee, candidates, node):
        template = resolve.arguments(b, callee.template)
        try:
            return inlining.function(b, candidates, template, given(b, node.arguments), node.line)
        except NotExpressibleError as error:
            found = intrinsics.call(b, callee, node) if "fits the arguments" in error.construct else None
            if found is None:
                raise
            return Held(found) if not isinstance(found, Place) else found
    made = intrinsics.call(b, callee, node) or tuples.call(b, callee, node)
    if made is not None:
        return made if isinstance(made, Place) else Held(made)
    return _of_no_function(b, callee, node)


def _of_no_function(b: Builder, callee: Name, node: Call) -> Place:
    """A call of a static method, of what a variable of the program points to, or of a type: an object of it."""
    if (static := _static_method(b, callee, node)) is not None:
        return static
    if not node.arguments and (told := names.trait_object(b, callee.name, callee.template)) is not None:
        return told
    if b.unit.variables_named(callee.name, b.namespaces[-1]):
        return _of_object(b, names.place(b, callee), node)
    type_ = _type_named(b, callee)
    if type_ is None:
        why = what_instead(callee.name)
        raise b.problem(f"a call of '{callee.name}'{why or ', which is not known'}", node.line)
    return Held(construct(b, type_, node.arguments, node.line))


def _is_cudas_own(b: Builder, callee: Name, candidates: Sequence[FunctionTree], node: Call) -> bool:
    """Returns whether a function of CUDA's that takes just such arguments goes before the source's, none of which does.

    A template does not, for a function that is none goes before it.
    """
    is_shuffle = unqualified(callee.name).startswith("__shfl_")
    if callee.template or not (is_shuffle or intrinsics.is_overloaded(unqualified(callee.name))):
        return False
    with b.discarded():
        types = [inlining.argument_type(argument) for argument in given(b, node.arguments)]
    if is_shuffle:
        return not any(_moves_exactly(b, candidate, types) for candidate in candidates)
    if not intrinsics.takes_exactly(unqualified(callee.name), types):
        return False
    plain = [candidate for candidate in candidates if not candidate.head.template and not candidate.arguments]
    return not any(_takes_exactly(b, candidate, types) for candidate in plain)


def _moves_exactly(b: Builder, candidate: FunctionTree, types: Sequence[CType | None]) -> bool:
    """Returns whether a shuffle of the source is for the type of the value: CUDA has one for each number."""
    if len(types) < _OF_SHUFFLE or not isinstance(types[1], Scalar):
        return True
    moved = [parameter.type for parameter in candidate.parameters[1:2] if not candidate.head.template]
    try:
        with b.scope(wall=True):
            return [resolve.type_of(b, type_) for type_ in moved] == [types[1]]
    except NotExpressibleError:
        return False


def _takes_exactly(b: Builder, candidate: FunctionTree, types: Sequence[CType | None]) -> bool:
    try:
        with b.scope(wall=True):
            return [resolve.type_of(b, parameter.type) for parameter in candidate.parameters] == list(types)
    except NotExpressibleError:
        return False


def functions(b: Builder, name: str) -> tuple[FunctionTree, ...]:
    """The functions of the source that a kernel may call by `name`."""
    found = b.unit.named(name)
    own = tuple(f for f in found if "device" in f.head.space)
    return own or tuple(f for f in found if f.head.space == "host")


def _type_named(b: Builder, callee: Name) -> CType | None:
    try:
        return resolve.type_of(b, TypeName(callee.name, callee.template), callee.line)
    except NotExpressibleError:
        return None


def _static_method(b: Builder, callee: Name, node: Call) -> Place | None:
    """`Struct<T>::method(x)`, or `Struct::method<T>(x)` where the struct is no template."""
    owner, _, method = callee.name.rpartition("::")
    type_ = _owner(b, owner, callee) if owner else None
    methods = inlining.methods(b, type_, method) if type_ is not None else ()
    if type_ is None or not methods:
        return None
    is_template = type_.tree is not None and (type_.tree.template or type_.tree.arguments)
    template = () if is_template else resolve.arguments(b, callee.template)
    return inlining.function(b, methods, template, given(b, node.arguments), node.line, owner=type_)


def _owner(b: Builder, name: str, callee: Name) -> Record | None:
    """The struct whose static method is called. One that holds what no kernel can has no fields here."""
    written = TypeName(name, callee.template)
    try:
        type_ = resolve.type_of(b, written, callee.line)
    except NotExpressibleError:
        found = resolve.definition(b, written)
        return (
            Record(found.tree.name, (), tuple(found.bindings.items()), tree=found.tree) if found is not None else None
        )
    return type_ if isinstance(type_, Record) else None


def _of_object(b: Builder, held: Place, node: Call) -> Place:
    """A call of a variable: a lambda, a function, an object with `operator()`."""
    value = held.value if isinstance(held, Held) else None
    if isinstance(value, Closure):
        return inlining.closure(b, value, given(b, node.arguments), node.line)
    if isinstance(value, FunctionName):
        return _of_name(b, Name(value.name, value.template, node.line), node)
    if isinstance(value, OneOf):
        return Held(_of_one(b, value, node, 0))
    type_ = access.place_type(held)
    if isinstance(type_, Record):
        methods = inlining.methods(b, type_, "operator()")
        if methods:
            return inlining.function(b, methods, (), given(b, node.arguments), node.line, this=held)
    raise b.problem("a call of what is not a function", node.line)


def _of_one(b: Builder, held: OneOf, node: Call, number: int) -> RValue:
    """A call of one of several functions: that at `number`, or one behind it."""

    def called() -> RValue:
        return access.load(b, _of_object(b, Held(held.functions[number]), node))

    if number == len(held.functions) - 1:
        return called()
    here = arithmetic.binary(b, "==", held.index, Number(b.emitter.constant(number, INT), INT))
    return assignments.chosen(b, arithmetic.truth(b, here), called, lambda: _of_one(b, held, node, number + 1))


def _of_method(b: Builder, callee: Member, node: Call) -> Place:
    owner = expressions.object_of(b, callee)
    type_ = access.place_type(owner)
    if isinstance(type_, Record):
        methods = inlining.methods(b, type_, callee.name)
        if methods:
            template = resolve.arguments(b, callee.template)
            return inlining.function(b, methods, template, given(b, node.arguments), node.line, this=owner)
        if type_.field(callee.name) is not None:
            return _of_object(b, access.field(b, owner, callee.name), node)
    if isinstance(type_, Record) and unqualified(type_.name) == "grid_group":
        raise b.problem("blocks that wait for each other: split the kernel there into two launches", node.line)
    raise b.problem(f"a call of the method '{callee.name}', which is not known", node.line)


def cast(b: Builder, type_: CType, operand: Expression) -> RValue:
    """`(T)x` and `static_cast<T>(x)`."""
    if isinstance(type_, Void):
        expressions.value(b, operand)
        return Nothing()
    if isinstance(operand, Braces) and operand.type is None:
        return construct(b, type_, operand.items, operand.line)
    return converted(b, expressions.value(b, operand), type_, getattr(operand, "line", 0))


def converted(b: Builder, found: RValue, type_: CType, line: int) -> RValue:
    """A value as one of another type: of numbers as C does it, of structs by their constructors and conversions."""
    if type_ is FUNCTION and isinstance(found, Number | Fields):
        raise b.problem("which function this is cannot be told", line)
    if isinstance(found, Number) and not isinstance(type_, Record):
        return arithmetic.convert(b, found, type_)
    if isinstance(found, Fields):
        if isinstance(type_, Record):
            if found.type == type_:
                return found
            is_alike = unqualified(found.type.name) == unqualified(type_.name) and len(found.parts) == len(type_.fields)
            if is_alike or are_extents(found.type, type_):
                return Fields(type_, found.parts)
            return _made_of(b, type_, found, line)
        return arithmetic.convert(b, converted_struct(b, found, type_), type_)
    if isinstance(type_, Record) and isinstance(found, Number):
        return _made_of(b, type_, found, line)
    if isinstance(found, FunctionName | Closure | OneOf | Nothing):
        return found
    raise b.problem("a value where another is needed", line)


def _made_of(b: Builder, type_: Record, found: RValue, line: int) -> RValue:
    """A struct made of one value, by a conversion that this defines, by a constructor or as its first field."""
    for method in found.type.conversions if isinstance(found, Fields) else ():
        with b.discarded():
            made = access.load(b, inlining.function(b, (method,), (), [], line, this=Held(found)))
        if isinstance(made, Fields) and made.type == type_:
            return access.load(b, inlining.function(b, (method,), (), [], line, this=Held(found)))
    if type_.constructors(1):
        return _constructed(b, type_, [Held(found)], line)
    return _aggregate(b, type_, [Held(found)], line)


def converted_struct(b: Builder, found: Fields, type_: CType | None = None) -> Number:
    """A struct as a number, by a conversion that it defines."""
    for method in found.type.conversions:
        made = access.load(b, inlining.function(b, (method,), (), [], 0, this=Held(found)))
        if isinstance(made, Number) and (type_ is None or isinstance(type_, Scalar | PointerTo)):
            return made
    raise b.problem(f"a '{found.type.name}' where a number is needed")


def construct(b: Builder, type_: CType, items: Sequence[Expression], line: int) -> RValue:
    """`T(a, b)`, `T{a, b}` and `T x = {a, b}`."""
    return assembled(b, type_, given(b, items), line)


def assembled(b: Builder, type_: CType, items: Sequence[inlining.Argument], line: int) -> RValue:
    """A value of a type made of arguments, by a constructor or part by part."""
    if isinstance(type_, ArrayOf):
        return _array(b, type_, items, line)
    if not isinstance(type_, Record):
        if not items:
            return declarations.zero(b, type_)
        if len(items) != 1:
            raise b.problem("a number made of several values", line)
        return inlining.passed(b, items[0], type_, line)
    if type_.constructors(len(items)):
        return _constructed(b, type_, items, line)
    if len(items) == 1 and not isinstance(items[0], inlining.Listed):
        only = access.load(b, items[0])
        if isinstance(only, Fields):
            return converted(b, only, type_, line)
    return _aggregate(b, type_, items, line)


def _array(b: Builder, type_: ArrayOf, items: Sequence[inlining.Argument], line: int) -> Elements:
    """A list as an array: its elements in order, then 0."""
    inner = type_.element if len(type_.extents) == 1 else ArrayOf(type_.element, type_.extents[1:])
    parts = [inlining.passed(b, item, inner, line) for item in items]
    parts += [declarations.zero(b, inner) for _ in range(type_.extents[0] - len(items))]
    flat = [one for part in parts for one in (part.parts if isinstance(part, Elements) else (part,))]
    if len(flat) != prod(type_.extents):
        raise b.problem(f"an array of {prod(type_.extents)} elements made of {len(flat)}", line)
    return Elements(type_, tuple(flat))


def _aggregate(b: Builder, type_: Record, items: Sequence[inlining.Argument], line: int) -> RValue:
    """A struct without constructors: its fields in order, then their defaults or 0.

    Those of an array that is its only field may stand without braces of their own.
    """
    is_array = len(type_.fields) == 1 and isinstance(type_.fields[0][1], ArrayOf)
    if is_array and items and not isinstance(items[0], inlining.Listed) and _is_part(items[0]):
        items = [inlining.Listed(tuple(items))]
    if len(items) > len(type_.fields):
        raise b.problem(f"a '{type_.name}' of {len(items)} values", line)
    parts: list[tuple[str, RValue]] = []
    for number, (name, kind) in enumerate(type_.fields):
        if number < len(items):
            parts.append((name, inlining.passed(b, items[number], kind, line)))
        else:
            parts.append((name, _default(b, type_, name, kind)))
    return Fields(type_, tuple(parts))


def _is_part(item: Place) -> bool:
    """Returns whether an argument is an element of an array, and no array itself."""
    return not isinstance(access.place_type(item), ArrayOf)


def _default(b: Builder, type_: Record, name: str, kind: CType) -> RValue:
    for variable in type_.tree.fields if type_.tree else ():
        if variable.name == name and variable.value is not None:
            return declarations.initial(b, kind, variable.value, variable.line)
    return declarations.zero(b, kind)


def _constructed(b: Builder, type_: Record, items: Sequence[inlining.Argument], line: int) -> RValue:
    constructors = type_.constructors(len(items))
    made = access.variable(b, unqualified(type_.name), type_, in_memory=False)
    for variable in type_.tree.fields if type_.tree else ():
        if variable.value is not None and variable.storage != "static":
            access.store(
                b,
                access.field(b, made, variable.name),
                _default(b, type_, variable.name, dict(type_.fields)[variable.name]),
            )
    inlining.function(b, constructors, (), list(items), line, this=made)
    return access.load(b, made)


def operator(b: Builder, symbol: str, operands: Sequence[RValue]) -> RValue:
    """An operator of structs: one that the source defines, or one of CUDA's pairs of halves."""
    first = operands[0]
    places: list[inlining.Argument] = [Held(operand) for operand in operands]
    if isinstance(first, Fields):
        methods = [
            m for m in inlining.methods(b, first.type, f"operator{symbol}") if len(m.parameters) == len(operands) - 1
        ]
        if methods:
            return access.load(b, inlining.function(b, tuple(methods), (), places[1:], 0, this=Held(first)))
    free = tuple(f for f in functions(b, f"operator{symbol}") if len(f.parameters) == len(operands))
    if free:
        return access.load(b, inlining.function(b, free, (), places, 0))
    types = {operand.type.name for operand in operands if isinstance(operand, Fields)}
    if types <= {"__half2", "__nv_bfloat162"} and all(isinstance(operand, Fields) for operand in operands):
        return intrinsics.by_component(lambda *parts: _operated(b, symbol, parts), operands)
    numbers = [converted_struct(b, o) if isinstance(o, Fields) else o for o in operands]
    return _operated(b, symbol, numbers)


def _operated(b: Builder, symbol: str, operands: Sequence[RValue]) -> RValue:
    numbers = [operand for operand in operands if isinstance(operand, Number)]
    if len(numbers) != len(operands):
        raise b.problem(f"'{symbol}' of structs")
    return arithmetic.unary(b, symbol, *numbers) if len(numbers) == 1 else arithmetic.binary(b, symbol, *numbers)


def compound(b: Builder, target: Place, before: Fields, node: Assign) -> RValue | None:
    """`a += b` of a struct that defines it; None for one that does not."""
    symbol = f"operator{node.operator}="
    methods = inlining.methods(b, before.type, symbol)
    if methods:
        inlining.function(b, methods, (), given(b, (node.value,)), node.line, this=target)
        return access.load(b, target)
    free = functions(b, symbol)
    if free:
        inlining.function(b, free, (), [target, *given(b, (node.value,))], node.line)
        return access.load(b, target)
    return None


def moved_on(b: Builder, target: Place, before: Fields, node: Update) -> RValue | None:
    """`++a` and `a++` of a struct that defines it; None for one that does not."""
    wanted = 0 if node.prefix else 1  # an unnamed int tells the one behind from the one before
    own = inlining.methods(b, before.type, f"operator{node.operator}")
    fitting = tuple(m for m in own if len(m.parameters) == wanted)
    if not fitting:
        return None
    zero = Number(b.emitter.constant(0, INT), INT)
    return access.load(b, inlining.function(b, fitting, (), [Held(zero)] * wanted, node.line, this=target))


def followed(b: Builder, held: Place, line: int, operator: str) -> Place | None:
    """Returns what `*a` or `a->` leads to of a struct that defines it; None for one that does not."""
    type_ = access.place_type(held)
    own = inlining.methods(b, type_, f"operator{operator}") if isinstance(type_, Record) else ()
    fitting = tuple(m for m in own if not m.parameters)
    return inlining.function(b, fitting, (), [], line, this=held) if fitting else None


def subscript(b: Builder, base: Place, held: Fields, index: Expression) -> Place:
    """`object[index]`."""
    methods = inlining.methods(b, held.type, "operator[]")
    if not methods:
        raise b.problem(f"an index into a '{held.type.name}'")
    return inlining.function(b, methods, (), given(b, (index,)), 0, this=base)
