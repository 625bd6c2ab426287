"""Splits structs that are passed by value into arguments: `struct.field`, and `struct.array[0]` of small arrays.

The caller of the entry puts them together again (`simt/driver.py`); a Triton launcher takes them one by one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

from porter.contract.analysis.declared_types import DeclaredTypes, instance
from porter.contract.analysis.elements import element_type
from porter.contract.model.dtype import DType
from porter.source.arithmetic_types import arithmetic
from porter.source.program import CType, Function, Param
from porter.source.qualified import unqualified
from porter.syntax.nodes import Variable

# A vector of four floats has these components; its type is CUDA's own, and no source defines it.
_VECTOR = re.compile(r"(?P<sign>u?)(?P<number>char|short|int|longlong|long|float|double)(?P<count>[1-4])")
COMPONENTS = "xyzw"
EXTENTS, EXTENT_TYPE = "dim3", "unsigned int"  # of a grid or a block
_MOST_FIELDS = 64
_WIDEST_BYTES = 16  # that the addresses of a vector are multiples of
_NOTHING: Mapping[str, str] = {}
_UNKNOWN = CType("", "")


@dataclass(frozen=True, slots=True)
class InStruct:
    """A number of a struct: how it is reached, `.cell.x`, its type in C++, and its first byte."""

    path: str
    type: str
    dtype: DType
    at: int


@dataclass(frozen=True, slots=True)
class Structs:
    """The numbers in each struct of an array, and how many bytes a struct has."""

    numbers: tuple[InStruct, ...]
    bytes: int


@dataclass(frozen=True, slots=True)
class _Placed:
    """The numbers in a value, its bytes, and what its addresses are multiples of."""

    numbers: tuple[InStruct, ...]
    bytes: int
    alignment: int


@dataclass(frozen=True)
class Records:
    """The structs of a program: `types` are those it declares, `enumerations` the values of its enumerations.

    `is_filled` tells whether host code sets fields of a class that it is handed by reference, `followed` which
    parameters of a function are pointers to structs that it only follows, `is_unread` whether no code that a function
    may call names a field, `p.size.rows`.
    """

    types: DeclaredTypes
    enumerations: Mapping[str, tuple[int, ...]]
    is_filled: Callable[[str], bool] = lambda _: True
    followed: Callable[[Function], Collection[str]] = lambda _: ()
    is_unread: Callable[[Function, str], bool] = lambda _function, _name: False

    def fields(self, function: Function, param: Param, arguments: tuple[str, ...] = ()) -> tuple[Param, ...]:
        """Returns the fields of a struct of numbers and pointers that `function` takes, by value, or by a reference
        or a pointer through which nothing is set.

        A small array gives its elements, and fields of a base are included; a field of any other type that no code
        reads is left as it is made. None for any other parameter, and for a struct that not everybody can make and
        fill: one without a constructor that takes nothing, or with members that are not public.
        """
        type_ = self.types.of(param, function, arguments)
        if type_.pointers:
            return self.behind(function, param) if param.name in self.followed(function) else ()
        if type_.reference and not type_.const and self.is_filled(type_.base):
            return ()
        found = self._taken_apart(param, type_, function, arguments)
        read = tuple(f for f in found if self._is_plain(f.type) or not self._is_left(function, f))
        return read if all(self._is_plain(field.type) for field in read) else ()

    def behind(self, function: Function, param: Param) -> tuple[Param, ...]:
        """Returns the fields of the struct of the program that a parameter of a host function points to; none of any
        other.
        """
        type_ = self.types.of(param, function)
        if function.space != "host" or type_.pointers != 1 or not self.types.defines(type_, function.scope):
            return ()
        found = self._taken_apart(param, replace(type_, pointers=0), function)
        return found if all(self._is_plain(field.type) for field in found) else ()

    def _taken_apart(
        self, param: Param, type_: CType, function: Function, arguments: tuple[str, ...] = ()
    ) -> tuple[Param, ...]:
        given = {t.name: a for t, a in zip(function.template, arguments, strict=False) if a}
        found = tuple(self._fields(param, type_, function.scope, given))
        return found if len(found) <= _MOST_FIELDS else ()

    def elements(self, function: Function, param: Param) -> tuple[DType, int] | None:
        """Returns the element type and count of the struct or vector that `param` points to, if all have one type.

        Nothing else may lie among them. None for any other pointer.
        """
        type_ = self.types.of(param, function)
        value = replace(type_, pointers=0)
        found = tuple(self._fields(param, value, function.scope)) if type_.pointers == 1 else ()
        types = {None if field.type.pointers else element_type(field.type.base) for field in found}
        only = types.pop() if len(types) == 1 else None
        if only is None or self._layout(value, function.scope) is None:
            return None
        return only, len(found)

    def structs(self, function: Function, param: Param) -> Structs | None:
        """Returns what lies in each struct of the program that `param` points to, if it is made of numbers alone.

        None for any other pointer, and where all numbers have one type and lie side by side.
        """
        type_ = self.types.of(param, function)
        if type_.pointers != 1 or not self.types.defines(type_, function.scope) or self.elements(function, param):
            return None
        found = self._placed(replace(type_, pointers=0), function.scope)
        return Structs(found.numbers, found.bytes) if found is not None and len(found.numbers) <= _MOST_FIELDS else None

    def _placed(self, type_: CType, scope: tuple[str, ...] = ()) -> _Placed | None:
        """Returns the numbers of a type's value by the rules of C; None where it holds anything else."""
        if vector := _VECTOR.fullmatch(type_.base):
            part = CType(number := _component(vector), number)
            return _behind(
                [(f".{c}", self._placed(part)) for c in COMPONENTS[: int(vector["count"])]], _aligned(vector)
            )
        base = "int" if unqualified(type_.base) in self.enumerations else type_.base
        if (dtype := element_type(base)) is not None and arithmetic(base) is not None:
            return _Placed((InStruct("", type_.base, dtype, 0),), dtype.bytes, dtype.bytes)
        members = self.types.members(type_, scope) or ()
        stated = self.types.alignment_bytes(type_, scope)
        parts = [part for member in members for part in self._member(member)]
        return _behind(parts, stated) if stated is not None else None

    def _member(self, member: Variable) -> Iterator[tuple[str, _Placed | None]]:
        """Yields a member of a struct, or each element of an array, with its name."""
        base = instance(member.type)
        extents = [self.types.extent(extent) or 0 for extent in member.extents]
        is_known = bool(base) and not member.type.reference and 0 < prod(extents) <= _MOST_FIELDS
        followed = self.types.followed(CType(base, base, member.type.pointers))
        placed = self._placed(followed) if is_known and not followed.pointers else None
        for index in product(*map(range, extents)) if placed is not None else ((),):
            yield f".{member.name}" + "".join(f"[{i}]" for i in index), placed

    def _layout(self, type_: CType, scope: tuple[str, ...] = ()) -> tuple[int, int] | None:
        """Returns the bytes and alignment of a type's values.

        None where these are not known, and where padding lies between its numbers.
        """
        if vector := _VECTOR.fullmatch(type_.base):
            return _component_bytes(vector) * int(vector["count"]), _aligned(vector)
        if (number := arithmetic(type_.base)) is not None:
            return number.bytes, number.bytes
        at, alignment = 0, self.types.alignment_bytes(type_, scope)
        for field in self.types.members(type_, scope) or ():
            base = instance(field.type)
            inner = self._layout(self.types.followed(CType(base, base)))
            if inner is None or alignment is None or at % inner[1]:
                return None
            at += inner[0] * prod(self.types.extent(extent) or 0 for extent in field.extents)
            alignment = max(alignment, inner[1])
        return (at, alignment) if at and alignment is not None and at % alignment == 0 else None

    def _fields(
        self, param: Param, type_: CType, scope: tuple[str, ...] = (), given: Mapping[str, str] = _NOTHING
    ) -> Iterator[Param]:
        """Yields the fields of a type's value, also those within fields; a field without a type for unknown ones."""
        if vector := _VECTOR.fullmatch(type_.base):
            part = _component(vector)
            for component in COMPONENTS[: int(vector["count"])]:
                yield replace(param, name=f"{param.name}.{component}", type=CType(part, part), default="")
            return
        if type_.base == EXTENTS:
            for component in COMPONENTS[:3]:
                extent = CType(EXTENT_TYPE, EXTENT_TYPE)
                yield replace(param, name=f"{param.name}.{component}", type=extent, default="")
            return
        for field in self.types.members(type_, scope, given) or ():
            yield from self._field(param, field)

    def _field(self, param: Param, field: Variable) -> Iterator[Param]:
        """Yields the field itself, those of a struct, or the elements of an array, `p.sizes[0]`."""
        stars = "*" * field.type.pointers
        base = instance(field.type)
        written = CType(f"{base}{stars}", base, field.type.pointers, field.type.const)
        named = replace(param, name=f"{param.name}.{field.name}", type=self.types.followed(written), default="")
        extents = [self.types.extent(extent) or _MOST_FIELDS + 1 for extent in field.extents]
        is_known = bool(base) and not field.type.reference and prod(extents) <= _MOST_FIELDS
        for index in product(*map(range, extents)) if is_known else ((),):
            one = replace(named, name=named.name + "".join(f"[{i}]" for i in index))
            inner = tuple(self._fields(one, one.type)) if is_known and not one.type.pointers else ()
            unknown = replace(one, type=replace(_UNKNOWN, reference=field.type.reference))
            yield from inner or (one if is_known else unknown,)

    def _is_left(self, function: Function, field: Param) -> bool:
        """Returns whether a field may stay as it is made: making it takes no argument, and nobody reads it."""
        return not (field.type.const or field.type.reference) and self.is_unread(function, field.name)

    def _is_plain(self, type_: CType) -> bool:
        """Returns whether a field is a number that can be set, a pointer, or the handle of a stream."""
        is_set = not type_.pointers and not type_.const
        return type_.pointers == 1 or (is_set and (self._is_number(type_.base) or is_stream(type_.base)))

    def enumerated(self, base: str) -> int:
        """Returns how many values an enumeration has, if they are those from 0 on; 0 for any other type."""
        values = self.enumerations.get(unqualified(base), ())
        return len(values) if values and sorted(values) == list(range(len(values))) else 0

    def _is_number(self, base: str) -> bool:
        return arithmetic(base) is not None or unqualified(base) in self.enumerations


def _component(vector: re.Match[str]) -> str:
    number = vector["number"].replace("longlong", "long long")
    return f"unsigned {number}" if vector["sign"] else number


def _component_bytes(vector: re.Match[str]) -> int:
    number = arithmetic(_component(vector))
    assert number is not None
    return number.bytes


def _aligned(vector: re.Match[str]) -> int:
    """Returns what addresses of a vector are multiples of: its bytes, if it has two or four components of few."""
    bytes_, count = _component_bytes(vector), int(vector["count"])
    return bytes_ * count if count in (2, 4) and bytes_ * count <= _WIDEST_BYTES else bytes_


def _behind(parts: Sequence[tuple[str, _Placed | None]], alignment: int) -> _Placed | None:
    """Returns a value that has `parts` one behind the other, each at the next address that suits it."""
    at, numbers = 0, list[InStruct]()
    for path, part in parts:
        if part is None:
            return None
        at = -(-at // part.alignment) * part.alignment
        numbers += [replace(n, path=f"{path}{n.path}", at=at + n.at) for n in part.numbers]
        at, alignment = at + part.bytes, max(alignment, part.alignment)
    return _Placed(tuple(numbers), -(-at // alignment) * alignment, alignment) if numbers else None


def is_stream(base: str) -> bool:
    """Returns whether values of a type are handles of streams; a null handle is the default stream."""
    return "Stream" in base or base.endswith("stream_t")


def grouped(names: Sequence[str], parameters: Sequence[Param]) -> tuple[tuple[str, ...], ...]:
    """Returns, for each of `parameters`, its parts among the arguments `names`: fields of a struct, `n`, or elements of
    a list, `[0]`; none if it is an argument itself.
    """
    owned = ([n.removeprefix(p.name) for n in names if n.startswith((f"{p.name}.", f"{p.name}["))] for p in parameters)
    return tuple(tuple(part.removeprefix(".") for part in parts) for parts in owned)


def owner(name: str) -> str:
    """Returns the parameter that an argument is a part of, or is: `p` for `p.n` and for `p[0]`."""
    return re.split(r"[.\[]", name, maxsplit=1)[0]


def symbol(name: str) -> str:
    """Returns the symbol for a field that is a size: without dots and brackets, `p_sizes_0` for `p.sizes[0]`."""
    return re.sub(r"\W+", "_", name.replace("]", ""))
