"""The state of building one kernel: what names mean, what variables hold, which functions are being inlined."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

from porter.ir.simt.builder.c_types import Record
from porter.ir.simt.builder.emitter import Emitter
from porter.ir.simt.builder.errors import NotExpressibleError
from porter.ir.simt.builder.mutability import Addresses
from porter.ir.simt.builder.values import Binding, Memory, Place, Slot
from porter.ir.simt.ops import Location, Value
from porter.ir.simt.types import Array, Pointer, Scalar, Space
from porter.syntax.nodes import TypeName
from porter.syntax.type_resolution import Types
from porter.syntax.unit import FunctionTree, Unit


@dataclass
class Scope:
    """The names of a block; behind a `wall` a function does not see those of its caller."""

    names: dict[str, Binding] = field(default_factory=dict)
    wall: bool = False


@dataclass
class Target:
    """The target of `break`, `continue` or `return`: the variable that says it was taken, and the place of a result."""

    kinds: frozenset[str]
    flag: Slot
    result: Place | None = None


@dataclass
class Builder:
    """One kernel. `held` has what each variable holds here; None for one that nobody has given a value."""

    unit: Unit
    types: Types
    emitter: Emitter = field(default_factory=Emitter)
    scopes: list[Scope] = field(default_factory=lambda: [Scope()])
    held: dict[Slot, Value | None] = field(default_factory=dict)
    targets: list[Target] = field(default_factory=list)
    functions: list[FunctionTree] = field(default_factory=list)
    mutable: list[frozenset[str]] = field(default_factory=lambda: [frozenset()])
    addressed: list[frozenset[str]] = field(default_factory=lambda: [frozenset()])
    instances: list[tuple[object, ...]] = field(default_factory=lambda: [()])
    owners: list[Record | None] = field(default_factory=lambda: [None])  # the structs whose methods are being built
    replaced: dict[Value, Value] = field(default_factory=dict)
    shared: dict[object, Memory] = field(default_factory=dict)
    variables: dict[str, Memory] = field(default_factory=dict)  # of the device
    coordinates: dict[tuple[str, int], Value] = field(default_factory=dict)
    _dynamic: Value | None = None
    _zero: Value | None = None
    namespaces: list[tuple[str, ...]] = field(default_factory=lambda: [()])

    @cached_property
    def addresses(self) -> Addresses:
        """Returns which variables have to be in memory, since their address is taken."""
        return Addresses(self.unit)

    def find(self, name: str) -> Binding | None:
        """Returns what `name` is bound to; None where no scope has it."""
        for scope in reversed(self.scopes):
            if name in scope.names:
                return scope.names[name]
            if scope.wall:
                return None
        return None

    def bind(self, name: str, binding: Binding) -> None:
        """Declares `name` in the innermost scope."""
        self.scopes[-1].names[name] = binding

    @contextmanager
    def scope(self, *, wall: bool = False) -> Iterator[None]:
        """A scope for what is declared inside."""
        self.scopes.append(Scope(wall=wall))
        try:
            yield
        finally:
            self.scopes.pop()

    @property
    def bound(self) -> dict[str, TypeName | object]:
        """Returns what template parameters and local names of types mean."""
        found: dict[str, TypeName | object] = {}
        for scope in reversed(self.scopes):
            for name, binding in scope.names.items():
                if isinstance(binding, TypeName) or not isinstance(binding, Place):
                    found.setdefault(name, binding)
            if scope.wall:
                break
        return found

    @contextmanager
    def at(self, line: int) -> Iterator[None]:
        """Operations made inside come from this line, of the file of the function that is being built."""
        before = self.emitter.location
        if line:
            self.emitter.location = Location(line, self.file)
        try:
            yield
        finally:
            self.emitter.location = before

    @property
    def file(self) -> str:
        """The name of the file that lines are of; empty for the kernel's own."""
        inner, outer = (
            self.functions[-1].file if self.functions else "",
            self.functions[0].file if self.functions else "",
        )
        return inner if inner != outer else ""

    def problem(self, construct: str, line: int = 0) -> NotExpressibleError:
        """The error that a construct is not expressed."""
        return NotExpressibleError(construct, line or self.emitter.location.line, self.file)

    def resolved(self, value: Value) -> Value:
        """Returns the value that `value` has turned out to be."""
        while value in self.replaced:
            value = self.replaced[value]
        return value

    def coordinate(self, kind: str, axis: int, name: str) -> Value:
        """A coordinate or an extent of the launch, asked once at the function's begin."""
        if (kind, axis) not in self.coordinates:
            self.coordinates[kind, axis] = self.emitter.at_begin(kind, Scalar.U32, name, axis=axis)
        return self.coordinates[kind, axis]

    def dynamic_shared(self) -> Value:
        """The address of the shared memory that the launch gives the block."""
        if self._dynamic is None:
            self._dynamic = self.emitter.at_begin("dynamic_shared", Pointer(Scalar.U8, Space.SHARED), "shared")
        return self._dynamic

    def zero(self) -> Value:
        """The index 0, at the function's begin."""
        if self._zero is None:
            self._zero = self.emitter.zero()
        return self._zero

    def instance(self) -> tuple[object, ...]:
        """Returns what tells the instance of the function that is being built from its others."""
        return self.instances[-1]

    @contextmanager
    def discarded(self) -> Iterator[None]:
        """Asks what is done inside for its type or value alone: nothing of it stays."""
        before = dict(self.held)
        with self.emitter.block():
            yield
        self.held = before

    def array(self, type_: Array, name: str) -> Value:
        """Memory of the block or of the thread."""
        return self.emitter.at_begin("array", type_, name)
