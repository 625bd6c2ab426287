"""The source's structs: which definition a name means, and what stands inside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from porter.source.qualified import unqualified
from porter.syntax.nodes import Expression, Name, TypeName, Variable
from porter.syntax.unit import FunctionTree, StructTree
from porter_triton.lower import expressions, matching, resolve
from porter_triton.lower.context import Context
from porter_triton.lower.scopes import FunctionName
from porter_triton.lower.types import Array, Record, Type
from porter_triton.lower.values import Scalar
from porter_triton.refusal import Refusal

_CONVERSION = "operator "  # before the type

Argument = Type | Scalar | FunctionName | TypeName  # a TypeName is a template's, for a template parameter
Bindings = tuple[tuple[str, Argument], ...]
Fields = tuple[tuple[str, Type], ...]
OWN = "<class>"  # what the struct is bound to whose method is being lowered


def record(cx: Context, name: TypeName, line: int) -> Record | None:
    """The record of the struct `name` means; None where the source has no such struct."""
    return named(cx, name.name, arguments(cx, name.arguments, line), line)


def named(cx: Context, name: str, given: tuple[Argument, ...], line: int) -> Record | None:
    """The record of the struct `name` with these template arguments."""
    found = _definition(cx, name, given, line)
    if found is None:
        return None
    tree, bindings = found
    with cx.scope(wall=True):
        _bind(cx, tree, bindings, line)
        fields: list[tuple[str, Type]] = []
        for base in tree.bases:
            inherited = record(cx, base, line)
            fields += inherited.fields if inherited is not None else ()
        for variable in tree.fields:
            if variable.type.reference and not variable.type.const:
                raise Refusal(
                    variable.line, f"`{tree.name}` holds a reference, `{variable.name}`, through which it may write"
                )
            if variable.storage != "static":
                fields += _fields(cx, variable, line)
        aligned = _aligned(cx, tree)
    return Record(tree.name, tuple(fields), bindings, tree.union, cx.unit.struct(tree.name).index(tree), aligned)


def _aligned(cx: Context, tree: StructTree) -> int:
    """The bytes that a struct wants its addresses to be multiples of; 0 where it does not say."""
    with suppress(Refusal):
        wanted = expressions.constant(cx, tree.aligned, tree.line).constant if tree.aligned is not None else 0
        return int(wanted or 0)
    return 0


def _fields(cx: Context, variable: Variable, line: int) -> Fields:
    """A field; of a struct without a name, or a union of one, those inside."""
    type_ = resolve.type_of(cx, variable.type, line)
    if not variable.name and isinstance(type_, Record) and (not type_.union or len(type_.fields) == 1):
        return type_.fields
    sizes = resolve.extents(cx, variable.extents, line)
    return ((variable.name, Array(type_, sizes) if sizes else type_),)


def demand_no_union(type_: Type, line: int) -> None:
    """Raise `Refusal` for a union where only structs are understood."""
    if isinstance(type_, Record) and type_.union:
        raise Refusal(line, f"`{type_.name}` is a union")


def _definition(cx: Context, name: str, given: tuple[Argument, ...], line: int) -> tuple[StructTree, Bindings] | None:
    """The primary template or the most specialised specialisation that fits, and what its parameters are."""
    candidates = cx.unit.struct(name)
    exact = tuple(s for s in candidates if s.name == name) or candidates
    primary = next((s for s in exact if not s.arguments), None)
    given = _with_defaults(cx, primary, given, line)
    fitting = [(s, bindings) for s in exact if s.arguments and (bindings := _match(cx, s, given, line)) is not None]
    if fitting:
        chosen = matching.most_specialised([(f, matching.Patterns(f[0].arguments, _open(f[0]))) for f in fitting])
        if chosen is None:
            raise Refusal(line, f"several specialisations of `{name}` fit")
        return chosen
    if primary is None:
        return None
    bound = _enclosing(cx, primary) + [(p.name, a) for p, a in zip(primary.template, given, strict=False)]
    return primary, tuple(bound)


def _with_defaults(
    cx: Context, primary: StructTree | None, given: tuple[Argument, ...], line: int
) -> tuple[Argument, ...]:
    """The template arguments given, and the defaults of the others as far as they are known."""
    parameters = primary.template if primary is not None else ()
    found = list(given)
    for parameter in parameters[len(given) :]:
        known = dict(_enclosing(cx, primary)) if primary is not None else {}
        known |= {p.name: a for p, a in zip(parameters, found, strict=False)}
        default = _default(cx, parameter.default, known, line) if parameter.default else None
        if default is None:
            break
        found.append(default)
    return tuple(found)


def _enclosing(cx: Context, tree: StructTree) -> list[tuple[str, Argument]]:
    """Returns what the parameters of the template are whose member `tree` is, which is named inside it only."""
    owner = tree.name.rpartition("::")[0]
    around = next((s for s in cx.unit.struct(owner) if s.name == owner), None)
    found = [(p.name, cx.find(p.name)) for p in (around.template if around is not None else ())]
    return [(name, argument) for name, argument in found if isinstance(argument, Argument)]


def _open(tree: StructTree) -> frozenset[str]:
    return frozenset(p.name for p in tree.template)


def _match(cx: Context, tree: StructTree, given: tuple[Argument, ...], line: int) -> Bindings | None:
    """Returns what the parameters of a specialisation are for it to be that of the arguments; None where it is not."""
    if len(tree.arguments) > len(given):
        return None
    bound: matching.Bound = {}

    def fixed(pattern: TypeName | Expression) -> object:
        try:
            return arguments(cx, (pattern,), line)[0]
        except Refusal:
            return None

    pairs = zip(tree.arguments, given, strict=False)
    if not all(matching.matched(pattern, a, _open(tree), bound, fixed) for pattern, a in pairs):
        return None
    return tuple((name, a) for name, a in bound.items() if isinstance(a, Argument))


def _default(cx: Context, text: str, known: dict[str, Argument], line: int) -> Argument | None:
    return resolve.default_argument(cx, text, known, line)


def arguments(cx: Context, given: Sequence[object], line: int) -> tuple[Argument, ...]:
    """Template arguments as written, in the scope they are written in."""
    return tuple(_argument(cx, a, line) for a in given)


def _argument(cx: Context, argument: object, line: int) -> Argument:
    if isinstance(argument, Type | Scalar | FunctionName):
        return argument
    argument = _function_named(cx, argument)
    name = getattr(argument, "name", None)
    if isinstance(name, str) and not getattr(argument, "arguments", ()) and not getattr(argument, "pointers", 0):
        bound = cx.find(name)
        if isinstance(bound, Scalar | FunctionName):
            return bound
        if bound is None and cx.unit.named(name):
            return FunctionName(name, arguments(cx, getattr(argument, "template", ()), line))
        if bound is None and isinstance(argument, TypeName) and cx.unit.variables_named(name, cx.namespaces[-1]):
            argument = Name(name, line=line)
        elif bound is None and not isinstance(argument, TypeName) and cx.unit.struct(name):
            argument = TypeName(name)
    if isinstance(argument, TypeName):
        if not argument.arguments and isinstance(name, str) and _is_template(cx, name):
            return argument
        return resolve.type_of(cx, argument, line)
    return expressions.constant(cx, argument, line)  # type: ignore[arg-type]


def _function_named(cx: Context, argument: object) -> object:
    """Returns what reads as a type, `a::f<T>`, as the name of a function where it is one's alone."""
    if not isinstance(argument, TypeName) or argument.pointers or cx.find(argument.name) is not None:
        return argument
    defined = cx.unit.named(argument.name) and not cx.unit.struct(argument.name)
    return Name(argument.name, argument.arguments) if defined else argument


def _is_template(cx: Context, name: str) -> bool:
    bound = cx.find(name)
    if isinstance(bound, TypeName) and not bound.arguments:
        return bound.name != name and _is_template(cx, bound.name)
    found = cx.unit.struct(name)
    return bound is None and bool(found) and bool(found[0].template)


def _bind(cx: Context, tree: StructTree, bindings: Bindings, line: int) -> None:
    """Bind in the innermost scope what the struct's members see by name."""
    for name, argument in bindings:
        cx.bind(name, argument)
    for alias in tree.aliases:
        if not alias.template:
            cx.bind(alias.name, alias.type)
    for field in tree.fields:
        if field.storage == "static" and field.value is not None and not field.extents:
            try:
                cx.bind(field.name, expressions.constant(cx, field.value, line))
            except Refusal:
                continue  # whoever uses it will say so


def bind_members(cx: Context, type_: Record, line: int) -> None:
    """Bind what methods of `type_` see: template arguments, aliases, static constants."""
    tree = tree_of(cx, type_)
    if tree is not None:
        _bind(cx, tree, _bindings(type_), line)
        cx.bind(unqualified(type_.name), type_)  # inside, a template's name is the instance's
        cx.bind(OWN, type_)


def _bindings(type_: Record) -> Bindings:
    """The template arguments of a record, which carries them as objects: types do not know of values."""
    return tuple((n, a) for n, a in type_.bindings if isinstance(a, Argument))


def tree_of(cx: Context, type_: Type | None) -> StructTree | None:
    """The definition of a record's type."""
    if not isinstance(type_, Record):
        return None
    found = cx.unit.struct(type_.name)
    if type_.definition >= 0:
        return found[type_.definition]
    return found[-1] if found else None


def methods(cx: Context, type_: Type | None, name: str) -> tuple[FunctionTree, ...]:
    """The methods called `name`, those of bases behind the struct's own."""
    tree = tree_of(cx, type_)
    if tree is None:
        return ()
    own = tuple(m for m in tree.methods if m.head.name == name)
    for base in tree.bases:
        for inherited in cx.unit.struct(base.name):
            own += tuple(m for m in inherited.methods if m.head.name == name)
    return own


def conversions(cx: Context, type_: Record, line: int) -> Iterator[tuple[Type, FunctionTree]]:
    """The conversion operators of a struct, each with the type it makes."""
    tree = tree_of(cx, type_)
    for method in tree.methods if tree is not None else ():
        if method.head.name.startswith(_CONVERSION):
            with cx.scope(wall=True):
                bind_members(cx, type_, line)
                made = resolve.type_of(cx, method.returns, line)
            yield made, method


def member_type(cx: Context, owner: str, given: Sequence[object], member: str, line: int) -> Type | None:
    """`owner<given>::member` as a type."""
    with _inside(cx, owner, given, line) as found:
        bound = cx.find(member) if found else None
        if isinstance(bound, TypeName):
            return resolve.type_of(cx, bound, line)
        return bound if isinstance(bound, Type) else None


def nested(cx: Context, name: TypeName, line: int) -> Record | None:
    """The record of `Owner<given>::Member`, whose fields may be of types that the template Owner is given."""
    owner, _, member = name.name.rpartition("::")
    if not any(unqualified(s.name.rpartition("::")[0]) for s in cx.unit.struct(member)):
        return None
    with _inside(cx, owner, name.arguments, line) as found:
        return record(cx, TypeName(member), line) if found else None


def member_value(cx: Context, owner: str, given: Sequence[object], member: str, line: int) -> Scalar | None:
    """`owner<given>::member` as a static constant."""
    with _inside(cx, owner, given, line) as found:
        bound = cx.find(member) if found else None
        return bound if isinstance(bound, Scalar) else None


def static_value(cx: Context, type_: Type | None, name: str, line: int) -> Scalar | None:
    """A static constant of a record, asked of an object."""
    tree = tree_of(cx, type_)
    if tree is None or not any(f.name == name and f.storage == "static" for f in tree.fields):
        return None
    assert isinstance(type_, Record)
    with cx.scope(wall=True):
        bind_members(cx, type_, line)
        bound = cx.find(name)
    return bound if isinstance(bound, Scalar) else None


@contextmanager
def _inside(cx: Context, owner: str, given: Sequence[object], line: int) -> Iterator[bool]:
    """The scope of a struct's members."""
    bound = cx.find(owner)
    alias = next((a for a in reversed(cx.unit.aliases) if unqualified(a.name) == unqualified(owner)), None)
    found: tuple[StructTree, Bindings] | None = None
    if isinstance(bound, TypeName) or (bound is None and alias is not None and not given):
        target = bound if isinstance(bound, TypeName) else alias.type if alias is not None else None
        bound = resolve.type_of(cx, target, line) if target is not None else None
    if isinstance(bound, Record):
        tree = tree_of(cx, bound)
        found = (tree, _bindings(bound)) if tree is not None else None
    elif bound is None and cx.unit.struct(owner):
        found = _definition(cx, owner, arguments(cx, given, line), line)
    with cx.scope(wall=True):
        if found is not None:
            _bind(cx, found[0], found[1], line)
        yield found is not None
