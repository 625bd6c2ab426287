"""Functions written out where they are called: parameters, template arguments, returns."""

from __future__ import annotations

from dataclasses import replace

from porter.syntax.nodes import Block, Call, Parameter, Return, TypeName
from porter.syntax.unit import FunctionTree
from porter_triton.lower import access, declarations, expressions, locals_, resolve, statements
from porter_triton.lower.context import Closure, Context, Scope
from porter_triton.lower.flow import leaves
from porter_triton.lower.naming import is_temporary
from porter_triton.lower.places import (
    Held,
    LocalArray,
    Members,
    Memory,
    Place,
    SharedArray,
    SharedRecords,
    Slot,
)
from porter_triton.lower.types import VOID, Arithmetic, Pointer, Type
from porter_triton.lower.values import Address, Bits, Fields, Nothing, Scalar, Value, number
from porter_triton.refusal import Refusal

_MOST_DEPTH = 40
Argument = Place | Closure


def function(
    cx: Context,
    candidates: tuple[FunctionTree, ...],
    template: tuple[object, ...],
    arguments: tuple[Argument, ...],
    node: Call,
    this: Place | None = None,
) -> Value:
    """Call the one of `candidates` that fits the arguments best."""
    if len(cx.calls) >= _MOST_DEPTH:
        raise Refusal(node.line, "functions call one another too deeply, or themselves")
    types = tuple(_type(cx, a) for a in arguments)
    fitting = [c for c in candidates if _accepts(c, len(arguments))]
    if not fitting:
        raise Refusal(node.line, "a function is called with a number of arguments that it does not take")
    chosen = max(fitting, key=lambda c: _score(cx, c, types, node.line))
    captured = _resolved(cx, template)
    cx.calls.append(id(node))
    try:
        with cx.within(id(node)), cx.scope(wall=True):
            if this is not None:
                _bind_this(cx, this)
            _bind_template(cx, chosen, captured, types, node.line)
            _bind_parameters(cx, chosen.parameters, chosen.body, arguments, node.line)
            return _result(cx, chosen.head.name, chosen.returns, chosen.body, node.line)
    finally:
        cx.calls.pop()


def closure(cx: Context, lambda_: Closure, arguments: tuple[Argument, ...], node: Call) -> Value:
    """Call a lambda: it sees the scopes it was written in."""
    outside = cx.scopes
    depth = cx.depth
    cx.scopes = [*lambda_.scopes, Scope(depth)]
    try:
        with cx.within(id(node)), cx.scope():
            _bind_parameters(cx, lambda_.node.parameters, lambda_.node.body, arguments, node.line)
            return _result(cx, "result", TypeName("auto"), lambda_.node.body, node.line)
    finally:
        cx.scopes = outside


def _type(cx: Context, argument: Argument) -> Type | None:
    if isinstance(argument, Closure):
        return None
    if isinstance(argument, Slot) and argument.extents:
        return Pointer(argument.array.element)
    if isinstance(argument, LocalArray | SharedArray | SharedRecords):
        return Pointer(argument.element)
    if isinstance(argument, Held) and isinstance(argument.value, Address):
        place = argument.value.place
        if isinstance(place, LocalArray | SharedArray | SharedRecords):
            return Pointer(place.element)
        inner = access.place_type(place)
        return None if inner is None else Pointer(inner)
    return access.place_type(argument)


def _accepts(candidate: FunctionTree, count: int) -> bool:
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


def _resolved(cx: Context, template: tuple[object, ...]) -> tuple[Type | Scalar, ...]:
    """Explicit template arguments, in the caller's scope."""
    found: list[Type | Scalar] = []
    for argument in template:
        if isinstance(argument, TypeName):
            bound = cx.find(argument.name) if not argument.arguments and not argument.pointers else None
            found.append(bound if isinstance(bound, Scalar) else resolve.type_of(cx, argument, 0))
        else:
            found.append(expressions.constant(cx, argument, 0))  # type: ignore[arg-type]
    return tuple(found)


def _bind_template(
    cx: Context, chosen: FunctionTree, given: tuple[Type | Scalar, ...], types: tuple[Type | None, ...], line: int
) -> None:
    parameters = chosen.head.template
    for parameter, argument in zip(parameters, given, strict=False):
        cx.bind(parameter.name, argument)
    for parameter, type_ in zip(chosen.parameters, types, strict=False):
        _deduce(cx, {p.name for p in parameters[len(given) :]}, parameter.type, type_)
    for parameter in parameters[len(given) :]:
        if parameter.name and parameter.name not in cx.scopes[-1].names and parameter.default:
            _bind_default(cx, parameter.name, parameter.default, line)


def _bind_default(cx: Context, name: str, text: str, line: int) -> None:
    if text.lstrip("-").isdigit():
        cx.bind(name, number(int(text)))
        return
    cx.bind(name, resolve.type_of(cx, TypeName(text), line))


def _deduce(cx: Context, open_: set[str], wanted: TypeName, given: Type | None) -> None:
    if given is None or wanted.name not in open_ or wanted.name in cx.scopes[-1].names:
        return
    for _ in range(wanted.pointers):
        if not isinstance(given, Pointer):
            return
        given = given.element
    cx.bind(wanted.name, given)


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
    cx: Context, parameters: tuple[Parameter, ...], body: Block, arguments: tuple[Argument, ...], line: int
) -> None:
    changed = cx.assigned(body)
    aliasing = not any(p.type.reference and not p.type.const for p in parameters) and not any(
        isinstance(a, Held) and isinstance(a.value, Address) for a in arguments
    )
    bound = []
    for i, parameter in enumerate(parameters):
        if i < len(arguments):
            argument = arguments[i]
        else:
            assert parameter.default is not None
            argument = Held(expressions.value(cx, parameter.default))
        bound.append((parameter.name, _bound(cx, parameter, argument, parameter.name in changed, aliasing, line)))
    for name, place in bound:
        if name:
            cx.bind(name, place)


def _bound(
    cx: Context, parameter: Parameter, argument: Argument, changes: bool, aliasing: bool, line: int
) -> Place | Closure:
    if isinstance(argument, Closure):
        return argument
    if parameter.type.reference and not (parameter.type.const and isinstance(argument, Memory | Slot)):
        return argument
    value = access.load(cx, argument, line)
    type_ = None if parameter.type.name == "auto" else resolve.type_of(cx, parameter.type, line)
    if isinstance(value, Bits):
        return declarations.hold(cx, parameter.name, value, parameter, line)
    if isinstance(value, Fields):
        return _bound_fields(cx, parameter, value, changes, aliasing, line)
    if isinstance(value, Address):
        if changes:
            return declarations.cursor(cx, parameter.name, value, parameter, line)
        return Held(value)
    held = access.scalar(value, line)
    if isinstance(type_, Arithmetic | Pointer):
        held = access.convert(held, type_, line)
    if not changes and aliasing and (_named(held) or held.constant is not None):
        return Held(held)
    return access.declare(cx, parameter.name, held.type, parameter, held, not changes, line)


def _named(value: Scalar) -> bool:
    """Whether the value has a name that the source gave it."""
    return value.is_name and not is_temporary(value.text)


def _bound_fields(cx: Context, parameter: Parameter, value: Fields, changes: bool, aliasing: bool, line: int) -> Place:
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
        with _returning(cx, None, body):
            statements.run(cx, statements_)
        return Nothing()
    type_ = _returned(cx, returns, line)
    place = None
    if type_ is not VOID:
        place = _outside(cx, name, type_, body, line)
    with _returning(cx, place, body):
        statements.run(cx, statements_)
    return Nothing() if place is None else _materialised(cx, access.load(cx, place, line))


def _straight(cx: Context, returns: TypeName, body: Block, line: int) -> Value:
    """A body whose only `return` is its last statement."""
    last = body.statements[-1]
    assert isinstance(last, Return) and last.value is not None
    with _returning(cx, None, body):
        statements.run(cx, body.statements[:-1])
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


class _returning:
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
