"""The meaning of a name: a variable, a constant of the program, a coordinate of the launch, a constant of CUDA's."""

from __future__ import annotations

from itertools import chain

from porter.ir.simt.builder import access, declarations, expressions, resolve
from porter.ir.simt.builder.c_types import BUILT_IN, FUNCTION, INT, LONG, UINT, ULONG, Record, element_of
from porter.ir.simt.builder.errors import NotExpressibleError, told_by_build
from porter.ir.simt.builder.state import Builder
from porter.ir.simt.builder.values import Fields, FunctionName, Held, Memory, Number, Place
from porter.ir.simt.ops import Value
from porter.ir.simt.types import Pointer, Scalar, Space
from porter.source.named_constants import named_constant
from porter.source.qualified import unqualified
from porter.syntax.nodes import (
    Alias,
    Assign,
    Call,
    Expression,
    Literal,
    Member,
    Name,
    Subscript,
    TypeName,
    Unary,
    Variable,
)
from porter.syntax.type_traits import truth_of
from porter.syntax.unit import StructTree
from porter.syntax.walk import walk

_TYPES = {
    "int": INT,
    "unsigned int": UINT,
    "long": LONG,
    "unsigned long": ULONG,
    "float": Scalar.F32,
    "double": Scalar.F64,
}
_COORDINATES = {
    "threadIdx": "thread_index", "blockIdx": "block_index", "blockDim": "block_extent", "gridDim": "grid_extent",
}  # fmt: skip


def place(b: Builder, node: Name) -> Place:
    """The place that a name stands for. Raises `NotExpressibleError` where nobody has declared it."""
    bound = b.find(node.name)
    if isinstance(bound, Place):
        return bound
    if isinstance(bound, FunctionName):
        return Held(bound)
    if isinstance(bound, TypeName | Alias):
        raise b.problem(f"the type '{node.name}' where a value is needed", node.line)
    if bound is not None:
        return Held(expressions.value(b, bound))
    plain = node.name.removeprefix("::").removeprefix("std::")
    if (known := named_constant(plain)) is not None:
        value, type_ = known[0], _TYPES[known[1]]
        return Held(Number(b.emitter.constant(value, type_), type_))
    if plain in _COORDINATES:
        parts = tuple((axis, _coordinate(b, plain, axis)) for axis in "xyz")
        return Held(Fields(BUILT_IN["dim3" if plain.endswith("Dim") else "uint3"], parts))
    owner = b.owners[-1]
    found = static_member(b, owner, node.name) if owner is not None else None
    found = found or _inherited(b, node)
    found = found or _global(b, node) or _static(b, node) or trait(b, node.name, node.template)
    if found is not None:
        return found
    if b.unit.named(node.name):
        return Held(FunctionName(node.name, node.template))
    raise b.problem(f"the name '{node.name}' is not known{told_by_build(node.name)}", node.line)


def coordinate(b: Builder, node: Member) -> Number | None:
    """`threadIdx.x` and its like; None for another member."""
    owner = node.owner
    is_own = isinstance(owner, Name) and owner.name in _COORDINATES and b.find(owner.name) is None
    if not is_own or not isinstance(owner, Name) or node.name not in "xyz":
        return None
    return _coordinate(b, owner.name, node.name)


def _coordinate(b: Builder, name: str, axis: str) -> Number:
    return Number(b.coordinate(_COORDINATES[name], "xyz".index(axis), f"{name}_{axis}"), UINT)


def _global(b: Builder, node: Name) -> Place | None:
    """A variable outside of functions: a constant, or memory of the device."""
    found = b.unit.variables_named(node.name, b.namespaces[-1])
    if not found:
        return None
    variable = found[-1]
    if any(not _is_alike(b, variable, other) for other in found):
        raise b.problem(f"several variables are called '{node.name}'", node.line)
    if _is_function(b, variable):
        with b.scope(wall=True):
            return _initial(b, variable)
    if "shared" in variable.storage:
        return declarations.shared(b, variable, ())
    if variable.storage in ("constant", "device") and not _is_fixed(b, variable):
        return _in_memory(b, variable)
    if variable.value is None or not (variable.constexpr or variable.type.const or variable.storage == "constant"):
        raise b.problem(f"the variable '{node.name}' outside of functions", node.line)
    with b.scope(wall=True):
        return _initial(b, variable)


def _is_function(b: Builder, variable: Variable) -> bool:
    """Returns whether a variable holds functions, those that it is declared with."""
    if variable.value is None:
        return False
    try:
        is_function = resolve.type_of(b, variable.type, variable.line) is FUNCTION
    except NotExpressibleError:
        return False
    return is_function and not any(_is_set(n, variable.name) for f in b.unit.functions for n in walk(f.body))


def _is_set(node: object, name: str) -> bool:
    """Returns whether code assigns to a variable of the program, or copies to it."""
    if isinstance(node, Assign):
        target = node.target.owner if isinstance(node.target, Subscript) else node.target
        return isinstance(target, Name) and target.name == name
    copies = isinstance(node, Call) and isinstance(node.callee, Name) and "ToSymbol" in node.callee.name
    return copies and any(isinstance(n, Name) and n.name == name for n in walk(node))


def _is_alike(b: Builder, one: Variable, other: Variable) -> bool:
    """Returns whether two variables of one name are the same: one declaration, or constants of one value."""
    if (one.type, str(one.value), one.storage) == (other.type, str(other.value), other.storage):
        return True
    if one.storage != other.storage or one.extents or other.extents or not (one.constexpr and other.constexpr):
        return False
    with b.scope(wall=True):
        known = expressions.constant(b, one.value)
        return known is not None and known == expressions.constant(b, other.value)


def _is_fixed(b: Builder, variable: Variable) -> bool:
    """Returns whether a variable of the device is what it is declared with: nobody may write to it."""
    if variable.value is None:
        return False
    if variable.constexpr or (variable.type.const and not variable.type.pointers):
        return True
    if variable.storage != "constant" or variable.extents or variable.type.pointers:
        return False
    hosts = (n for f in b.unit.functions if f.head.space == "host" for n in walk(f.body))
    addressed = (
        n.operand for f in b.unit.functions for n in walk(f.body) if isinstance(n, Unary) and n.operator == "&"
    )
    names = (unqualified(n.name) for n in chain(hosts, addressed) if isinstance(n, Name))
    return variable.name not in names


def _in_memory(b: Builder, variable: Variable) -> Memory:
    """The memory of a variable of the device, whose address is a parameter of the kernel."""
    if variable.name not in b.variables:
        type_ = resolve.declared(b, variable.type, variable.extents, variable.line)
        address = Value(Pointer(element_of(type_), Space.GLOBAL), variable.name)
        b.variables[variable.name] = Memory(address, b.zero(), type_)
    return b.variables[variable.name]


def _initial(b: Builder, variable: Variable) -> Place:
    if variable.extents:
        return declarations.constant_array(b, variable)
    type_ = resolve.type_of(b, variable.type, variable.line)
    assert variable.value is not None
    return Held(declarations.initial(b, type_, variable.value, variable.line))


def _static(b: Builder, node: Name) -> Place | None:
    """`Struct<T>::constant`."""
    owner, _, member = node.name.rpartition("::")
    if not owner:
        return None
    bound = b.find(owner)
    name = bound if isinstance(bound, TypeName) and not node.template else TypeName(owner, node.template)
    resolved = b.types.resolved(name, b.namespaces[-1], {}) or name
    found = resolve.definition(b, resolve.with_constants(b, resolved))
    return None if found is None else _of_definition(b, found, member)


def trait(b: Builder, name: str, given: tuple[TypeName | Expression, ...]) -> Held | None:
    """Returns what `std::is_same<T, float>::value` and its like are; None for other names."""
    told = truth_of(Name(name, given), lambda part: resolve.argument(b, part)) if given else None
    return None if told is None else Held(Number(b.emitter.constant(bool(told), Scalar.BOOL), Scalar.BOOL))


def trait_object(b: Builder, name: str, given: tuple[TypeName | Expression, ...]) -> Held | None:
    """Returns what `std::is_same<T, float>{}` is: of a type that says it, where the source names such types."""
    told = trait(b, name, given)
    if told is None or not b.unit.struct("std::integral_constant"):
        return told
    assert isinstance(told.value, Number)
    value = Literal(bool(b.emitter.known(told.value.value)), "bool")
    type_ = resolve.type_of(b, TypeName("std::integral_constant", (TypeName("bool"), value)))
    return Held(declarations.zero(b, type_))


def _inherited(b: Builder, node: Name) -> Place | None:
    """`Base<T>::field` within a method: the field that the object has of a base, or of its own."""
    base, _, member = node.name.rpartition("::")
    this = b.find("this") if base else None
    if not isinstance(this, Place):
        return None
    type_ = access.place_type(this)
    if not isinstance(type_, Record) or type_.tree is None or type_.field(member) is None:
        return None
    return access.field(b, this, member) if unqualified(base) in _lineage(b, type_.tree) else None


def _lineage(b: Builder, tree: StructTree) -> set[str]:
    """Returns the names of a struct and of all that it is derived from."""
    bases = (inner for base in tree.bases for inner in b.unit.struct(base.name) if inner is not tree)
    return {unqualified(tree.name)}.union(*(_lineage(b, inner) for inner in bases))


def static_member(b: Builder, type_: Record, member: str) -> Place | None:
    """`object.constant`, a static member of its struct; None where it has none of that name."""
    found = resolve.definition_of(type_)
    return None if found is None else _of_definition(b, found, member)


def _of_definition(b: Builder, found: resolve.Definition, member: str) -> Place | None:
    tree = found.tree
    with resolve.inside(b, found, wall=True):
        inner = b.find(member)
        if isinstance(inner, Expression):
            return Held(expressions.value(b, inner))
        for variable in tree.fields:
            if variable.name == member and variable.storage == "static" and variable.value is not None:
                return _initial(b, variable)
        for base in tree.bases:
            if (inherited := _static(b, Name(f"{unqualified(base.name)}::{member}", base.arguments))) is not None:
                return inherited
    return None
