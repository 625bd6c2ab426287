"""Methods of a launcher's own structs: each is what its body says of the fields.

One `return`, or branches that each are one, stand in place of the call; a method that takes more statements to its
value is a function of the module, which is given the fields.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from porter.source.qualified import unqualified
from porter.syntax.nodes import (
    Block,
    Call,
    Choice,
    Expression,
    If,
    Member,
    Name,
    Parameter,
    Return,
    Skipped,
    Statement,
    TypeName,
)
from porter.syntax.unit import FunctionTree, StructTree
from porter.syntax.walk import rebuilt, walk
from porter_triton.host import calls, expressions, member_types, overloads, pointers, statements
from porter_triton.host.assigned import assigned, assigned_with_calls
from porter_triton.host.c_types import Arithmetic
from porter_triton.host.codes import SUCCESS, Code, Kind
from porter_triton.host.instances import instance
from porter_triton.host.scope import Context
from porter_triton.refusal import Refusal

THIS = "this"
_MOST_AROUND = 40  # scopes around a method that stands in place
_OPERATORS = {"operator()": "call", "operator[]": "element"}
_CALLABLE, _INDEXED = _OPERATORS


@dataclass(frozen=True, slots=True)
class _Method:
    """A method, with its class and the template parameters of that."""

    struct: StructTree
    bindings: member_types.Bindings
    tree: FunctionTree

    @property
    def gives_nothing(self) -> bool:
        """Returns whether it has no value."""
        return self.tree.returns.name == "void" and not self.tree.returns.pointers


def call(cx: Context, node: Call, callee: Member, owner: Code) -> Code | None:
    """Returns the value of `object.method(arguments)`; None where `owner` is no object of a class of the source."""
    if not _is_object(cx, owner):
        return None
    return _called(cx, owner, Name(callee.name, callee.template, node.line), node.arguments)


def own_call(cx: Context, node: Call, callee: Name) -> Code | None:
    """Returns the value of `method(arguments)` within a method, or of `object(arguments)`; None for any other call."""
    held = cx.find(callee.name)
    if isinstance(held, Code) and _is_object(cx, held):
        return _called(cx, held, Name(_CALLABLE, (), node.line), node.arguments)
    this = cx.find(THIS) if "::" not in callee.name else None
    if not isinstance(this, Code) or this.ctype is None or not _methods(cx, this, callee.name):
        return None
    return _called(cx, this, replace(callee, line=node.line), node.arguments)


def element(cx: Context, owner: Code, index: Expression, line: int) -> Code:
    """Returns the value of `object[index]`."""
    if not _is_object(cx, owner):
        raise Refusal(line, "this has no elements in a launcher")
    return _called(cx, owner, Name(_INDEXED, (), line), (index,))


def bind(cx: Context, this: Code) -> None:
    """Binds an object and its fields in the innermost scope, as a method of it sees them."""
    for name, part in zip((THIS, *this.names), (this, *this.parts), strict=True):
        cx.bind(name, part)


def static_constant(cx: Context, name: str) -> Name | None:
    """Returns the qualified name of a constant of the class whose method is being translated; None for any other."""
    this = cx.find(THIS)
    if not isinstance(this, Code) or this.ctype is None:
        return None
    for struct, bindings in _classes(cx, this):
        if any(field.name == name and field.constexpr for field in struct.fields):
            return Name(f"{struct.name}::{name}", tuple(argument for _, argument in bindings))
    return None


def _is_object(cx: Context, owner: Code) -> bool:
    return owner.kind is Kind.RECORD and owner.ctype is not None and bool(cx.unit.struct(owner.ctype.name))


def _called(cx: Context, owner: Code, callee: Name, arguments: tuple[Expression, ...]) -> Code:
    """Returns the value of a method of an object; raises `Refusal` where it is not known or changes the object."""
    given = tuple(expressions.expression(cx, argument) for argument in arguments)
    found = [m for m in _methods(cx, owner, callee.name) if overloads.fits(cx, m.tree, given)]
    if not found:
        kind = owner.ctype.name if owner.ctype is not None else ""
        raise Refusal(callee.line, f"no method '{callee.name}' of '{kind}' with a body takes these arguments")
    if len({_shown(m.tree.body) for m in found}) > 1:  # those for a constant object and for any other may be alike
        raise Refusal(callee.line, f"it is not known which of several methods '{callee.name}' is meant")
    if any(_acts(cx, argument) for argument in arguments):  # a parameter may be read twice, or not at all
        raise Refusal(callee.line, f"'{callee.name}' is given a value that changes a variable or calls a function")
    if len(cx.hidden) > _MOST_AROUND:
        raise Refusal(callee.line, f"'{callee.name}' is called within itself, of another object")
    reached = _reached(cx, owner, found[-1].tree)
    if any(_changes(cx, owner, inner) for inner in reached):
        raise Refusal(callee.line, f"'{callee.name}' changes its object, which has no counterpart in a launcher")
    return _value(cx, owner, found[-1], callee, given, recursive=callee.name in _names_called(reached))


def _acts(cx: Context, argument: Expression) -> bool:
    """Returns whether an argument does something beside its value, or may."""
    called = (n.callee.name for n in walk(argument) if isinstance(n, Call) and isinstance(n.callee, Name))
    return bool(assigned(argument)) or any(unqualified(name) in cx.taken for name in called)


def _changes(cx: Context, owner: Code, method: FunctionTree) -> bool:
    """Returns whether a method sets a field of its object."""
    return not assigned_with_calls(cx.unit, method.body).keys().isdisjoint({THIS, *owner.names})


def _reached(cx: Context, owner: Code, method: FunctionTree) -> list[FunctionTree]:
    """Returns the method and those of the same object that it calls, each once."""
    found = [method]
    for one in found:
        for name in _names_called([one]):
            found.extend(m.tree for m in _methods(cx, owner, name) if m.tree not in found)
    return found


def _names_called(methods: list[FunctionTree]) -> frozenset[str]:
    """Returns the names that methods call without an object, or of `this`."""
    called = [node.callee for method in methods for node in walk(method.body) if isinstance(node, Call)]
    plain = (callee.name for callee in called if isinstance(callee, Name))
    own = (callee.name for callee in called if isinstance(callee, Member) and _is_this(callee.owner))
    return frozenset((*plain, *own))


def _is_this(owner: Expression) -> bool:
    return isinstance(owner, Name) and owner.name == THIS


def _value(
    cx: Context, owner: Code, method: _Method, callee: Name, given: tuple[Code, ...], *, recursive: bool
) -> Code:
    """Returns what a method that changes nothing of its object gives for the arguments."""
    value = None if recursive else _single(method.tree.body.statements)
    if value is None and (recursive or not method.gives_nothing):
        return _function(cx, owner, method, callee, given)
    template = instance(cx, method.tree, callee.template, given, callee.line)
    with cx.apart():
        member_types.bind(cx, method.bindings)
        member_types.bind(cx, tuple((p.name, a) for p, a in zip(method.tree.head.template, template, strict=False)))
        bind(cx, owner)
        _bind_parameters(cx, method.tree, given, callee.line)
        if value is not None:
            return _returned(cx, method.tree, expressions.expression(cx, value), callee.line)
        statements.inlined(cx, method.tree.body)
    return SUCCESS


def _bind_parameters(cx: Context, method: FunctionTree, given: tuple[Code, ...], line: int) -> None:
    """Binds the parameters of a method to the arguments, those that are left out to their defaults."""
    for i, parameter in enumerate(method.parameters):
        if i < len(given):
            argument = given[i]
        else:
            assert parameter.default is not None
            argument = expressions.expression(cx, parameter.default)
        numeric = argument.is_number and not parameter.type.pointers
        cx.bind(parameter.name, pointers.cast(cx, parameter.type, argument, line) if numeric else argument)


def _returned(cx: Context, method: FunctionTree, value: Code, line: int) -> Code:
    """Returns the value of a method as one of the type that it returns: a float is cut off where that is an integer."""
    wanted = cx.built_in(method.returns) if not method.returns.pointers else None
    if isinstance(wanted, Arithmetic) and value.kind is Kind.FLOAT and not wanted.is_float:
        return pointers.cast(cx, method.returns, value, line)
    return value


def _function(cx: Context, owner: Code, method: _Method, callee: Name, given: tuple[Code, ...]) -> Code:
    """Returns the call of a method of several statements, which becomes a function that is given the fields."""
    if method.struct.template or method.tree.head.template or owner.ctype is None:
        raise Refusal(callee.line, f"'{callee.name}' takes several statements to its value: make it a function")
    name = f"{unqualified(method.struct.name)}_{_OPERATORS.get(callee.name, callee.name)}"
    this = Parameter(THIS, replace(owner.ctype, pointers=0, const=True, reference=True))
    head = replace(method.tree.head, name=name)
    function = replace(method.tree, head=head, parameters=(this, *method.tree.parameters))
    return calls.called(cx, function, (), (owner, *given))


def _single(steps: tuple[Statement, ...]) -> Expression | None:
    """Returns the value of one `return`, or of branches that each are one: `if (t) return c; return r;`."""
    steps = tuple(step for step in steps if not isinstance(step, Skipped))
    match steps:
        case (Return(value=value),):
            return value
        case (Block(statements=inner),):
            return _single(inner)
        case (If(condition=condition, yes=yes, no=None, line=line), *rest):
            return _either(condition, _single(yes.statements), _single(tuple(rest)), line)
        case (If(condition=condition, yes=yes, no=Block() as no, line=line),):
            return _either(condition, _single(yes.statements), _single(no.statements), line)
    return None


def _either(condition: Expression, yes: Expression | None, no: Expression | None, line: int) -> Expression | None:
    return Choice(condition, yes, no, line) if yes is not None and no is not None else None


def _methods(cx: Context, owner: Code, name: str) -> list[_Method]:
    """Returns the methods called `name` of an object; raises `Refusal` where several of its classes have one."""
    found = [_Method(s, b, m) for s, b in _classes(cx, owner) for m in s.methods if m.head.name == name]
    found = [m for m in found if name != unqualified(m.struct.name)]  # no constructors
    if len({m.struct.name for m in found}) > 1:
        raise Refusal(found[0].tree.head.span.line, f"several classes of an object have a method '{name}'")
    return found


def _classes(cx: Context, owner: Code) -> Iterator[tuple[StructTree, member_types.Bindings]]:
    """Yields the class of an object and its bases, each with its template parameters."""
    waiting = [owner.ctype] if owner.ctype is not None else []
    for kind in waiting:
        found = member_types.definition(cx, replace(kind, pointers=0))
        if found is None:
            continue
        yield found
        with cx.scope():
            member_types.bind(cx, found[1])
            waiting.extend(cx.type(base) for base in found[0].bases)


def _shown(body: Block) -> str:
    """Returns a text of a body that says neither where it stands nor whether what it names is constant."""

    def change(node: object) -> object:
        node = replace(node, const=False) if isinstance(node, TypeName) else node
        return replace(node, line=0) if hasattr(node, "line") else node  # type: ignore[type-var]

    return repr(rebuilt(body, change))
