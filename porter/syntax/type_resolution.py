"""Finds what a type named in a program is: follows typedefs, alias templates, members of classes and traits to the end.

This is the one place that answers the question for contracts. An answer is a built-in type by its canonical name, a
class, or None where the program does not say: a name of a header that is not at hand, a member of a template's
parameter, a trait that is not known. None is never guessed at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from porter.source.arithmetic_types import arithmetic, told_apart
from porter.source_text import Source
from porter.syntax.cursor import NotReadError, Scopes
from porter.syntax.definitions import DefinitionReader
from porter.syntax.nodes import Alias, Expression, Literal, Name, TypeName
from porter.syntax.structs import Found
from porter.syntax.type_names import BUILT_IN
from porter.syntax.type_traits import named_by_library, truth_of
from porter.syntax.unit import StructTree, Unit
from porter.syntax.words import expanded

Argument = TypeName | Expression
Bindings = Mapping[str, Argument]
_MOST_STEPS = 32  # of aliases of aliases
_NOTHING: Bindings = {}


@dataclass(frozen=True)
class Types:
    """The types of the program that `unit` is.

    An enum is a type of its own. `macros` are what texts may be written with, `NAME=VALUE`.
    """

    unit: Unit
    macros: tuple[str, ...] = ()

    def read(self, text: str) -> TypeName | None:
        """The type that `text` spells, nothing followed; None where it reads as none."""
        reader = self._reader(text)
        try:
            kind = reader.pointers(reader.specifiers().type)
        except NotReadError:
            return None
        return kind if reader.at == len(reader.words) else None

    def argument(self, text: str) -> Argument:
        """The template argument that `text` spells: a type, else an expression."""
        reader = self._reader(text)
        try:
            kind = reader.type_here(sure=True)
            argument = reader.unbracketed() if kind is None else kind
        except NotReadError:
            return Name(text)
        return argument if reader.at == len(reader.words) else Name(text)

    def _reader(self, text: str) -> DefinitionReader:
        scopes = Scopes()
        for name in self._known:
            scopes.declare(name, "type")
        return DefinitionReader(expanded(Source(Path("type"), text), (), self.macros)[-1], scopes, Found())

    def resolved(
        self, kind: TypeName, scope: tuple[str, ...] = (), bound: Bindings = _NOTHING, steps: int = 0
    ) -> TypeName | None:
        """The type that `kind` means within `scope`, where parameters of templates are what `bound` says.

        None where that is not known.
        """
        if steps > _MOST_STEPS:
            return None
        found = self._named(kind, scope, bound, steps + 1)
        return None if found is None else _decorated(found, kind)

    def number(self, node: Expression | None) -> int | None:
        """The whole number that a literal is, or a constant of the program; None for anything else."""
        found = self._constant(node, (), 0) if isinstance(node, Name) else node
        return found.value if isinstance(found, Literal) and isinstance(found.value, int) else None

    def _named(self, kind: TypeName, scope: tuple[str, ...], bound: Bindings, steps: int) -> TypeName | None:
        """`kind` without its own pointers and qualifiers."""
        if kind.name in bound:
            meant = bound[kind.name]
            return self.resolved(meant, scope, {}, steps) if isinstance(meant, TypeName) else None
        if kind.name == "[]" and isinstance(kind.arguments[0], TypeName):
            inner = self.resolved(kind.arguments[0], scope, bound, steps)
            return None if inner is None else replace(inner, pointers=inner.pointers + 1)
        if kind.name in ("()", "std::function", "nvstd::function"):
            return TypeName("()", kind.arguments)  # which parameters a function has, nobody asks
        if kind.name == "decltype":  # of an expression only the type is asked, not what it is
            return named_by_library(kind.name, kind.arguments)
        given = tuple(self._argument(a, scope, bound, steps) for a in kind.arguments)
        found = self._of_program(kind.name, given, scope, steps)
        if found is not None:
            return found
        if (number := arithmetic(kind.name)) is not None:
            return TypeName(number.name)
        if kind.name in BUILT_IN:
            return named_by_library(kind.name, given) or TypeName(kind.name)
        return named_by_library(kind.name, given, self._structs) or self._elsewhere(kind.name, given)

    def _argument(self, argument: Argument, scope: tuple[str, ...], bound: Bindings, steps: int) -> Argument:
        """A template argument as it is seen from outside of `scope`; as written where it is not known.

        A constant, or a question about types, may read as a type where it is one.
        """
        name = getattr(argument, "name", "")
        inner = getattr(argument, "arguments", ()) or getattr(argument, "template", ())
        if isinstance(argument, TypeName):
            if isinstance(value := bound.get(name), Expression):
                return value
            if (found := self.resolved(argument, scope, bound, steps)) is not None:
                return found
        elif isinstance(argument, Name) and name in bound:
            return bound[name]
        if isinstance(argument, TypeName | Name) and not inner:
            return self._constant(Name(name), scope, steps) or argument
        asked = Name(name, inner) if isinstance(argument, TypeName) else argument
        told = truth_of(asked, lambda part: self._argument(part, scope, bound, steps + 1))
        return argument if told is None else Literal(told, "int")

    def _constant(self, name: Name, scope: tuple[str, ...], steps: int) -> Literal | None:
        """The number that a constant of the program is."""
        values = {v.value for v in self.unit.variables_named(name.name, scope) if v.constexpr or v.type.const}
        value = values.pop() if len(values) == 1 else None
        if value is None or steps > _MOST_STEPS:
            return None
        meant = self._argument(value, scope, {}, steps + 1)
        return meant if isinstance(meant, Literal) else None

    def _of_program(
        self, name: str, given: tuple[Argument, ...], scope: tuple[str, ...], steps: int
    ) -> TypeName | None:
        """Returns what an alias, a member or a class of the program says of `name`."""
        path = tuple(name.split("::"))
        for depth in range(len(scope), -1, -1):
            full = (*scope[:depth], *path)
            if full in self._aliases:
                return self._alike(self._aliases[full], given, steps)
            if (member := self._member(full[:-1], full[-1], given, steps)) is not None:
                return member
            if "::".join(full) in self._structs:
                return TypeName("::".join(full), given)
        elsewhere = [alias for alias in self._by_last.get(path[-1], ()) if not self._is_member(alias)]
        if elsewhere and len(path) == 1:  # a using-directive may have made it known
            return self._alike(elsewhere, given, steps)
        return None

    def _alike(self, aliases: Iterable[Alias], given: tuple[Argument, ...], steps: int) -> TypeName | None:
        """Returns what all of `aliases` mean; None where one is not known or they differ."""
        meanings = {self._of_alias(alias, given, steps) for alias in aliases}
        return meanings.pop() if len(meanings) == 1 else None

    def _of_alias(self, alias: Alias, given: tuple[Argument, ...], steps: int) -> TypeName | None:
        if alias.enumerates:
            return TypeName("::".join((*alias.scope, alias.name)))
        bound = dict(zip(alias.template, given, strict=False))
        return self.resolved(alias.type, alias.scope, bound, steps)

    def _member(self, owner: tuple[str, ...], member: str, given: tuple[Argument, ...], steps: int) -> TypeName | None:
        """`owner<given>::member`, also where the owner is an alias of a class or inherits the member."""
        if not owner:
            return None
        name = "::".join(owner)
        if owner in self._aliases and (meant := self._alike(self._aliases[owner], given, steps)) is not None:
            name, given = meant.name, meant.arguments
        for struct, bound in self.definitions(name, given):
            for alias in struct.aliases:
                if alias.name == member and not alias.template:
                    return self.resolved(alias.type, tuple(struct.name.split("::")), bound, steps)
            for base in struct.bases:
                inherited = self.resolved(base, tuple(struct.name.split("::")[:-1]), bound, steps)
                if inherited is not None and inherited.name != name:
                    found = self._member(tuple(inherited.name.split("::")), member, inherited.arguments, steps + 1)
                    if found is not None:
                        return found
        return None

    def definitions(self, name: str, given: tuple[Argument, ...]) -> Iterator[tuple[StructTree, Bindings]]:
        """The definition of a class for these arguments, with what its parameters are; none where several may fit."""
        structs = self._structs.get(name, ())
        chosen = self._specialised(name, given)
        if not chosen:
            chosen = [(s, _bound(s, given)) for s in structs if not s.arguments]
        if len(chosen) == 1:
            yield chosen[0]

    def fit_alike(self, name: str, given: tuple[Argument, ...]) -> bool:
        """Returns whether several specialisations of a class fit these arguments, none of them better."""
        return len(self._specialised(name, given)) > 1

    def _specialised(self, name: str, given: tuple[Argument, ...]) -> list[tuple[StructTree, Bindings]]:
        structs = self._structs.get(name, ())
        special = [(s, self._pattern(s)) for s in structs if s.arguments]
        fitting = [(s, p, bound) for s, p in special if (bound := _matched(s, p, given)) is not None]
        best = [one for one in fitting if all(_is_special(one[1], s, p) for s, p, _ in fitting)]
        by_name = [one for one in best if all(map(_is_told_alike, one[0].arguments, given))] if len(best) > 1 else best
        return [(s, bound) for s, _, bound in (by_name if len(by_name) == 1 else best or fitting)]

    def _pattern(self, struct: StructTree) -> tuple[Argument, ...]:
        """Returns the arguments of a specialisation, its parameters as they are and constants as numbers."""
        open_ = frozenset(p.name for p in struct.template)
        scope = tuple(struct.name.split("::")[:-1])
        return tuple(
            a if getattr(a, "name", "") in open_ else self._argument(a, scope, {}, 1) for a in struct.arguments
        )

    @cached_property
    def _structs(self) -> Mapping[str, tuple[StructTree, ...]]:
        found: dict[str, tuple[StructTree, ...]] = {}
        for struct in self.unit.structs:
            found[struct.name] = (*found.get(struct.name, ()), struct)
        return found

    @cached_property
    def _aliases(self) -> Mapping[tuple[str, ...], tuple[Alias, ...]]:
        """Returns the aliases of namespaces, by all of their name."""
        found: dict[tuple[str, ...], tuple[Alias, ...]] = {}
        for alias in self.unit.aliases:
            full = (*alias.scope, alias.name)
            found[full] = (*found.get(full, ()), alias)
        return found

    @cached_property
    def _by_last(self) -> Mapping[str, tuple[Alias, ...]]:
        found: dict[str, tuple[Alias, ...]] = {}
        for alias in self.unit.aliases:
            found[alias.name] = (*found.get(alias.name, ()), alias)
        return found

    def _is_member(self, alias: Alias) -> bool:
        return "::".join(alias.scope) in self._structs

    def _elsewhere(self, name: str, given: tuple[Argument, ...]) -> TypeName | None:
        """The only class called `name`, in whatever namespace: a using made it known."""
        found = self._classes_by_last.get(name, set())
        return TypeName(next(iter(found)), given) if len(found) == 1 else None

    @cached_property
    def _classes_by_last(self) -> Mapping[str, set[str]]:
        found: dict[str, set[str]] = {}
        for name in self._structs:
            found.setdefault(name.rpartition("::")[2], set()).add(name)
        return found

    @cached_property
    def _known(self) -> frozenset[str]:
        """The names of types as text may have them."""
        aliases = {alias.name for alias in self.unit.aliases}
        return frozenset(aliases | {name.rpartition("::")[2] for name in self._structs})


def _decorated(found: TypeName, kind: TypeName) -> TypeName:
    """`found` with the pointers of both; a qualifier outside of a pointer says nothing of what it points to."""
    const = found.const if found.pointers else found.const or kind.const
    return replace(found, pointers=found.pointers + kind.pointers, const=const, reference=kind.reference)


def _bound(struct: StructTree, given: tuple[Argument, ...]) -> Bindings:
    return {p.name: a for p, a in zip(struct.template, given, strict=False)}


def _is_special(one: tuple[Argument, ...], other: StructTree, pattern: tuple[Argument, ...]) -> bool:
    """Returns whether `other` fits all arguments that `one` fits, which orders them (C++17, [temp.class.order])."""
    return _matched(other, pattern, one) is not None


def _is_told_alike(wanted: Argument, given: Argument) -> bool:
    """Returns whether a name of a type fits one of PyTorch's or CUDA's that differ in nothing else."""
    if not isinstance(wanted, TypeName) or not isinstance(given, TypeName):
        return True
    return arithmetic(given.name) is None or told_apart(wanted.name) == told_apart(given.name)


def is_same(one: Argument | None, other: Argument | None) -> bool:
    """Returns whether two template arguments are the same number or type, by whatever name."""
    match one, other:
        case Literal(), Literal():
            return one.value == other.value
        case TypeName(), TypeName() if one.name != other.name and arithmetic(one.name) is not None:
            return arithmetic(one.name) == arithmetic(other.name) and replace(one, name=other.name) == other
    return one == other


def _matched(struct: StructTree, pattern: tuple[Argument, ...], given: tuple[Argument, ...]) -> Bindings | None:
    """Returns what the parameters of a specialisation are for it to be that of `given`; None where it is not."""
    bound: dict[str, Argument] = {}
    open_ = frozenset(p.name for p in struct.template)
    if len(pattern) != len(given):
        return None
    fits = all(_fits(p, a, open_, bound) for p, a in zip(pattern, given, strict=True))
    return bound if fits else None


def _fits(pattern: Argument, argument: Argument, open_: frozenset[str], bound: dict[str, Argument]) -> bool:
    """Returns whether `argument` is one of `pattern`, whose `open_` names may be anything, everywhere the same."""
    if isinstance(pattern, Literal) and isinstance(argument, Literal):
        return pattern.value == argument.value
    name = getattr(pattern, "name", "")
    if isinstance(pattern, Name):
        return name in open_ and is_same(bound.setdefault(name, argument), argument)
    if not isinstance(pattern, TypeName):
        return False
    if name in open_ and not pattern.arguments:
        if not isinstance(argument, TypeName):
            return not pattern.pointers and is_same(bound.setdefault(name, argument), argument)
        rest = replace(argument, pointers=argument.pointers - pattern.pointers)
        return rest.pointers >= 0 and is_same(bound.setdefault(name, rest), rest)
    if not isinstance(argument, TypeName) or len(pattern.arguments) != len(argument.arguments):
        return False
    left, right = arithmetic(name), arithmetic(argument.name)
    alike = left == right if left is not None else name == argument.name
    inner = zip(pattern.arguments, argument.arguments, strict=True)
    return alike and pattern.pointers == argument.pointers and all(_fits(p, a, open_, bound) for p, a in inner)
