"""Keeps what is known while one host function is translated: names, types, and the statements so far."""

from __future__ import annotations

import builtins
import keyword
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol

from porter.source.qualified import unqualified
from porter.syntax.nodes import Block, Expression, Lambda, Name, TypeName
from porter.syntax.unit import FunctionTree, Unit
from porter_triton.host.assigned import assigned_with_calls
from porter_triton.host.block_sizes import BlockSizes
from porter_triton.host.c_types import BUILT_IN, Arithmetic, Type, components
from porter_triton.host.codes import AND, Code
from porter_triton.host.dtypes import Dtypes
from porter_triton.host.suites import Line, Suite
from porter_triton.kernels import Kernels
from porter_triton.refusal import Refusal

_RESERVED = frozenset(keyword.kwlist) | frozenset(dir(builtins)) | {"tl", "triton", "torch", "math", "os"}
_MOST_ALIASES = 20
_EVER = 1 << 30  # more changes than a function makes
# Names of the standard library that a `using` leaves without `std::`.
_STANDARD = ("vector", "array", "tuple", "pair", "initializer_list", "make_tuple", "make_pair", "tie")
_UNQUALIFIED = ("at::", "c10::", "torch::", "std::", "headeronly::", "stable::")


@dataclass(frozen=True, slots=True)
class Closure:
    """A host lambda held by a variable."""

    node: Lambda


@dataclass(frozen=True, slots=True)
class KernelName:
    """A kernel held by a variable; its template arguments mean the same everywhere."""

    node: Name


@dataclass(frozen=True, slots=True)
class Addresses:
    """An array of the addresses of what a launch passes."""

    operands: tuple[Expression, ...]


Binding = Code | TypeName | Closure | KernelName | Addresses
Template = tuple[TypeName | Expression, ...]
Given = tuple[tuple[Name, ...], ...]


class Callees(Protocol):
    """The other host functions of the module, and what its templates name."""

    def python_name(self, function: FunctionTree, template: Template, given: Given = ()) -> str:
        """Returns the Python name of an instance of `function`, translated on demand; raises `Refusal`.

        `given` are the kernels that each of its arguments may name.
        """
        ...

    def kernels_of(self, python_name: str) -> tuple[Name, ...]:
        """Returns the kernels that a function of the module may return."""
        ...

    def named_type(self, cx: Context, name: TypeName) -> TypeName | None:
        """Returns the type that a template of the source or the standard library names; None for any other."""
        ...

    def keep(self, name: str, text: str) -> None:
        """Puts a function that is not the source's before the launchers; raises `Refusal` where its name is taken."""
        ...


@dataclass
class Context:
    """One function being translated. `taken` are the names of the module's functions, which no variable may hide.

    `changes` counts the assignments to each Python variable that are still to come; `tensor` is a tensor parameter,
    whose device is that of everything.
    """

    unit: Unit
    kernels: Kernels
    function: FunctionTree
    taken: frozenset[str]
    callees: Callees
    scopes: list[dict[str, Binding]] = field(default_factory=lambda: [{}])
    hidden: list[dict[str, Binding]] = field(default_factory=list)  # scopes of callers, whose names are taken
    body: list[Line | Suite] = field(default_factory=list)
    changes: dict[str, int] = field(default_factory=dict)
    blocks: list[Block] = field(default_factory=list)
    counts: dict[int, tuple[Block, Counter[str]]] = field(default_factory=dict)
    tensor: str = ""
    lengths: dict[str, str] = field(default_factory=dict)  # of the rows of elements allocated here
    values: dict[str, str] = field(default_factory=dict)  # of the whole numbers that nothing sets again
    constants: dict[str, str] = field(default_factory=dict)  # tensors for `__constant__` variables, by these
    inlined: int = 0  # lambdas around, whose `return` is not the function's
    depth: int = 0  # of Python's suites
    steps: list[Expression | None] = field(default_factory=list)  # what `continue` does first, of each loop around
    dtypes: Dtypes = field(default_factory=Dtypes)
    prints: list[int] = field(default_factory=list)  # lines that print, which is left out
    lacking: dict[str, Refusal] = field(default_factory=dict)  # dtypes that raise when it runs, and why
    gives: list[Name] = field(default_factory=list)  # kernels that the function returns
    vectors: dict[str, TypeName] = field(default_factory=dict)  # variables whose assignment copies the elements
    undefined: dict[str, int] = field(default_factory=dict)  # functions that another file defines, and a line of each
    python: str = ""  # the name that the function has in Python
    lasting: dict[str, str] = field(default_factory=dict)  # variables of the module, and how it declares them
    own_lasting: list[str] = field(default_factory=list)  # those that no other function knows

    @cached_property
    def block_sizes(self) -> BlockSizes:
        """Returns what is known of the blocks that the function launches."""
        return BlockSizes(self.unit, self.function)

    def find(self, name: str) -> Binding | None:
        """Returns what `name` means here; None for a name that no statement of the function declared."""
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return None

    def bind(self, name: str, meaning: Binding) -> None:
        """Give `name` a meaning in the innermost scope."""
        self.scopes[-1][name] = meaning

    def last(self, name: str, text: str) -> None:
        """Notes a variable of the module, which `text` declares: other calls set it, too, so it is never settled."""
        self.lasting[name] = text
        self.changes[name] = _EVER

    def python_name(self, name: str) -> str:
        """Returns a Python name for a new variable called `name`: another one where an outer one is still seen."""
        stem = f"{name}_" if name in _RESERVED or name in self.taken else name
        bound = [b for scope in (*self.hidden, *self.scopes) for b in scope.values() if isinstance(b, Code)]
        seen = {code.text for b in bound for code in (b, *b.parts)}
        chosen, number = stem, 1
        while chosen in seen:
            number += 1
            chosen = f"{stem}_{number}"
        return chosen

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Opens a block of the source."""
        self.scopes.append({})
        try:
            yield
        finally:
            self.scopes.pop()

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Opens the body of another function, which does not see the names of this one."""
        kept = self.scopes, self.hidden
        self.scopes, self.hidden = [{}], [*self.hidden, *self.scopes]
        try:
            yield
        finally:
            self.scopes, self.hidden = kept

    @contextmanager
    def suite(self, head: str) -> Iterator[Suite]:
        """Statements go under `head` until the end of the `with`."""
        under = Suite(head)
        self.check_dtypes(under)
        outer, known = self.body, self.dtypes
        self.body, self.dtypes = under.body, known.inside()
        self.depth += 1
        try:
            with self.scope():
                yield under
            self.check_dtypes()
        finally:
            self.depth -= 1
            self.body, self.dtypes = outer, known
            self.body.append(under)

    @contextmanager
    def aside(self) -> Iterator[list[Line | Suite]]:
        """Collects statements that nobody gets yet: after the `with`, refused or not, all else is as before."""
        kept = self.body, self.depth, self.inlined, list(self.blocks), dict(self.changes), dict(self.lengths)
        known = self.dtypes
        self.body, self.depth, self.dtypes = [], self.depth + 1, known.inside()
        try:
            with self.scope():
                yield self.body
                self.check_dtypes()
        finally:
            self.body, self.depth, self.inlined, self.blocks, self.changes, self.lengths = kept
            self.dtypes = known

    def settle(self, name: str, constant: float) -> None:
        """Notes the value of a variable from its last assignment on, where that is sure to be reached."""
        meaning = self.find(name)
        if self.depth or not isinstance(meaning, Code) or not self.is_steady(meaning.text):
            return
        for scope in self.scopes:
            if name in scope:
                scope[name] = replace(meaning, constant=constant)

    def emit(self, text: str, defines: str = "") -> None:
        """Adds a statement; `defines` is the variable it sets, if that is all it does."""
        self.check_dtypes()
        self.dtypes.emitted(text, self.is_steady)
        called = set(re.findall(r"(\w+)\(", text))
        pure = not any(name in self.taken or name.endswith("_") for name in called)
        self.body.append(Line(text, defines if pure and defines not in self.lasting else ""))

    def check_dtypes(self, before: Suite | None = None) -> None:
        """Emits the checks of tensors whose data was asked for; `before` comes next, perhaps as an `elif`."""
        at = len(self.body)
        while before is not None and before.follows and at:
            at -= 1
            before = found if isinstance(found := self.body[at], Suite) else None
        self.body[at:at] = self.dtypes.checks(self.python_name)

    @contextmanager
    def where(self, condition: Code) -> Iterator[None]:
        """Opens the operand of an expression that is evaluated where `condition` holds."""
        known = self.dtypes
        self.dtypes = replace(known, conditions=(*known.conditions, condition.within(AND)))
        try:
            yield
        finally:
            self.dtypes = known

    @property
    def _assigned(self) -> Counter[str]:
        """Returns what the block being translated sets, and how often."""
        block = self.blocks[-1] if self.blocks else self.function.body
        if id(block) not in self.counts:
            self.counts[id(block)] = block, assigned_with_calls(self.unit, block)
        return self.counts[id(block)][1]

    def changes_of(self, name: str) -> int:
        """Returns how often the block being translated sets the source's variable `name`, declared here, again."""
        return self._assigned[name]

    def changes_of_axis(self, name: str, axis: str) -> int:
        """Returns what `changes_of` does, for one extent of a `dim3`."""
        counts = self._assigned
        return counts[name] - sum(counts[f"{name}.{other}"] for other in "xyz" if other != axis)

    def demand_own(self, name: str, kind: TypeName, meaningless: bool, line: int) -> None:
        """Raise `Refusal` for a reference through which another variable is set: Python has none."""
        if kind.reference and not kind.const and not meaningless and self.changes_of(name):
            raise Refusal(line, f"'{name}' sets a variable of another function or another name")

    def is_steady(self, python: str) -> bool:
        """Returns whether nothing sets the Python variable any more."""
        return self.changes.get(python, 0) == 0

    def settled(self, code: Code) -> bool:
        """Returns whether nothing sets any variable in the text any more."""
        return all(self.is_steady(word) for word in re.findall(r"[A-Za-z_]\w*", code.text))

    def changed(self, python: str) -> None:
        """Note an assignment."""
        self.changes[python] = max(0, self.changes.get(python, 0) - 1)
        self.lengths.pop(python, None)

    def type(self, name: TypeName) -> TypeName:
        """Returns the type `name`, with aliases and template parameters followed."""
        pointers, const = name.pointers, name.const
        for _ in range(_MOST_ALIASES):
            meaning = self.find(name.name)
            if isinstance(meaning, TypeName):
                name = meaning
            elif name.name in BUILT_IN:
                break
            elif (inner := self.callees.named_type(self, name)) is not None:
                name = inner
            else:
                aliases = [a for a in self.unit.aliases if a.name == unqualified(name.name) and not a.template]
                if not aliases:
                    break
                name = aliases[-1].type
            pointers += name.pointers
        arguments = tuple(self.type(a) if isinstance(a, TypeName) else a for a in name.arguments)
        own = self.unit.struct(name.name) or self.unit.named(name.name)
        standard = "std::" if name.name in _STANDARD and not own else ""
        return TypeName(standard + name.name, arguments, pointers, const or name.const)

    def is_own(self, name: TypeName) -> bool:
        """Returns whether the type is a class that the source defines, be it called like one of PyTorch's."""
        return plain(name.name) == name.name and bool(self.unit.struct(name.name))

    def built_in(self, name: TypeName) -> Type | None:
        """Returns the arithmetic or vector type `name`; None for any other."""
        found = self.type(name)
        if found.name in BUILT_IN:
            return BUILT_IN[found.name]
        if plain(found.name) in ("acc_type", "opmath_type", "opmath_type_t") and found.arguments:
            inner = found.arguments[0]
            kind = self.built_in(inner) if isinstance(inner, TypeName) else None
            return BUILT_IN["float"] if isinstance(kind, Arithmetic) and kind.is_narrow else kind
        return None

    def dtype(self, name: TypeName, line: int) -> str:
        """Returns the torch dtype of the elements of a pointer to `name`, the pointer's own stars aside."""
        number = self._number_of(TypeName(name.name, name.arguments))
        if number is None:
            raise Refusal(line, f"torch has no dtype for '{name.name}'")
        return "bool" if number.kind == "bool" else number.dtype

    def _number_of(self, name: TypeName) -> Arithmetic | None:
        """Returns the type of the numbers that a value is made of; None where they differ, and for a pointer."""
        if name.pointers:
            return None
        kind = self.built_in(name)
        if kind is not None:
            parts = components(kind)
            return parts[0] if parts is not None else None
        meant = self.type(name)
        structs = self.unit.struct(meant.name)
        if not structs or structs[-1].bases:
            return None
        with self.scope():
            for parameter, argument in zip(structs[-1].template, meant.arguments, strict=False):
                if isinstance(argument, TypeName):
                    self.bind(parameter.name, argument)
            found = {self._number_of(field.type) for field in structs[-1].fields if field.storage != "static"}
        return found.pop() if len(found) == 1 else None


def plain(name: str) -> str:
    """Returns a name without the namespaces of C++ and PyTorch."""
    for prefix in _UNQUALIFIED:
        name = name.removeprefix(prefix)
    return name
