"""Functions written out where they are called."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from porter.ir.simt.builder import access, calls, declarations, deduction, expressions, resolve, statements
from porter.ir.simt.builder.c_types import VOID, ArrayOf, CType, Record, holds_union, lives_in_memory
from porter.ir.simt.builder.errors import NotExpressibleError
from porter.ir.simt.builder.mutability import assigned_names
from porter.ir.simt.builder.state import Builder, Scope, Target
from porter.ir.simt.builder.values import (
    Closure,
    Fields,
    FunctionName,
    Held,
    Memory,
    Nothing,
    OneOf,
    Place,
    RValue,
    Slot,
)
from porter.ir.simt.types import Scalar
from porter.source.qualified import unqualified
from porter.syntax import packs
from porter.syntax.nodes import Block, Braces, Expression, Lambda, Parameter, Return, TypeName
from porter.syntax.unit import FunctionTree
from porter.syntax.walk import walk


@dataclass(frozen=True, slots=True)
class Listed:
    """A list in braces as an argument: the parameter's type gives it a meaning."""

    items: tuple[Argument, ...]


Argument = Place | Listed
_MOST_DEPTH = 40
THIS = "this"


def function(
    b: Builder,
    candidates: Sequence[FunctionTree],
    template: tuple[deduction.Argument, ...],
    arguments: Sequence[Argument],
    line: int,
    *,
    this: Place | None = None,
    owner: Record | None = None,
) -> Place:
    """Writes out the one of `candidates` that fits the arguments best; returns what it returns."""
    if len(b.functions) > _MOST_DEPTH:
        raise b.problem("functions call one another too deeply, or themselves", line)
    type_ = owner if owner is not None else access.place_type(this) if this is not None else None
    types = [argument_type(argument) for argument in arguments]
    candidates = tuple(packs.with_arguments(c, len(arguments)) if packs.has_one(c) else c for c in candidates)
    if this is not None:
        candidates = _by_constness(candidates, changes=not isinstance(this, Held))
    with b.scope(wall=True):
        if isinstance(type_, Record) and (inside := resolve.definition_of(type_)) is not None:
            resolve.bind_members(b, inside)
        chosen, bound = deduction.chosen(b, candidates, template, types, line)
        if this is not None:
            _bind_this(b, this)
        for name, argument in bound.items():
            b.bind(name, argument)
        instance = (id(chosen), tuple(sorted((n, repr(a)) for n, a in bound.items())), _bindings_of(type_))
        owned = type_ if isinstance(type_, Record) else None
        with entered(b, chosen, instance, owned), b.scope():
            _bind_parameters(b, chosen.parameters, arguments, line)
            return _returned(b, chosen.returns, chosen.body, line)


def _by_constness(candidates: Sequence[FunctionTree], *, changes: bool) -> tuple[FunctionTree, ...]:
    """Returns the overloads of each class with those first that C++ prefers for an object that `changes`, or not."""
    classes = list(dict.fromkeys(candidate.head.scope for candidate in candidates))
    return tuple(sorted(candidates, key=lambda c: (classes.index(c.head.scope), c.constant is changes)))


def _bindings_of(type_: CType | None) -> object:
    return repr(type_.arguments) if isinstance(type_, Record) else None


class entered:  # noqa: N801 - reads as a word
    """The state while the body of a function is built."""

    def __init__(
        self, b: Builder, tree: FunctionTree, instance: tuple[object, ...], owner: Record | None = None
    ) -> None:
        self._b, self._tree, self._instance, self._owner = b, tree, instance, owner

    def __enter__(self) -> None:
        b, tree = self._b, self._tree
        b.functions.append(tree)
        b.namespaces.append(tree.head.scope)
        b.mutable.append(assigned_names(b.unit, tree.body))
        b.addressed.append(b.addresses.of(tree.body))
        b.instances.append(self._instance)
        b.owners.append(self._owner)

    def __exit__(self, *_: object) -> None:
        b = self._b
        for stack in (b.functions, b.namespaces, b.mutable, b.addressed, b.instances, b.owners):
            stack.pop()


def _bind_this(b: Builder, this: Place) -> None:
    """Binds the object, and its fields by their names."""
    this = _with_all_fields(b, this)
    b.bind(THIS, this)
    type_ = access.place_type(this)
    if isinstance(type_, Record):
        for name in type_.members:
            b.bind(name, access.field(b, this, name))


def _with_all_fields(b: Builder, place: Place) -> Place:
    """Returns a place that all fields of a value are parts of: of a union that is a value only one is."""
    if isinstance(place, Held) and isinstance(place.value, Fields) and holds_union(place.value.type):
        return access.in_memory(b, place.value)
    return place


def closure(b: Builder, found: Closure, arguments: Sequence[Argument], line: int) -> Place:
    """Writes out a lambda, which sees the scopes it was written in."""
    if len(b.functions) > _MOST_DEPTH:
        raise b.problem("functions call one another too deeply, or themselves", line)
    outside = b.scopes
    b.scopes = [scope for scope in found.scopes if isinstance(scope, Scope)]
    node = found.node
    b.mutable.append(b.mutable[-1] | assigned_names(b.unit, node.body))
    b.addressed.append(b.addressed[-1] | b.addresses.of(node.body))
    try:
        with b.scope():
            _bind_parameters(b, node.parameters, arguments, line)
            return _returned(b, TypeName("auto"), node.body, line)
    finally:
        b.scopes = outside
        b.mutable.pop()
        b.addressed.pop()


def argument_type(argument: Argument) -> CType | None:
    """The type of an argument; None for a function or a list."""
    return None if isinstance(argument, Listed) else access.place_type(argument)


def _bind_parameters(b: Builder, parameters: Sequence[Parameter], arguments: Sequence[Argument], line: int) -> None:
    for number, parameter in enumerate(parameters):
        if number < len(arguments):
            bound = _parameter(b, parameter, arguments[number], line)
        elif parameter.default is not None:
            type_ = resolve.type_of(b, parameter.type, line)
            bound = Held(declarations.initial(b, type_, parameter.default, line))
        else:
            raise b.problem(f"the parameter '{parameter.name}' is not given", line)
        if parameter.name:
            b.bind(parameter.name, bound)


def _parameter(b: Builder, parameter: Parameter, argument: Argument, line: int) -> Place:
    kind = parameter.type
    if not isinstance(argument, Listed):
        held = argument.value if isinstance(argument, Held) else None
        if isinstance(held, Closure | FunctionName | OneOf):
            return argument
        if kind.name == "[]" and not kind.reference:  # an array is handed by its address
            return argument if isinstance(argument, Memory | Held) else Held(access.load(b, argument))
        is_reference = resolve.is_reference(b, kind)
        same = is_reference and (kind.name == "auto" or access.place_type(argument) == _plain(b, kind, line))
        if same or (is_reference and isinstance(access.place_type(argument), ArrayOf)):
            return _with_all_fields(b, argument)
        if kind.name == "auto":
            return _copied(b, parameter.name, access.place_type(argument), argument, line)
    return _copied(b, parameter.name, _plain(b, kind, line), argument, line)


def _plain(b: Builder, kind: TypeName, line: int) -> CType | None:
    return None if kind.name == "[]" else resolve.type_of(b, kind, line)


def _copied(b: Builder, name: str, type_: CType | None, argument: Argument, line: int) -> Place:
    """A parameter that is a variable of its own."""
    if type_ is None:
        raise b.problem(f"the parameter '{name}' has no type that is known", line)
    if lives_in_memory(type_):
        made = access.variable(b, name, type_, in_memory=True)
        assert isinstance(made, Memory)
        if isinstance(argument, Memory):
            access.copy(b, made, argument)
        else:
            access.store(b, made, passed(b, argument, type_, line))
        return made
    value = passed(b, argument, type_, line)
    if name not in b.mutable[-1] and name not in b.addressed[-1]:
        return Held(value)
    place = access.variable(b, name, type_, in_memory=name in b.addressed[-1])
    access.store(b, place, value)
    return place


def passed(b: Builder, argument: Argument, type_: CType, line: int) -> RValue:
    """An argument as a value of its parameter's type."""
    if isinstance(argument, Listed):
        return calls.assembled(b, type_, argument.items, line)
    return calls.converted(b, access.load(b, argument), type_, line)


def _returned(b: Builder, returns: TypeName, body: Block, line: int) -> Place:
    """Builds a body; returns what it returns."""
    inner = {id(n) for held in walk(body) if isinstance(held, Lambda) for n in walk(held.body)}
    ends = [node for node in walk(body) if isinstance(node, Return) and id(node) not in inner]
    last = body.statements[-1] if body.statements else None
    if isinstance(last, Return) and len(ends) == 1:
        return _straight(b, returns, body.statements[:-1], last)
    type_: CType | None = VOID if returns.name == "void" and not returns.pointers else None
    if type_ is None and returns.name != "auto":
        type_ = resolve.type_of(b, returns, line)
    if type_ is None and any(end.value is not None for end in ends):
        type_ = _deduced(b, ends, line)
    result = None
    if type_ is not None and type_ != VOID:
        result = access.variable(b, "result", type_, in_memory=False)
    with returning(b, result):
        statements.run(b, body.statements)
    return Held(access.load(b, result) if result is not None else Nothing())


def _deduced(b: Builder, ends: Sequence[Return], line: int) -> CType:
    for end in ends:
        if end.value is not None:
            try:
                return expressions.type_of_expression(b, end.value)
            except NotExpressibleError as error:
                raise b.problem("a function with several returns whose type is 'auto'", line) from error
    return VOID


def _straight(b: Builder, returns: TypeName, before: Sequence[object], last: Return) -> Place:
    """A body whose only `return` is its last statement."""
    with returning(b, None):
        statements.run(b, tuple(before))  # type: ignore[arg-type]
        if last.value is None:
            return Held(Nothing())
        with b.at(last.line):
            if resolve.is_reference(b, returns) and not (isinstance(last.value, Braces) and last.value.type is None):
                return expressions.place(b, last.value)
            if returns.name == "auto" and not returns.pointers:
                return Held(_loaded(b, last.value))
            type_ = resolve.type_of(b, returns, last.line)
            if type_ == VOID:
                expressions.value(b, last.value)
                return Held(Nothing())
            if isinstance(type_, Record) and lives_in_memory(type_):
                return expressions.place(b, last.value)
            return Held(declarations.initial(b, type_, last.value, last.line))


def _loaded(b: Builder, value: Expression) -> RValue:
    return expressions.value(b, value)


class returning:  # noqa: N801 - reads as a word
    """Sets the target of `return` while a body is built."""

    def __init__(self, b: Builder, result: Place | None) -> None:
        self._b, self._result = b, result
        self._outer: list[Target] = []

    def __enter__(self) -> None:
        b = self._b
        flag = Slot("returned", Scalar.BOOL)
        b.held[flag] = b.emitter.constant(False, Scalar.BOOL)
        self._outer, b.targets = b.targets, [Target(frozenset({"return"}), flag, self._result)]

    def __exit__(self, *_: object) -> None:
        self._b.targets = self._outer


def methods(b: Builder, type_: Record, name: str) -> tuple[FunctionTree, ...]:
    """The methods of a struct called `name`, those of its bases behind its own."""
    if type_.tree is None:
        return ()
    own = tuple(m for m in type_.tree.methods if m.head.name == name)
    for base in type_.tree.bases:
        for inherited in b.unit.struct(base.name):
            own += tuple(m for m in inherited.methods if m.head.name == name)
    return own


def own_method(b: Builder, name: str) -> tuple[tuple[FunctionTree, ...], Place | None, Record] | None:
    """The methods that `name` means of the struct whose method is being built, the object, and the struct.

    The object is None in a static method.
    """
    this = b.find(THIS)
    type_ = access.place_type(this) if isinstance(this, Place) else b.owners[-1]
    if not isinstance(type_, Record) or unqualified(name.rpartition("::")[0]) not in ("", unqualified(type_.name)):
        return None
    found = methods(b, type_, unqualified(name))
    return (found, this if isinstance(this, Place) else None, type_) if found else None
