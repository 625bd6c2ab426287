"""Functions written out where they are called, and what they return."""

from __future__ import annotations

from dataclasses import replace

from porter.syntax.nodes import Block, Call, Lambda, Return, TypeName
from porter.syntax.unit import FunctionTree
from porter.syntax.walk import walk
from porter_triton.lower import (
    access,
    declarations,
    expressions,
    leaving,
    local_arrays,
    lvalues,
    overloads,
    resolve,
    statements,
    structs,
)
from porter_triton.lower.context import Context
from porter_triton.lower.deduction import bind_template
from porter_triton.lower.flow import leaves
from porter_triton.lower.parameters import Argument, bind_parameters, bind_this
from porter_triton.lower.places import Place
from porter_triton.lower.scopes import Closure, Scope
from porter_triton.lower.types import VOID, Record, Type
from porter_triton.lower.values import Bits, Fields, Nothing, Scalar, Value
from porter_triton.refusal import Refusal

_MOST_DEPTH = 40


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
    types = tuple(overloads.argument_type(a) for a in arguments)
    captured = structs.arguments(cx, template, node.line)
    type_ = scope_of if this is None else access.place_type(this)
    chosen = _chosen(cx, candidates, captured, types, type_, line=node.line)
    cx.calls.append(id(node))
    cx.namespaces.append(chosen.head.scope)
    try:
        with cx.within(id(node)), cx.scope(wall=True):
            if isinstance(type_, Record):
                structs.bind_members(cx, type_, node.line)
            if this is not None:
                bind_this(cx, this)
            bind_template(cx, chosen, captured, types, node.line)
            bind_parameters(cx, chosen.parameters, chosen.body, arguments, node.line, inner=this is not None)
            return _result(cx, chosen.head.name, chosen.returns, chosen.body, node.line)
    except Refusal as refusal:
        if chosen.body.line <= refusal.line <= cx.last_line(chosen.body):
            refusal.within(chosen.file)
        raise
    finally:
        cx.calls.pop()
        cx.namespaces.pop()


def _chosen(
    cx: Context,
    candidates: tuple[FunctionTree, ...],
    template: tuple[structs.Argument, ...],
    types: tuple[Type | None, ...],
    owner: Type | None,
    *,
    line: int,
) -> FunctionTree:
    """The one of `candidates` that fits best; the types that methods of `owner` take are named inside it."""
    if not isinstance(owner, Record) or len(candidates) == 1:
        return overloads.best(cx, candidates, template, types, line)
    with cx.scope(wall=True):
        structs.bind_members(cx, owner, line)
        return overloads.best(cx, candidates, template, types, line)


def closure(cx: Context, lambda_: Closure, arguments: tuple[Argument, ...], node: Call) -> Value:
    """Call a lambda: it sees the scopes it was written in."""
    outside = cx.scopes
    depth = cx.depth
    cx.scopes = [*lambda_.scopes, Scope(depth)]
    try:
        with cx.within(id(node)), cx.scope():
            bind_parameters(cx, lambda_.node.parameters, lambda_.node.body, arguments, node.line, inner=True)
            return _result(cx, "result", TypeName("auto"), lambda_.node.body, node.line)
    finally:
        cx.scopes = outside


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
    type_ = _returned(cx, returns, body, line)
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
        type_ = _returned(cx, returns, body, line)
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
        leaving.push_target(self._cx, "return", self._result, node=self._body)
        self._cx.changes.append(self._cx.assigned(self._body))

    def __exit__(self, *_: object) -> None:
        self._cx.targets.pop()
        self._cx.changes.pop()


def _returned(cx: Context, returns: TypeName, body: Block, line: int) -> Type:
    if returns.name == "void" and not returns.pointers:
        return VOID
    if returns.name == "auto":
        inner = {id(n) for held in walk(body) if isinstance(held, Lambda) for n in walk(held.body)}
        values = [n.value for n in walk(body) if isinstance(n, Return) and id(n) not in inner]
        found = resolve.told(cx, [v for v in values if v is not None], line) if any(values) else VOID
        if found is None:
            raise Refusal(line, "a function with several returns whose type is `auto`")
        return found
    return resolve.type_of(cx, returns, line)


def _outside(cx: Context, name: str, type_: Type, body: Block, line: int) -> Place:
    """A place for the result, declared outside the function: lanes that have returned keep theirs."""
    scope = cx.scopes[-1]
    scope.depth -= 1
    try:
        return local_arrays.variable(cx, name, type_, body, line)
    finally:
        scope.depth += 1
