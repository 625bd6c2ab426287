"""Types of C++ as far as kernels need them: their size and layout, and what stands for them in the IR."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from math import prod

from porter.ir.simt.types import Element, Scalar, Vector
from porter.source.arithmetic_types import ArithmeticType, Kind, arithmetic
from porter.source.qualified import unqualified
from porter.syntax.nodes import Expression, TypeName
from porter.syntax.unit import FunctionTree, StructTree


@dataclass(frozen=True, slots=True)
class Void:
    """No value."""


@dataclass(frozen=True, slots=True)
class PointerTo:
    """A pointer; its address space is that of the value it holds."""

    element: CType


@dataclass(frozen=True, slots=True)
class ArrayOf:
    """An array, of several dimensions if it has several extents."""

    element: CType
    extents: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Record:
    """A struct or union with its fields in order.

    `arguments` are its template arguments, `bindings` what the parameters of its definition are for them, which may be
    that of a specialisation; `vector` is what one access moves of CUDA's vector types.
    """

    name: str
    fields: tuple[tuple[str, CType], ...]
    bindings: tuple[tuple[str, TypeName | Expression], ...] = ()
    union: bool = False
    alignment: int = 0
    vector: Vector | None = None
    tree: StructTree | None = None
    arguments: tuple[TypeName | Expression, ...] = field(default=(), compare=False)

    def field(self, name: str) -> CType | None:
        """Returns the type of a field; None where it has none of that name."""
        found: CType | None = self if (way := self.way_to(name)) else None
        for step in way:
            found = dict(found.fields)[step] if isinstance(found, Record) else None
        return found

    def way_to(self, name: str) -> tuple[str, ...]:
        """Returns the fields that lead to the field `name`: structs and unions without names around it, then itself."""
        if name in dict(self.fields):
            return (name,)
        inner = ((step, kind.way_to(name)) for step, kind in self._without_names)
        return next(((step, *way) for step, way in inner if way), ())

    @property
    def members(self) -> tuple[str, ...]:
        """Returns the names that a method sees: of fields, and of those of structs and unions without names."""
        return (*(name for name, _ in self.fields), *(n for _, kind in self._without_names for n in kind.members))

    @property
    def _without_names(self) -> tuple[tuple[str, Record], ...]:
        return tuple((n, kind) for n, kind in self.fields if n.startswith(UNNAMED) and isinstance(kind, Record))

    @property
    def conversions(self) -> tuple[FunctionTree, ...]:
        """Returns the operators that make values of other types of one of this."""
        methods = self.tree.methods if self.tree is not None else ()
        return tuple(m for m in methods if m.head.name.startswith("operator ") and not m.parameters)

    def constructors(self, count: int) -> tuple[FunctionTree, ...]:
        """Returns the constructors that take so many arguments."""
        methods = self.tree.methods if self.tree is not None else ()
        own = (m for m in methods if m.head.name == unqualified(self.name))
        return tuple(m for m in own if sum(p.default is None for p in m.parameters) <= count <= len(m.parameters))


@dataclass(frozen=True, slots=True)
class FunctionPointer:
    """A pointer to a function, or an object that holds one; which functions it may name is known."""


UNNAMED = "@"  # begins the name that a field has here which has none in the source
CType = Scalar | Void | PointerTo | ArrayOf | Record | FunctionPointer
VOID = Void()
FUNCTION = FunctionPointer()
INT, UINT, LONG, ULONG = Scalar.I32, Scalar.U32, Scalar.I64, Scalar.U64
_BYTES: dict[tuple[Kind, int], Scalar] = {
    (Kind.BOOL, 1): Scalar.BOOL, (Kind.SIGNED, 1): Scalar.I8, (Kind.SIGNED, 2): Scalar.I16,
    (Kind.SIGNED, 4): Scalar.I32, (Kind.SIGNED, 8): Scalar.I64, (Kind.UNSIGNED, 1): Scalar.U8,
    (Kind.UNSIGNED, 2): Scalar.U16, (Kind.UNSIGNED, 4): Scalar.U32, (Kind.UNSIGNED, 8): Scalar.U64,
    (Kind.FLOAT, 4): Scalar.F32, (Kind.FLOAT, 8): Scalar.F64,
}  # fmt: skip
_NAMED = {"__half": Scalar.F16, "__nv_bfloat16": Scalar.BF16}
_SPELLED = {
    Scalar.BOOL: "bool", Scalar.I8: "signed char", Scalar.I16: "short", Scalar.I32: "int", Scalar.I64: "long",
    Scalar.U8: "unsigned char", Scalar.U16: "unsigned short", Scalar.U32: "unsigned int", Scalar.U64: "unsigned long",
    Scalar.F16: "__half", Scalar.BF16: "__nv_bfloat16", Scalar.F32: "float", Scalar.F64: "double",
}  # fmt: skip
_BASES = {
    "char": Scalar.I8, "uchar": Scalar.U8, "short": Scalar.I16, "ushort": Scalar.U16, "int": Scalar.I32,
    "uint": Scalar.U32, "long": Scalar.I64, "ulong": Scalar.U64, "longlong": Scalar.I64, "ulonglong": Scalar.U64,
    "float": Scalar.F32, "double": Scalar.F64,
}  # fmt: skip


def number_type(type_: ArithmeticType) -> Scalar | None:
    """Returns what an arithmetic type is in the IR; None for one that it does not have."""
    return _NAMED.get(type_.name) or _BYTES.get((type_.kind, type_.bytes))


def _vector(name: str, element: Scalar, count: int) -> Record:
    fields = tuple((part, element) for part in "xyzw"[:count])
    moved = Vector(element, count) if count in (2, 4) and element.bytes * count <= 16 else None
    return Record(name, fields, vector=moved, alignment=element.bytes * count if moved else 0)


BUILT_IN: dict[str, Record] = {
    **{f"{base}{n}": _vector(f"{base}{n}", scalar, n) for base, scalar in _BASES.items() for n in (1, 2, 3, 4)},
    "__half2": _vector("__half2", Scalar.F16, 2),
    "__nv_bfloat162": _vector("__nv_bfloat162", Scalar.BF16, 2),
    "dim3": _vector("dim3", Scalar.U32, 3),
}


BUILT_IN |= dict.fromkeys(("cuComplex", "cuFloatComplex", "cufftComplex"), BUILT_IN["float2"])
BUILT_IN |= dict.fromkeys(("cuDoubleComplex", "cufftDoubleComplex"), BUILT_IN["double2"])


def are_extents(one: Record, other: Record) -> bool:
    """Returns whether one is `dim3` and the other `uint3`, which CUDA makes of each other."""
    return {one.name, other.name} == {"dim3", "uint3"}


def size_of(type_: CType) -> int:
    """The size in bytes, as the device's compiler lays types out."""
    match type_:
        case Scalar():
            return type_.bytes
        case PointerTo() | FunctionPointer():
            return 8
        case ArrayOf(element, extents):
            return size_of(element) * prod(extents)
        case Record():
            ends = [offset + size_of(kind) for (_, kind), offset in zip(type_.fields, offsets(type_), strict=True)]
            return -(-max(ends, default=1) // alignment_of(type_)) * alignment_of(type_)
    return 1


def alignment_of(type_: CType) -> int:
    """Returns the number of bytes that addresses of a value are multiples of."""
    match type_:
        case Scalar():
            return type_.bytes
        case PointerTo() | FunctionPointer():
            return 8
        case ArrayOf(element, _):
            return alignment_of(element)
        case Record():
            return max(type_.alignment, 1, *(alignment_of(kind) for _, kind in type_.fields))
    return 1


def offsets(record: Record) -> list[int]:
    """Returns where each field begins, in bytes."""
    found, at = [], 0
    for _, kind in record.fields:
        at = 0 if record.union else -(-at // alignment_of(kind)) * alignment_of(kind)
        found.append(at)
        at += size_of(kind)
    return found


def element_of(type_: CType) -> Element:
    """Returns what memory of `type_` holds in the IR: numbers, vectors, addresses as u64, else bytes.

    Memory of structs whose numbers lie side by side and have one size is of such numbers: unsigned where they differ.
    """
    match type_:
        case Scalar():
            return type_
        case PointerTo():
            return Scalar.U64
        case ArrayOf(element, _):
            return element_of(element)
        case Record(vector=Vector() as vector):
            return vector
        case Record():
            return _alike(type_) or Scalar.U8
    return Scalar.U8


UNSIGNED = {1: Scalar.U8, 2: Scalar.U16, 4: Scalar.U32, 8: Scalar.U64}


def _alike(record: Record) -> Scalar | None:
    """Returns the number that a struct consists of, and of nothing else; None for structs of several sizes."""
    kinds = [kind if isinstance(kind, Scalar) else Scalar.U64 for _, kind in leaves(record)]
    sizes = {kind.bytes for kind in kinds}
    if len(sizes) != 1 or size_of(record) != len(kinds) * kinds[0].bytes:
        return None
    return kinds[0] if len(set(kinds)) == 1 and kinds[0] is not Scalar.BOOL else UNSIGNED[kinds[0].bytes]


def holds_union(type_: CType | None) -> bool:
    """Returns whether a value has fields that lie in one place."""
    match type_:
        case Record():
            return type_.union or any(holds_union(kind) for _, kind in type_.fields)
        case ArrayOf(element, _):
            return holds_union(element)
    return False


def moved_at_once(type_: CType) -> Vector | None:
    """Returns the vector as which one access moves a whole struct, which has to be aligned; None for other types."""
    if not isinstance(type_, Record) or type_.vector is not None or not type_.fields:
        return None
    element = _alike(type_)
    size = size_of(type_)
    if element is None or any(kind is not element for _, kind in leaves(type_)) or size > _MOST_BYTES:
        return None
    count = size // element.bytes
    return Vector(element, count) if count in (2, 4, 8) and alignment_of(type_) >= size else None


_MOST_BYTES = 16  # that one access moves


def units_of(type_: CType) -> int:
    """Returns how many elements of its memory a value takes."""
    return size_of(type_) // element_of(type_).bytes


def lives_in_memory(type_: CType) -> bool:
    """Returns whether a variable of this type cannot be taken apart into numbers."""
    match type_:
        case ArrayOf():
            return True
        case Record(fields=fields, union=union):
            return union or any(lives_in_memory(kind) for _, kind in fields)
    return False


def leaves(type_: CType, offset: int = 0) -> Iterator[tuple[int, CType]]:
    """Yields the numbers and pointers that a value is made of, each with its place in bytes.

    What several fields of a union call the same number is yielded once.
    """
    match type_:
        case Record(union=True):
            yield from dict.fromkeys(leaf for _, kind in type_.fields for leaf in leaves(kind, offset))
        case Record():
            for (_, kind), at in zip(type_.fields, offsets(type_), strict=True):
                yield from leaves(kind, offset + at)
        case ArrayOf(element, extents):
            for number in range(prod(extents)):
                yield from leaves(element, offset + number * size_of(element))
        case _:
            yield offset, type_


def paths(type_: CType, offset: int = 0) -> Iterator[tuple[int, str]]:
    """Yields the place in bytes of each number of a value with how C++ names it: `.field`, `[2]`; empty for itself."""
    match type_:
        case Record():
            for (name, kind), at in zip(type_.fields, offsets(type_), strict=True):
                own = "" if name.startswith(UNNAMED) else f".{name}"
                yield from ((place, f"{own}{path}") for place, path in paths(kind, offset + at))
        case ArrayOf(element, extents):
            for number, indices in enumerate(product(*map(range, extents))):
                index = "".join(f"[{i}]" for i in indices)
                inner = paths(element, offset + number * size_of(element))
                yield from ((place, f"{index}{path}") for place, path in inner)
        case _:
            yield offset, ""


def spelled(type_: CType) -> TypeName | None:
    """Returns the name of a type as a template argument has it; None for what has none."""
    match type_:
        case Scalar():
            return TypeName(_SPELLED[type_])
        case PointerTo(element):
            inner = spelled(element)
            return None if inner is None else TypeName(inner.name, inner.arguments, inner.pointers + 1)
        case Record():
            return TypeName(type_.name, type_.arguments)
        case Void():
            return TypeName("void")
    return None


def named_number(name: str) -> Scalar | None:
    """Returns the number's type called `name`; None for other names."""
    found = arithmetic("double" if name == "long double" else name)  # which devices do not tell apart
    return None if found is None else number_type(found)
