"""Functions written out where they are called: parameters, template arguments, returns."""

from __future__ import annotations

from dataclasses import replace

from porter.syntax.nodes import Block, Call, Parameter, Return, TypeName
from porter.syntax.unit import FunctionTree
from porter_triton.lower import (
    access,
    declarations,
    expressions,
    locals_,
    lvalues,
    objects,
    resolve,
    statements,
    structs,
)
from porter_triton.lower.context import Closure, Context, FunctionName, Scope
from porter_triton.lower.conversions import convert
from porter_triton.lower.flow import leaves
from porter_triton.lower.naming import is_temporary
from porter_triton.lower.places import Columns, Held, LocalArray, Members, Memory, Place, SharedArray, Slot
from porter_triton.lower.types import VOID, Arithmetic, Pointer, Record, Type
from porter_triton.lower.values import Address, Bits, Fields, Nothing, Scalar, Value, number
from porter_triton.refusal import Refusal

_MOST_DEPTH = 40
Argument = Place | Closure | FunctionName


def function(
    cx: Context,
    candidates: tuple[FunctionTree, ...],
    template: tuple[object, ...],
    arguments: tuple[Argument, ...],
    node: Call,
    *,
    this: Place | None = None,
    scope_of: Record | None = None,
) -> Value:
    """Call the one of `candidates` that fits the arguments best."""
    if len(cx.calls) >= _MOST_DEPTH:
        raise Refusal(node.line, "functions call one another too deeply, or themselves")
    types = tuple(_type(a) for a in arguments)
    fitting = [c for c in candidates if accepts(c, len(arguments))]
    if not fitting:
        raise Refusal(node.line, "a function is called with a number of arguments that it does not take")
    fitting = _specialised(cx, fitting, template, node.line)
    chosen = max(fitting, key=lambda c: _score(cx, c, types, node.line))
    captured = structs.arguments(cx, template, node.line)
    type_ = scope_of if this is None else access.place_type(this)
    cx.calls.append(id(node))
    try:
        with cx.within(id(node)), cx.scope(wall=True):
            if isinstance(type_, Record):
                structs.bind_members(cx, type_, node.line)
            if this is not None:
                _bind_this(cx, this)
            _bind_template(cx, chosen, captured, types, node.line)
            _bind_parameters(cx, chosen.parameters, chosen.body, arguments, node.line, inner=this is not None)
            return _result(cx, chosen.head.name, chosen.returns, chosen.body, node.line)
    finally:
        cx.calls.pop()


def _specialised(
    cx: Context, fitting: list[FunctionTree], template: tuple[object, ...], line: int
) -> list[FunctionTree]:
    """An explicit specialisation where its own arguments are given; otherwise only where those are deduced."""
    plain = [c for c in fitting if not c.arguments]
    if not template:
        return fitting
    given = structs.arguments(cx, template, line)
    exact = [c for c in fitting if c.arguments and structs.arguments(cx, c.arguments, line)[: len(given)] == given]
    return exact or plain or fitting


def closure(cx: Context, lambda_: Closure, arguments: tuple[Argument, ...], node: Call) -> Value:
    """Call a lambda: it sees the scopes it was written in."""
    outside = cx.scopes
    depth = cx.depth
    cx.scopes = [*lambda_.scopes, Scope(depth)]
    try:
        with cx.within(id(node)), cx.scope():
            _bind_parameters(cx, lambda_.node.parameters, lambda_.node.body, arguments, node.line, inner=True)
            return _result(cx, "result", TypeName("auto"), lambda_.node.body, node.line)
    finally:
        cx.scopes = outside


def fits(cx: Context, candidates: tuple[FunctionTree, ...], arguments: tuple[Argument, ...], line: int) -> bool:
    """Whether one of `candidates` takes arguments of these types."""
    types = tuple(_type(a) for a in arguments)
    return any(_score(cx, c, types, line) >= 0 for c in candidates)


def _type(argument: Argument) -> Type | None:
    if isinstance(argument, Closure | FunctionName):
        return None
    if isinstance(argument, Slot) and argument.extents:
        return Pointer(argument.array.element)
    if isinstance(argument, LocalArray | SharedArray | Columns):
        return Pointer(argument.element)
    if isinstance(argument, Held) and isinstance(argument.value, Address):
        place = argument.value.place
        if isinstance(place, LocalArray | SharedArray | Columns):
            return Pointer(place.element)
        inner = access.place_type(place)
        return None if inner is None else Pointer(inner)
    return access.place_type(argument)


def accepts(candidate: FunctionTree, count: int) -> bool:
    """Whether a function takes so many arguments."""
    needed = sum(p.default is None for p in candidate.parameters)
    return needed <= count <= len(candidate.parameters)


def _score(cx: Context, candidate: FunctionTree, types: tuple[Type | None, ...], line: int) -> int:
    """How well argument types fit: exact beats template beats conversion."""
    total = 0
    templates = {t.name for t in candidate.head.template}
    for parameter, type_ in zip(candidate.parameters, types, strict=False):
        if parameter.type.name in templates:
            depth = _pointer_depth(type_)
            total += 2 if depth >= parameter.type.pointers else -20
            continue
        try:
            wanted = resolve.type_of(cx, parameter.type, line)
        except Refusal:
            continue
        if wanted == type_:
            total += 3
        elif isinstance(wanted, Arithmetic) and isinstance(type_, Arithmetic):
            total += 1 if wanted.is_float == type_.is_float else 0
        else:
            total -= 20
    return total


def _pointer_depth(type_: Type | None) -> int:
    return 1 + _pointer_depth(type_.element) if isinstance(type_, Pointer) else 0


def _bind_template(
    cx: Context, chosen: FunctionTree, given: tuple[structs.Argument, ...], types: tuple[Type | None, ...], line: int
) -> None:
    parameters = chosen.head.template
    for parameter, argument in zip(parameters, given, strict=False):
        cx.bind(parameter.name, argument)
    for wanted, type_ in zip(chosen.parameters, types, strict=False):
        _deduce(cx, {p.name for p in parameters[len(given) :]}, wanted.type, type_)
    for parameter in parameters[len(given) :]:
        if parameter.name and parameter.name not in cx.scopes[-1].names and parameter.default:
            known = {n: b for n, b in cx.scopes[-1].names.items() if isinstance(b, structs.Argument)}
            default = resolve.default_argument(cx, parameter.default, known, line)
            if default is not None:
                cx.bind(parameter.name, default)


def _deduce(cx: Context, open_: set[str], wanted: TypeName, given: Type | None) -> None:
    """Bind the template parameters that a parameter's type names, from the argument's type."""
    names = cx.scopes[-1].names
    if given is None:
        return
    for _ in range(wanted.pointers):
        if not isinstance(given, Pointer):
            return
        given = given.element
    if wanted.name in open_:
        if wanted.name not in names:
            cx.bind(wanted.name, given)
    elif wanted.arguments and isinstance(given, Record):
        for pattern, (_, argument) in zip(wanted.arguments, given.bindings, strict=False):
            name = getattr(pattern, "name", "")
            if name in open_ and name not in names and isinstance(argument, structs.Argument):
                cx.bind(name, argument)


def _bind_this(cx: Context, this: Place) -> None:
    """Bind the fields of the object a method is called on."""
    if isinstance(this, Members):
        for name, field in this.fields.items():
            cx.bind(name, field)
    elif isinstance(this, Held) and isinstance(this.value, Fields):
        for name, value in this.value.values:
            cx.bind(name, Held(value))
    cx.bind("this", Held(Address(this, number(0))))


def _bind_parameters(
    cx: Context,
    parameters: tuple[Parameter, ...],
    body: Block,
    arguments: tuple[Argument, ...],
    line: int,
    *,
    inner: bool = False,
) -> None:
    """Bind parameters to arguments; `inner`: the body sees more than its parameters, and may change it."""
    changed = cx.assigned(body)
    aliasing = (
        not (inner and changed)
        and not any(p.type.reference and not p.type.const for p in parameters)
        and not any(isinstance(a, Held) and isinstance(a.value, Address) for a in arguments)
    )
    bound = []
    for i, parameter in enumerate(parameters):
        if i < len(arguments):
            argument = arguments[i]
        else:
            assert parameter.default is not None
            argument = Held(expressions.value(cx, parameter.default))
        bound.append((parameter.name, _bound(cx, parameter, argument, parameter.name in changed, aliasing, line=line)))
    for name, place in bound:
        if name:
            cx.bind(name, place)


def _bound(
    cx: Context, parameter: Parameter, argument: Argument, changes: bool, aliasing: bool, *, line: int
) -> Argument:
    if isinstance(argument, Closure | FunctionName):
        return argument
    argument = _typed(cx, parameter, argument, line)
    if parameter.type.reference and not (parameter.type.const and isinstance(argument, Memory | Slot)):
        return argument
    value = access.load(cx, argument, line)
    type_ = None if parameter.type.name == "auto" else resolve.type_of(cx, parameter.type, line)
    if isinstance(value, Bits):
        return declarations.hold(cx, parameter.name, value, parameter, line)
    if isinstance(value, Fields):
        return _bound_fields(cx, parameter, value, changes, aliasing, line=line)
    if isinstance(value, Address):
        if changes:
            return declarations.cursor(cx, parameter.name, value, parameter, line)
        return Held(value)
    held = access.scalar(value, line)
    if isinstance(type_, Pointer) and held.constant == 0:
        return Held(held)  # a null pointer, which is only compared
    if isinstance(type_, Arithmetic | Pointer):
        held = convert(held, type_, line)
    if not changes and aliasing and (_named(held) or held.constant is not None):
        return Held(held)
    return access.declare(cx, parameter.name, held.type, parameter, held, stable=not changes, line=line)


def _typed(cx: Context, parameter: Parameter, argument: Place, line: int) -> Place:
    """`{a, b}` as a value of the parameter's type."""
    untyped = isinstance(argument, Held) and isinstance(argument.value, Fields) and not argument.value.type.fields
    if not untyped or parameter.type.name == "auto":
        return argument
    assert isinstance(argument, Held)
    return Held(objects.cast(cx, argument.value, resolve.type_of(cx, parameter.type, line), line))


def _named(value: Scalar) -> bool:
    """Whether the value has a name that the source gave it."""
    return value.is_name and not is_temporary(value.text)


def _bound_fields(
    cx: Context, parameter: Parameter, value: Fields, changes: bool, aliasing: bool, *, line: int
) -> Place:
    if (
        not changes
        and aliasing
        and all(isinstance(v, Scalar) and (v.is_name or v.constant is not None) for _, v in value.values)
    ):
        return Held(value)
    place = locals_.variable(cx, parameter.name, value.type, parameter, line)
    access.store(cx, place, value, line)
    return place


def _result(cx: Context, name: str, returns: TypeName, body: Block, line: int) -> Value:
    """Lower a function's body; the value it returns, evaluated."""
    statements_ = body.statements
    early = any("return" in leaves(s) for s in statements_[:-1])
    last = statements_[-1] if statements_ else None
    if not early and isinstance(last, Return) and last.value is not None:
        return _straight(cx, returns, body, line)
    if not early and (last is None or "return" not in leaves(last)):
        with _Returning(cx, None, body):
            statements.run(cx, statements_)
        return Nothing()
    type_ = _returned(cx, returns, line)
    place = None
    if type_ is not VOID:
        place = _outside(cx, name, type_, body, line)
    with _Returning(cx, place, body):
        statements.run(cx, statements_)
    return Nothing() if place is None else _materialised(cx, access.load(cx, place, line))


def _straight(cx: Context, returns: TypeName, body: Block, line: int) -> Value:
    """A body whose only `return` is its last statement."""
    last = body.statements[-1]
    assert isinstance(last, Return)
    assert last.value is not None
    with _Returning(cx, None, body):
        statements.run(cx, body.statements[:-1])
        if returns.reference and not returns.const:
            cx.reference = found = lvalues.place(cx, last.value)
            return access.load(cx, found, line)
        if returns.name == "auto":
            return _materialised(cx, expressions.value(cx, last.value))
        type_ = _returned(cx, returns, line)
        if type_ is VOID:
            expressions.value(cx, last.value)
            return Nothing()
        return _materialised(cx, declarations.initial(cx, type_, last.value, line))


def _materialised(cx: Context, value: Value) -> Value:
    """A value under names that outlive the function's scope."""
    if isinstance(value, Fields):
        return Fields(value.type, tuple((n, _materialised(cx, v)) for n, v in value.values))
    if isinstance(value, Bits):
        return replace(value, parts=tuple(cx.temporary(part, "result") for part in value.parts))
    if isinstance(value, Scalar) and value.constant is None:
        single = value.single
        held = cx.temporary(value, "result")
        return replace(held, single=single and cx.temporary(single, "result"))
    return value


class _Returning:
    """Where `return` goes while a function's body is lowered."""

    def __init__(self, cx: Context, result: Place | None, body: Block) -> None:
        self._cx = cx
        self._result = result
        self._body = body

    def __enter__(self) -> None:
        statements.push_target(self._cx, "return", self._result, node=self._body)
        self._cx.changes.append(self._cx.assigned(self._body))

    def __exit__(self, *_: object) -> None:
        self._cx.targets.pop()
        self._cx.changes.pop()


def _returned(cx: Context, returns: TypeName, line: int) -> Type:
    if returns.name == "void" and not returns.pointers:
        return VOID
    if returns.name == "auto":
        raise Refusal(line, "a function with several returns whose type is `auto`")
    return resolve.type_of(cx, returns, line)


def _outside(cx: Context, name: str, type_: Type, body: Block, line: int) -> Place:
    """A place for the result, declared outside the function: lanes that have returned keep theirs."""
    scope = cx.scopes[-1]
    scope.depth -= 1
    try:
        return locals_.variable(cx, name, type_, body, line)
    finally:
        scope.depth += 1
