"""Resolves the types that a program's functions are declared with: contracts are drafted from these alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from porter.source.arithmetic_types import SPELLINGS, arithmetic, one_word
from porter.source.parse import read_alone
from porter.source.program import CType, Function, Param, Program
from porter.source_text import Source
from porter.syntax.nodes import Block, Expression, Literal, Name, TypeName, Variable
from porter.syntax.read import read_unit
from porter.syntax.type_resolution import Types
from porter.syntax.unit import Unit

_WORD = re.compile(r"[A-Za-z_]\w*")
# Everything a text gives a meaning to; more than types is no harm, since who is found here is looked up.
_DECLARED = re.compile(
    r"\btypedef\b[^;{}]*;|\busing\s+\w+\s*=|#\s*define\s+\w+|\}[\s*]*\w+(?:[\s*]*,[\s*]*\w+)*\s*;"
    r"|\b(?:struct|class|union|enum)\s+(?:\w+\s*\([^()]*\)\s*)?\w+"
)
_ALIAS = re.compile(r"\b(?:typedef|using\s+\w+\s*=)")
_NOTHING: Mapping[str, str] = {}
_MOST_BASES = 8
Members = tuple[Variable, ...]
_Key = tuple[CType, tuple[str, ...], tuple[tuple[str, str], ...]]


@dataclass
class DeclaredTypes:
    """The types of `program`, whose local `headers` may name them."""

    program: Program
    headers: tuple[Source, ...]
    _followed: dict[_Key, CType] = field(default_factory=dict)

    def of(self, param: Param, function: Function, arguments: tuple[str, ...] = ()) -> CType:
        """Returns the type of a parameter of `function`, instantiated with `arguments`.

        A type that depends on a template's parameter without an argument stays as it is written.
        """
        given = {t.name: a for t, a in zip(function.template, arguments, strict=False) if a}
        open_ = {t.name for t in function.template} - given.keys()
        if open_.intersection(_WORD.findall(param.type.base)):
            return param.type
        return self.followed(param.type, function.scope, given)

    def followed(self, written: CType, scope: tuple[str, ...] = (), given: Mapping[str, str] = _NOTHING) -> CType:
        """Returns `written` with base and pointers of the type it names in `scope`; unchanged where that is unknown.

        `given` are the arguments of the template around it.
        """
        key = (written, scope, tuple(given.items()))
        if key not in self._followed:
            self._followed[key] = self._resolved(written, scope, given)
        return self._followed[key]

    def _resolved(self, written: CType, scope: tuple[str, ...], given: Mapping[str, str]) -> CType:
        words = {*_WORD.findall(written.base), *(word for text in given.values() for word in _WORD.findall(text))}
        is_declared = bool(words & self._declared)
        if not is_declared and (number := arithmetic(written.base)) is not None:
            return replace(written, base=number.name)
        types = self._types if is_declared else _OF_LIBRARIES
        kind = types.read(written.base)
        bound = {name: types.argument(text) for name, text in given.items()}
        found = types.resolved(kind, scope, bound) if kind is not None else None
        if found is None:
            return written
        base = _base(found, written)
        const = written.const or found.const
        return replace(written, base=base, pointers=written.pointers + found.pointers, const=const)

    def members(self, kind: CType, scope: tuple[str, ...] = (), given: Mapping[str, str] = _NOTHING) -> Members | None:
        """Returns the members of a value of the program's type `kind`, inherited ones first.

        The class may be an instance of a template. None where a member cannot be set after making a value without
        arguments, or the class is not known.
        """
        found = self._class(kind, scope, given)
        inside = self._members(found) if found is not None and not found.pointers else None
        return tuple(inside) if inside and len({member.name for member in inside}) == len(inside) else None

    def alignment_bytes(self, kind: CType, scope: tuple[str, ...]) -> int | None:
        """Returns the alignment that the class `kind` states.

        It is 1 where the class states none, None where the number is not known.
        """
        found = self._class(kind, scope, _NOTHING)
        definition = next(self._types.definitions(found.name, found.arguments), None) if found is not None else None
        stated = definition[0].aligned if definition is not None else None
        return 1 if stated is None else self.extent(stated)

    def methods(self, kind: CType, scope: tuple[str, ...], given: Mapping[str, str]) -> Iterator[Block]:
        """Yields the bodies of the methods that a class of the program has, and of those it inherits."""
        pending = [found] if (found := self._class(kind, scope, given)) is not None else []
        for name in pending:
            for struct, bound in self._types.definitions(name.name, name.arguments):
                yield from (method.body for method in struct.methods)
                within = tuple(struct.name.split("::"))[:-1]
                bases = (self._types.resolved(base, within, bound) for base in struct.bases)
                pending += [base for base in bases if base is not None and base not in pending]

    def bodies(self, function: Function) -> Iterator[Block]:
        """Yields the body of `function`, and of its overloads."""
        found = (f for f in self._types.unit.functions if f.head.qualified == function.qualified)
        yield from (f.body for f in found)

    def defines(self, kind: CType, scope: tuple[str, ...]) -> bool:
        """Returns whether `kind` is a class that the program defines, which may be called as one of a library's is."""
        found = self._class(kind, scope, _NOTHING)
        return found is not None and next(self._types.definitions(found.name, found.arguments), None) is not None

    def _class(self, kind: CType, scope: tuple[str, ...], given: Mapping[str, str]) -> TypeName | None:
        """Returns the class that `kind` is within `scope`; None where it is not known, or not the program's."""
        types = self._types
        read = types.read(kind.base) if any(word in self._declared for word in _WORD.findall(kind.base)) else None
        return types.resolved(read, scope, {n: types.argument(text) for n, text in given.items()}) if read else None

    def _members(self, kind: TypeName, depth: int = 0) -> list[Variable] | None:
        """Returns the members of a class, their types seen from outside of it, after those of its bases."""
        definition = next(self._types.definitions(kind.name, kind.arguments), None)
        if definition is None or depth > _MOST_BASES:
            return None
        struct, bound = definition
        if struct.closed or struct.union:
            return None
        scope, found = tuple(struct.name.split("::")), list[Variable]()
        for base in struct.bases:
            meant = self._types.resolved(base, scope[:-1], bound)
            inherited = None if meant is None else self._members(meant, depth + 1)
            if inherited is None:
                return None
            found += inherited
        own = (field for field in struct.fields if field.storage != "static")
        return found + [replace(f, type=self._types.resolved(f.type, scope, bound) or f.type) for f in own]

    def extent(self, node: Expression | None) -> int | None:
        """Returns the extent of an array that is a number, or a constant of the program; None for any other."""
        return self._types.number(node)

    @cached_property
    def words(self) -> Mapping[str, str]:
        """The aliases of arithmetic types outside of classes, each with a one-word name of that type."""
        if not any(_ALIAS.search(text) for text in self._texts):
            return {}
        names = dict.fromkeys(a.name for a in self._types.unit.aliases if not a.template and a.name not in SPELLINGS)
        types = {name: self.followed(CType(name, name)) for name in names}
        numbers = {n: arithmetic(t.base) for n, t in types.items() if not t.pointers and t.base != n}
        return {name: one_word(number) for name, number in numbers.items() if number is not None}

    @property
    def _texts(self) -> tuple[str, ...]:
        return (self.program.source.text, *(header.text for header in self.headers))

    @cached_property
    def _declared(self) -> frozenset[str]:
        matches = (match for text in self._texts for match in _DECLARED.finditer(text))
        return frozenset(word for match in matches for word in _WORD.findall(match[0]))

    @cached_property
    def _types(self) -> Types:
        unit = read_unit(self.program, self.headers, self.program.defines)
        programs = (*(read_alone(header).program for header in self.headers), self.program)
        macros = (macro for program in programs for macro in program.macros if macro.params is None)
        return Types(unit, tuple(f"{macro.name}={macro.body}" for macro in macros))


def _base(found: TypeName, written: CType) -> str:
    """Returns the base of the type that was `found`.

    An alias of an instance of a template (`typedef Accessor<float, 4> A`) is that instance, while a type that is
    written with arguments of its own stays as it is.
    """
    return written.base if found.arguments and "<" in written.base else instance(found) or written.base


def instance(found: TypeName) -> str:
    """Returns the text of a type without its pointers, with the arguments of a template; empty where there is none."""
    if not found.arguments:
        return found.name
    arguments = [_argument(argument) for argument in found.arguments]
    return f"{found.name}<{', '.join(arguments)}>" if all(arguments) else ""


def _argument(argument: TypeName | Expression) -> str:
    """Returns the text of a template's argument; empty where it is neither a plain type nor a number."""
    if isinstance(argument, Literal) and isinstance(argument.value, int):
        return str(argument.value)
    if isinstance(argument, TypeName) and not argument.arguments:
        return "const " * argument.const + argument.name + "*" * argument.pointers
    return argument.name if isinstance(argument, Name) else ""


_OF_LIBRARIES = Types(Unit((), (), (), ()))
