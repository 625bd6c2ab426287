"""What type a name of the source means where it stands."""

from __future__ import annotations

from porter.syntax.nodes import TypeName
from porter.syntax.unit import StructTree
from porter_triton.lower import expressions
from porter_triton.lower.context import Context
from porter_triton.lower.types import BUILT_IN, FLOAT, Arithmetic, Array, Pointer, Record, Type
from porter_triton.lower.values import Scalar
from porter_triton.refusal import Refusal

_SAME = frozenset({"std::remove_const", "std::remove_cv", "std::remove_reference", "std::decay", "std::add_const"})
_MOST_DEPTH = 32


def type_of(cx: Context, name: TypeName, line: int, depth: int = 0) -> Type:
    """The type `name` means, template parameters and aliases followed."""
    if depth > _MOST_DEPTH:
        raise Refusal(line, f"`{name.name}` is defined by itself")
    found = _named(cx, name, line, depth)
    for _ in range(name.pointers):
        found = Pointer(found)
    return found


def _named(cx: Context, name: TypeName, line: int, depth: int) -> Type:
    bound = cx.find(name.name)
    if isinstance(bound, TypeName):
        return type_of(cx, bound, line, depth + 1)
    if isinstance(bound, Arithmetic | Pointer | Record | Array):
        return bound
    if name.name in BUILT_IN:
        return BUILT_IN[name.name]
    stem = name.name.removesuffix("_t").removesuffix("::type")
    if stem in _SAME and len(name.arguments) == 1 and isinstance(name.arguments[0], TypeName):
        return type_of(cx, name.arguments[0], line, depth + 1)
    if stem in {"at::acc_type", "at::opmath_type"} and name.arguments and isinstance(name.arguments[0], TypeName):
        inner = type_of(cx, name.arguments[0], line, depth + 1)
        return FLOAT if isinstance(inner, Arithmetic) and inner.is_narrow else inner
    for alias in reversed(cx.unit.aliases):
        if _plain(alias.name) == _plain(name.name) and not alias.template:
            return type_of(cx, alias.type, line, depth + 1)
    structs = cx.unit.struct(name.name)
    if structs:
        return record(cx, structs[-1], name, line)
    raise Refusal(line, f"the type `{name.name}` is not known")


def _plain(name: str) -> str:
    return name.rsplit("::", maxsplit=1)[-1]


def record(cx: Context, tree: StructTree, name: TypeName, line: int) -> Record:
    """The record of a struct, its template parameters bound to the arguments of `name`."""
    with cx.scope(wall=True):
        bind_template(cx, tree, name, line)
        fields = tuple((f.name, _field(cx, f, tree.line)) for f in tree.fields if f.storage != "static")
    return Record(tree.name, fields)


def _field(cx: Context, variable: object, line: int) -> Type:
    from porter.syntax.nodes import Variable  # noqa: PLC0415

    assert isinstance(variable, Variable)
    type_ = type_of(cx, variable.type, line)
    if variable.extents:
        return Array(type_, extents(cx, variable.extents, line))
    return type_


def bind_template(cx: Context, tree: StructTree, name: TypeName, line: int) -> None:
    """Bind the template parameters of a struct in the innermost scope."""
    for i, parameter in enumerate(tree.template):
        if i < len(name.arguments):
            bind_argument(cx, parameter.name, name.arguments[i], line)


def bind_argument(cx: Context, name: str, argument: object, line: int) -> None:
    """Bind one template parameter to a type or a constant."""
    if isinstance(argument, TypeName):
        cx.bind(name, argument)
        return
    value = expressions.constant(cx, argument, line)  # type: ignore[arg-type]
    cx.bind(name, value)


def extents(cx: Context, given: tuple[object, ...], line: int) -> tuple[int, ...]:
    """The extents of an array, which must be known."""
    sizes = []
    for extent in given:
        value = expressions.constant(cx, extent, line) if extent is not None else None  # type: ignore[arg-type]
        if value is None or not isinstance(value, Scalar) or not isinstance(value.constant, int):
            raise Refusal(line, "the size of an array is not known")
        sizes.append(value.constant)
    return tuple(sizes)
