"""The definitions of a CUDA source and its local headers, with bodies as trees."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from porter.source.program import Function, TemplateParam
from porter.source.qualified import unqualified
from porter.syntax.nodes import Alias, Block, Expression, Parameter, TypeName, Unread, Variable


@dataclass(frozen=True, slots=True)
class FunctionTree:
    """A function definition; `head` is what the source room says about it (space, scope, template, spans).

    `arguments` are those of an explicit specialisation: `template <> float zero<float>()` has `float`. A constructor's
    initializers are assignments to `this->name` at the beginning of its body. `file` is the name of the file that its
    lines are lines of. A `constant` one is a method that may be called on what does not change.
    """

    head: Function
    returns: TypeName
    parameters: tuple[Parameter, ...]
    body: Block
    arguments: tuple[TypeName | Expression, ...] = ()
    file: str = ""
    constant: bool = False


@dataclass(frozen=True, slots=True)
class StructTree:
    """A struct or class: its fields in order and its methods (`operator()` among them), by name with scopes.

    Static members are fields of storage `static`; `arguments` are those of a specialisation, as written; `aligned` is
    what it says of the bytes that its addresses are multiples of; `closed` that it has constructors that all take
    arguments, or members that are hidden, virtual or not understood.
    A struct or union without a name is called `union@NUMBER`; as a member without a name it is a field called "".
    """

    name: str
    template: tuple[TemplateParam, ...]
    fields: tuple[Variable, ...]
    methods: tuple[FunctionTree, ...]
    aliases: tuple[Alias, ...]
    bases: tuple[TypeName, ...]
    line: int
    arguments: tuple[TypeName | Expression, ...] = ()
    union: bool = False
    aligned: Expression | None = None
    closed: bool = False


@dataclass(frozen=True, slots=True)
class Declaration:
    """A function that is declared, `dim3 grid_of(int n);`; `qualified` is the name with its scopes."""

    qualified: str
    returns: TypeName


@dataclass(frozen=True)
class Unit:
    """Everything a body may refer to. Later definitions of one name are overloads, or for structs specialisations.

    Namespaces are dropped from the names of variables and aliases; an enumerator is a constexpr variable (`E::a` for a
    scoped enum) and its enum an alias of the integer. `unread` is what stands outside functions and could not be read.
    `declared` are the functions that are declared, whether or not one of `functions` defines them.
    """

    functions: tuple[FunctionTree, ...]
    structs: tuple[StructTree, ...]
    aliases: tuple[Alias, ...]
    variables: tuple[Variable, ...]
    unread: tuple[Unread, ...] = ()
    declared: tuple[Declaration, ...] = ()

    @cached_property
    def kernels(self) -> tuple[FunctionTree, ...]:
        """The `__global__` functions."""
        return tuple(f for f in self.functions if f.head.space == "global")

    def named(self, name: str) -> tuple[FunctionTree, ...]:
        """Every function called `name`, plain or qualified, in the order of definition."""
        plain = unqualified(name)
        return tuple(f for f in self.functions if f.head.name == plain and f.head.qualified.endswith(name))

    def only_declared(self, name: str) -> Declaration | None:
        """The function `name`, plain or qualified, that the source declares and no file given to porter defines."""
        path = name.removeprefix("::").split("::")
        found = [d for d in self.declared if d.qualified.split("::")[-len(path) :] == path]
        return found[-1] if found and not self.named(name) else None

    def variables_named(self, name: str, scope: tuple[str, ...]) -> tuple[Variable, ...]:
        """Returns what `name`, plain or qualified, may mean within the namespaces `scope`: those of the innermost that
        has any.

        A qualifier that is none of a variable's namespaces may be another name of one: then it is not asked for. A
        class is none.
        """
        path = tuple(name.removeprefix("::").split("::"))
        alike = self._variables.get(path[-1], ())
        named = self._of_path(alike, path)
        for alias in self.aliases if len(path) > 1 and not named else ():
            if alias.name == path[-2]:
                named = self._of_path(alike, (*alias.type.name.split("::"), path[-1])) or named
        if not named and len(path) > 1 and not self._is_class(path[-2]):
            named = [v for v in alike if "::" not in v.name]
        around = [v for v in named if v.scope == scope[: len(v.scope)]]
        depth = max((len(v.scope) for v in around), default=0)
        return tuple(v for v in around if len(v.scope) == depth) or tuple(named)

    def _is_class(self, name: str) -> bool:
        """Returns whether `name` is that of a class, or another name of one."""
        meant = (name, *(unqualified(a.type.name) for a in self.aliases if a.name == name))
        return any(map(self.struct, meant))

    @staticmethod
    def _of_path(variables: tuple[Variable, ...], path: tuple[str, ...]) -> list[Variable]:
        """Returns the variables whose qualified name ends with `path`."""
        return [v for v in variables if (*v.scope, *v.name.split("::"))[-len(path) :] == path]

    @cached_property
    def _variables(self) -> dict[str, tuple[Variable, ...]]:
        found: dict[str, tuple[Variable, ...]] = {}
        for variable in self.variables:
            plain = unqualified(variable.name)
            found[plain] = (*found.get(plain, ()), variable)
        return found

    def within(self, owner: str) -> tuple[StructTree, ...]:
        """The structs that the struct `owner`, by its name with scopes, defines inside of itself."""
        return self._within.get(owner, ())

    @cached_property
    def _within(self) -> dict[str, tuple[StructTree, ...]]:
        found: dict[str, tuple[StructTree, ...]] = {}
        for struct in self.structs:
            owner = struct.name.rpartition("::")[0]
            found[owner] = (*found.get(owner, ()), struct)
        return found

    def struct(self, name: str) -> tuple[StructTree, ...]:
        """The struct called `name` and its specialisations; of several in different namespaces those it says."""
        path = name.removeprefix("::").split("::")
        alike = tuple(s for s in self.structs if unqualified(s.name) == unqualified(name))
        return tuple(s for s in alike if s.name.split("::")[-len(path) :] == path) or alike
