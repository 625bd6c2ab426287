"""C++ types as the lowering sees them: arithmetic types, pointers, records and arrays."""

from __future__ import annotations

from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """`kind` is bool, int, uint, float or float8; `bits` is the width in memory.

    A float8 is a byte wherever it is held: it becomes a number by an explicit conversion, and in no other way.
    `owner` tells PyTorch's 16-bit floats, which count as CUDA's here, where specialisations tell them apart.
    """

    name: str
    kind: str
    bits: int
    owner: str = field(default="", compare=False)

    @property
    def dtype(self) -> str:
        """The name of the type in torch and, where it is a number, in Triton."""
        if self.kind == "bool":
            return "int1"
        if self.is_coded:
            return "float8_e4m3fn" if self is E4M3 else "float8_e5m2"
        return "bfloat16" if self.name == "__nv_bfloat16" else f"{self.kind}{self.bits}"

    @property
    def triton(self) -> str:
        """Returns how Triton code spells it."""
        return "tl.uint8" if self.is_coded else f"tl.{self.dtype}"

    @property
    def is_float(self) -> bool:
        """Returns whether it is a floating-point type."""
        return self.kind == "float"

    @property
    def is_coded(self) -> bool:
        """Returns whether it is an 8-bit float."""
        return self.kind == "float8"

    @property
    def is_narrow(self) -> bool:
        """Returns whether it is half or bfloat16."""
        return self.is_float and self.bits == 16

    @property
    def low(self) -> int:
        """The least value of an integer type."""
        return -(1 << (self.bits - 1)) if self.kind == "int" else 0

    @property
    def high(self) -> int:
        """The greatest value of an integer type."""
        return {"bool": 1, "int": (1 << (self.bits - 1)) - 1}.get(self.kind, (1 << self.bits) - 1)

    def wrap(self, value: int) -> int:
        """Returns `value` as this integer type holds it."""
        if self.kind == "bool":
            return int(value != 0)
        value &= (1 << self.bits) - 1
        return value - (1 << self.bits) if self.kind == "int" and value > self.high else value


@dataclass(frozen=True, slots=True)
class Pointer:
    """`element*`."""

    element: Type


@dataclass(frozen=True, slots=True)
class Record:
    """A struct or a vector type: named fields in order, and the arguments of its template by name.

    `union`: the fields lie in one place. Only variables of one thread's own may be unions. `definition` counts the
    definitions of a struct of this name, specialisations among them; -1 for a type that the source does not define.
    `alignment`: its addresses are multiples of this many bytes, 0 where that is not known.
    """

    name: str
    fields: tuple[tuple[str, Type], ...]
    bindings: tuple[tuple[str, object], ...] = ()
    union: bool = False
    definition: int = -1
    alignment: int = 0

    def field(self, name: str) -> Type | None:
        """Returns the type of the field `name`."""
        return dict(self.fields).get(name)


@dataclass(frozen=True, slots=True)
class Array:
    """`element[extents...]`, extents known."""

    element: Type
    extents: tuple[int, ...]


Type = Arithmetic | Pointer | Record | Array

VOID = Arithmetic("void", "void", 0)
BOOL = Arithmetic("bool", "bool", 8)
INT8 = Arithmetic("signed char", "int", 8)
UINT8 = Arithmetic("unsigned char", "uint", 8)
INT16 = Arithmetic("short", "int", 16)
UINT16 = Arithmetic("unsigned short", "uint", 16)
INT = Arithmetic("int", "int", 32)
UINT = Arithmetic("unsigned int", "uint", 32)
LONG = Arithmetic("long", "int", 64)
ULONG = Arithmetic("unsigned long", "uint", 64)
HALF = Arithmetic("__half", "float", 16)
BFLOAT16 = Arithmetic("__nv_bfloat16", "float", 16)
E4M3 = Arithmetic("__nv_fp8_e4m3", "float8", 8)
E5M2 = Arithmetic("__nv_fp8_e5m2", "float8", 8)
FLOAT = Arithmetic("float", "float", 32)
DOUBLE = Arithmetic("double", "float", 64)

_SPELLINGS = {
    VOID: "void",
    BOOL: "bool",
    INT8: "char|signed char|int8_t|std::int8_t",
    UINT8: "unsigned char|uint8_t|std::uint8_t|uchar|__nv_fp8_storage_t",
    INT16: "short|short int|int16_t|std::int16_t",
    UINT16: "unsigned short|unsigned short int|uint16_t|std::uint16_t|ushort",
    INT: "int|signed|signed int|int32_t|std::int32_t",
    UINT: "unsigned int|unsigned|uint32_t|std::uint32_t|uint",
    LONG: "long|long int|long long|long long int|int64_t|std::int64_t|ptrdiff_t|std::ptrdiff_t|ssize_t|intptr_t",
    ULONG: "unsigned long|unsigned long int|unsigned long long|unsigned long long int|uint64_t|std::uint64_t|size_t"
    "|std::size_t|uintptr_t|ulong",
    HALF: "__half|half|__half_raw",
    BFLOAT16: "__nv_bfloat16|nv_bfloat16|hip_bfloat16",
    E4M3: "__nv_fp8_e4m3",
    E5M2: "__nv_fp8_e5m2",
    FLOAT: "float",
    DOUBLE: "double",
}
_TORCH = ("at", "c10", "torch")
_ELEMENTS = {"char": INT8, "uchar": UINT8, "short": INT16, "ushort": UINT16, "int": INT, "uint": UINT, "long": LONG,
             "ulong": ULONG, "longlong": LONG, "ulonglong": ULONG, "float": FLOAT, "double": DOUBLE}  # fmt: skip
_PACKS = {"e4m3": E4M3, "e5m2": E5M2}
_PAIRS = {"half2": HALF, "__half2": HALF, "__nv_bfloat162": BFLOAT16, "nv_bfloat162": BFLOAT16}
_COMPLEX = {  # as cuComplex.h and cufft.h have them
    "cuComplex": "float2", "cuFloatComplex": "float2", "cuDoubleComplex": "double2", "cufftComplex": "float2",
    "cufftDoubleComplex": "double2", "cufftReal": "float", "cufftDoubleReal": "double",
}  # fmt: skip


def _vector(name: str, element: Arithmetic, count: int) -> Record:
    return Record(name, tuple((field, element) for field in "xyzw"[:count]))


BUILT_IN: dict[str, Type] = {
    **{spelling: type_ for type_, names in _SPELLINGS.items() for spelling in names.split("|")},
    **{f"{space}::Half": replace(HALF, owner="c10") for space in _TORCH},
    **{f"{space}::BFloat16": replace(BFLOAT16, owner="c10") for space in _TORCH},
    **{f"{stem}{n}": _vector(f"{stem}{n}", element, n) for stem, element in _ELEMENTS.items() for n in (1, 2, 3, 4)},
    **{name: _vector("half2" if element is HALF else "__nv_bfloat162", element, 2) for name, element in _PAIRS.items()},
    **{f"__nv_fp8x{n}_{form}": _vector(f"__nv_fp8x{n}_{form}", one, n) for form, one in _PACKS.items() for n in (2, 4)},
    "dim3": _vector("dim3", UINT, 3),
}
BUILT_IN |= {name: BUILT_IN[vector] for name, vector in _COMPLEX.items()}


def promote(type_: Arithmetic) -> Arithmetic:
    """Returns the type after integral promotion: types narrower than `int` become `int`."""
    return INT if not type_.is_float and type_.bits < 32 else type_


def common(left: Arithmetic, right: Arithmetic) -> Arithmetic:
    """Returns the type after the usual arithmetic conversions; half and bfloat16 convert to any wider float."""
    if left.is_float or right.is_float:
        return max((t for t in (left, right) if t.is_float), key=lambda t: t.bits)
    left, right = promote(left), promote(right)
    if left.bits != right.bits:
        return max(left, right, key=lambda t: t.bits)
    return left if left.kind == "uint" else right


def components(type_: Type) -> tuple[Arithmetic, int] | None:
    """Returns the scalar type, and how many lie in memory for one `type_`; None where they differ in type."""
    if isinstance(type_, Arithmetic):
        return (type_, 1)
    if isinstance(type_, Pointer) or (isinstance(type_, Record) and type_.union):
        return None
    parts = [components(t) for _, t in type_.fields] if isinstance(type_, Record) else [components(type_.element)]
    if not parts or any(p is None or p[0] != parts[0][0] for p in parts if parts[0] is not None) or parts[0] is None:
        return None
    count = sum(p[1] for p in parts if p is not None)
    for extent in type_.extents if isinstance(type_, Array) else ():
        count *= extent
    return (parts[0][0], count)


def size(type_: Type) -> int | None:
    """Returns `sizeof`, None for a record of mixed types."""
    if isinstance(type_, Pointer):
        return 8
    parts = components(type_)
    return None if parts is None else parts[0].bits // 8 * parts[1]


def alignment(type_: Type) -> int | None:
    """Returns `alignof`, None for a union; for a struct the stated one, or the largest of its fields."""
    if isinstance(type_, Array):
        return alignment(type_.element)
    if isinstance(type_, Record) and type_ not in BUILT_IN.values():
        known = [alignment(part) for _, part in type_.fields]
        return None if type_.union or None in known else max(type_.alignment, *filter(None, known), 1)
    bytes_ = size(type_)
    if bytes_ is None:
        return None
    if isinstance(type_, Record) and len(type_.fields) % 2:  # those of one or three numbers are aligned as these
        return size(type_.fields[0][1])
    return min(bytes_, 16)
