"""The type that a name means where it stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import cast

from porter.ir.simt.builder import expressions, tuples
from porter.ir.simt.builder.c_types import (
    BUILT_IN,
    FUNCTION,
    ULONG,
    UNNAMED,
    VOID,
    ArrayOf,
    CType,
    PointerTo,
    Record,
    Void,
    named_number,
    spelled,
)
from porter.ir.simt.builder.errors import NotExpressibleError, what_instead
from porter.ir.simt.builder.state import Builder
from porter.ir.simt.builder.values import FunctionName, Number
from porter.ir.simt.types import Scalar
from porter.source.arithmetic_types import told_apart
from porter.source.qualified import unqualified
from porter.syntax.nodes import Alias, Expression, Literal, Name, TypeName, Variable
from porter.syntax.type_resolution import Bindings
from porter.syntax.unit import StructTree

Argument = TypeName | Expression
# Of the host alone: a kernel can do nothing with one but move it, within a struct that it is handed.
_HANDLES = frozenset(("cudaStream_t", "cudaEvent_t", "CUstream", "CUevent"))


def type_of(b: Builder, name: TypeName, line: int = 0) -> CType:
    """The type that `name` means, template parameters and aliases followed. Raises `NotExpressibleError`."""
    found = _named(b, name, line)
    for _ in range(name.pointers if found is not FUNCTION else 0):
        found = PointerTo(found)
    return found


def _named(b: Builder, name: TypeName, line: int) -> CType:
    plain = replace(name, pointers=0, const=False, reference=False, volatile=False)
    if name.name == "decltype":
        return _of_expression(b, name.arguments[0], line)
    if name.name == "[]":
        return _array(b, name, line)
    bound = b.find(name.name)
    if isinstance(bound, TypeName) and bound != plain and not name.arguments:
        return type_of(b, bound, line)
    if isinstance(bound, TypeName) and bound.name != name.name and not bound.arguments:  # a template of a template
        return type_of(b, replace(plain, name=bound.name), line)
    if isinstance(bound, Alias):
        return _of_template(b, bound, name, line)
    if "::" in name.name and (member := _member(b, plain, line)) is not None:
        return member
    given = with_constants(b, plain)
    bound_names = b.bound
    if given.arguments:  # the name of a struct within itself is the template's where arguments follow
        bound_names.pop(given.name, None)
    resolved = b.types.resolved(given, b.namespaces[-1], cast("Bindings", bound_names))
    found = resolved if resolved is not None else given
    inner = (
        _built_in(found)
        or _enumeration(b, found, line)
        or _record(b, replace(found, pointers=0), line)
        or _member(b, found, line)
    )
    inner = inner or tuples.record(b, found, line)
    if inner is None:
        raise b.problem(f"the type '{name.name}'{what_instead(name.name) or ' is not known'}", line)
    for _ in range(found.pointers if inner is not FUNCTION else 0):
        inner = PointerTo(inner)
    return inner


def _array(b: Builder, name: TypeName, line: int) -> CType:
    """Returns what `float [3]` is; a pointer where an extent is not known."""
    inner, *given = name.arguments
    if not isinstance(inner, TypeName):
        raise b.problem("an array of what is not a type", line)
    element, extents = type_of(b, inner, line), [expressions.constant(b, one) for one in given]
    sizes = tuple(size for size in extents if isinstance(size, int))
    return ArrayOf(element, sizes) if sizes and len(sizes) == len(extents) else PointerTo(element)


def is_reference(b: Builder, name: TypeName) -> bool:
    """Returns whether a type is a reference, also by an alias of its class: `using reference = T&`."""
    bound = b.find(name.name)
    if name.reference or name.pointers or not isinstance(bound, TypeName) or bound.name == name.name:
        return name.reference
    return is_reference(b, bound)


def _of_template(b: Builder, alias: Alias, name: TypeName, line: int) -> CType:
    """Returns what an alias template of a class is for the arguments of `name`."""
    given = with_constants(b, name).arguments
    with b.scope():
        for parameter, one in zip(alias.template, given, strict=False):
            b.bind(parameter, one)
        return type_of(b, alias.type, line)


def _enumeration(b: Builder, name: TypeName, line: int) -> CType | None:
    """The integer that an enum is; None for other types."""
    alike = [a for a in b.unit.aliases if a.enumerates and "::".join((*a.scope, a.name)) == name.name]
    return type_of(b, alike[-1].type, line) if alike else None


def _built_in(name: TypeName) -> CType | None:
    if name.name == "void":
        return VOID
    if name.name in ("()", "std::function", "nvstd::function"):
        return FUNCTION
    if unqualified(name.name) in _HANDLES:
        return ULONG
    return named_number(name.name) or BUILT_IN.get(unqualified(name.name))


def _member(b: Builder, name: TypeName, line: int) -> CType | None:
    """`Owner<T>::Member`, where the owner may be an alias; None where it has no such type."""
    owner, _, member = name.name.rpartition("::")
    if not owner:
        return None
    if (owner, member) == ("std::aligned_storage", "type"):
        return _storage(b, name)
    bound = b.find(owner)
    held = bound if isinstance(bound, TypeName) else TypeName(owner, name.arguments)
    if name.arguments and not held.arguments:  # a parameter that is a template itself
        held = replace(held, arguments=name.arguments)
    told = definition(b, with_constants(b, held))
    if told is None:
        return None
    with inside(b, told, wall=True):
        if (nested := _struct_within(b, told.tree, member)) is not None:
            return _with_fields(b, replace(told, tree=nested), line, wall=False)
        inner = b.find(member)
        return type_of(b, inner, line) if isinstance(inner, TypeName) else None


def _struct_within(b: Builder, owner: StructTree, name: str) -> StructTree | None:
    """Returns the struct called `name` that a template of a class defines, whose arguments it sees."""
    if not owner.template and not owner.arguments:
        return None
    found = [tree for tree in b.unit.within(owner.name) if unqualified(tree.name) == name]
    return found[0] if len(found) == 1 and not found[0].template else None


def _storage(b: Builder, name: TypeName) -> CType | None:
    """`std::aligned_storage<size, alignment>::type`: what one access moves of so many bytes."""
    given = [expressions.constant(b, one) for one in name.arguments if not isinstance(one, TypeName)]
    size, alignment = (*given, None, None)[:2]
    if size is None or (alignment is not None and alignment < size):
        return None
    moved: dict[int, CType] = {1: Scalar.U8, 2: Scalar.U16, 4: Scalar.U32, 8: BUILT_IN["uint2"], 16: BUILT_IN["uint4"]}
    return moved.get(size)


def with_constants(b: Builder, name: TypeName) -> TypeName:
    """A name with its arguments as they are outside: types followed, numbers computed."""
    return replace(name, arguments=tuple(argument(b, given) for given in name.arguments))


def argument(b: Builder, given: Argument) -> Argument:
    """A template argument as it is seen from outside: a type without names of parameters, or a number."""
    bound = b.find(given.name) if isinstance(given, TypeName | Name) else None
    if isinstance(given, Name) and bound is None and b.unit.struct(given.name):
        given = TypeName(given.name, given.template)
    if isinstance(given, TypeName) and bound is None and not isinstance(bound, TypeName):
        try:
            type_ = type_of(b, given)
        except NotExpressibleError:
            type_ = None
        if isinstance(type_, Scalar):
            return TypeName(told_apart(given.name)) if named_number(given.name) is type_ else spelled(type_) or given
        if type_ is not None and (name := spelled(type_)) is not None:
            return name
        if given.arguments or b.unit.struct(given.name):
            return given
    elif isinstance(bound, TypeName) and isinstance(given, TypeName):
        return replace(bound, pointers=bound.pointers + given.pointers)
    if isinstance(bound, Literal | TypeName | Name):
        return bound
    if isinstance(bound, FunctionName):
        return Name(bound.name, bound.template)
    wanted = Name(given.name, given.arguments) if isinstance(given, TypeName) else given
    if isinstance(wanted, Name) and bound is None and b.unit.named(wanted.name):
        return wanted
    value = expressions.constant(b, wanted)
    return given if value is None else Literal(value, "bool" if isinstance(value, bool) else "int")


def arguments(b: Builder, given: Sequence[Argument]) -> tuple[Argument, ...]:
    """Template arguments as they are seen from outside."""
    return tuple(argument(b, one) for one in given)


def _of_expression(b: Builder, given: Argument, line: int) -> CType:
    if isinstance(given, TypeName):
        return type_of(b, given, line)
    with b.discarded():
        found = expressions.value(b, given)
    return expressions.type_of_value(b, found, line)


def _record(b: Builder, name: TypeName, line: int) -> Record | None:
    """The struct that `name` is, with its fields."""
    found = definition(b, name)
    if found is None:
        return None
    is_unnamed = "@" in found.tree.name  # and stands where it is used, among the names that are known there
    return _with_fields(b, found, line, wall=not is_unnamed)


def _with_fields(b: Builder, found: Definition, line: int, *, wall: bool) -> Record:
    """Returns the struct of a definition, which sees no names from outside behind a wall."""
    tree = found.tree
    with inside(b, found, wall=wall):
        fields: list[tuple[str, CType]] = []
        for base in tree.bases:
            inherited = type_of(b, base, line)
            fields += inherited.fields if isinstance(inherited, Record) else ()
        for variable in tree.fields:
            if variable.storage == "static":
                continue
            if variable.type.reference:
                raise b.problem(f"the struct '{tree.name}' holds a reference, '{variable.name}'", variable.line)
            kind = _field_type(b, found, variable)
            is_unnamed = not variable.name and isinstance(kind, Record)
            if is_unnamed and isinstance(kind, Record) and _lies_alone(tree, kind):
                fields += kind.fields
            elif not isinstance(kind, Void):
                fields.append((f"{UNNAMED}{len(fields)}" if is_unnamed else variable.name, kind))
        aligned = expressions.constant(b, tree.aligned) if tree.aligned is not None else 0
    bindings = tuple(found.bindings.items())
    return Record(tree.name, tuple(fields), bindings, tree.union, int(aligned or 0), None, tree, found.arguments)


def _field_type(b: Builder, found: Definition, variable: Variable) -> CType:
    """Returns the type of a field; one without a name is defined where it stands, and sees the same names."""
    if "@" in variable.type.name and not variable.type.pointers:
        for inner in b.unit.within(found.tree.name):
            if unqualified(inner.name) == variable.type.name:
                type_: CType = _with_fields(b, replace(found, tree=inner), variable.line, wall=False)
                return array_of(b, type_, variable.extents, variable.line)
    return declared(b, variable.type, variable.extents, variable.line)


def _lies_alone(outer: StructTree, inner: Record) -> bool:
    """Returns whether the fields of a struct or union without a name follow each other in the one around it, too."""
    return not outer.union and (not inner.union or len(inner.fields) == 1)


@dataclass(frozen=True, slots=True)
class Definition:
    """The definition of a struct for template arguments, and what its own parameters are for them."""

    tree: StructTree
    bindings: Mapping[str, Argument]
    arguments: tuple[Argument, ...]


def definition_of(type_: Record) -> Definition | None:
    """Returns the definition of a struct of the source; None for others."""
    return None if type_.tree is None else Definition(type_.tree, dict(type_.bindings), type_.arguments)


def definition(b: Builder, name: TypeName) -> Definition | None:
    """Returns the definition of the struct `name` for its arguments; None without."""
    given = name.arguments
    candidates = b.unit.struct(name.name)
    primary = next((tree for tree in candidates if not tree.arguments), None)
    if primary is not None:
        given = _with_defaults(b, primary, given)
    if b.types.fit_alike(_known_name(b, name.name), given):  # PyTorch's half is CUDA's but for its name
        raise b.problem(f"several specialisations of '{name.name}' fit its arguments", 0)
    for tree, bound in b.types.definitions(_known_name(b, name.name), given):
        return Definition(tree, bound, given)
    if primary is None:
        return None
    return Definition(primary, {p.name: a for p, a in zip(primary.template, given, strict=False)}, given)


def _known_name(b: Builder, name: str) -> str:
    trees = b.unit.struct(name)
    return trees[0].name if trees else name


def _with_defaults(b: Builder, tree: StructTree, given: tuple[Argument, ...]) -> tuple[Argument, ...]:
    found = list(given)
    for parameter in tree.template[len(given) :]:
        if not parameter.default:
            break
        with b.scope(wall=True):
            for known, held in zip(tree.template, found, strict=False):
                b.bind(known.name, held)
            found.append(argument(b, b.types.argument(parameter.default)))
    return tuple(found)


@contextmanager
def inside(b: Builder, found: Definition, *, wall: bool) -> Iterator[None]:
    """The scope of a struct's definition: its members by name, within its namespace."""
    b.namespaces.append(tuple(found.tree.name.split("::")[:-1]))
    try:
        with b.scope(wall=wall):
            bind_members(b, found)
            yield
    finally:
        b.namespaces.pop()


def bind_members(b: Builder, found: Definition) -> None:
    """Binds what stands inside a struct by name: template arguments, aliases, static constants."""
    tree, own = found.tree, found.arguments
    for name, given in found.bindings.items():
        b.bind(name, given)
    b.bind(unqualified(tree.name), TypeName(tree.name, own))
    for inner in b.unit.within(tree.name) if own else ():
        b.bind(unqualified(inner.name), TypeName(inner.name, own))
    for alias in tree.aliases:
        b.bind(alias.name, alias if alias.template else alias.type)
    for variable in tree.fields:
        if variable.storage == "static" and variable.value is not None and not variable.extents:
            value = expressions.constant(b, variable.value)
            kind = spelled(type_of(b, variable.type, variable.line)) if value is not None else None
            if value is not None and kind is not None:
                b.bind(variable.name, Literal(value, kind.name))


def declared(b: Builder, name: TypeName, extents: Sequence[Expression | None], line: int) -> CType:
    """The type of what is declared with a type's name and the extents of an array."""
    return array_of(b, type_of(b, name, line), extents, line)


def array_of(b: Builder, type_: CType, extents: Sequence[Expression | None], line: int) -> CType:
    """Returns the type of an array of `type_`; itself without extents."""
    if not extents:
        return type_
    sizes = []
    for extent in extents:
        size = expressions.constant(b, extent) if extent is not None else None
        if not isinstance(size, int):
            raise b.problem("the size of an array is not known", line)
        sizes.append(size)
    return ArrayOf(type_, tuple(sizes))


def number_of(b: Builder, value: object, line: int) -> Number:
    """Returns a value that has to be a number or a pointer."""
    if not isinstance(value, Number):
        raise b.problem("a number is needed here", line)
    return value


def scalar_of(b: Builder, number: Number, line: int) -> Scalar:
    """The type of a value that has to be a number."""
    if isinstance(number.type, PointerTo):
        raise b.problem("a pointer where a number is needed", line)
    return number.type
