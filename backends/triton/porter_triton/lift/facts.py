"""What is certain about names in a function, for one launch: constants, and which are the thread's number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from porter.source.program import TemplateParam
from porter.syntax.nodes import (
    Binary,
    Call,
    Cast,
    Declare,
    Expression,
    If,
    Literal,
    Member,
    Name,
    Return,
    Subscript,
    Unary,
    Variable,
)
from porter.syntax.unit import FunctionTree, Unit
from porter.syntax.walk import walk
from porter_triton.lift.trees import bare
from porter_triton.lower.assigned import assigned_names

_ARITHMETIC: dict[str, Callable[[int, int], int | None]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a // b if b > 0 and a >= 0 else None,
    ">>": lambda a, b: a >> b,
    "<<": lambda a, b: a << b,
}
WARP = 32
_MOST_THREADS = 1024
_UNIFORM = frozenset(
    {"blockIdx", "blockDim", "gridDim", "warpSize", "INFINITY", "FLT_MAX", "DBL_MAX", "INT_MAX", "INT_MIN"}
)


@dataclass(frozen=True)
class Facts:
    """`block` are the extents of the block where they are known; `template` the values of the kernel's parameters.

    `powers` are the numbers of threads that a block of one dimension may have where it has no known one; `told` is what
    was found out about statements by running them, for all instances of templates in a unit.
    """

    unit: Unit
    function: FunctionTree
    block: tuple[int | None, int | None, int | None]
    template: tuple[tuple[str, int], ...] = ()
    powers: tuple[int, ...] = ()
    told: dict[object, object] = field(default_factory=dict, compare=False, repr=False)

    @property
    def sizes(self) -> tuple[int, ...]:
        """All numbers of threads that a block of one dimension may have; none where these are not known."""
        if self.threads is not None:
            return (self.threads,)
        return self.powers if self.block[1:] == (1, 1) else ()

    @property
    def whole_warps(self) -> tuple[int, ...]:
        """All numbers of threads that are whole warps, for a block of one dimension."""
        return tuple(range(WARP, _MOST_THREADS + 1, WARP)) if self.block[1:] == (1, 1) else ()

    @property
    def threads(self) -> int | None:
        """The number of threads of a block that has one dimension; None for any other, or where it is not known."""
        x, y, z = self.block
        return x if y == 1 and z == 1 else None

    @property
    def parameters(self) -> tuple[TemplateParam, ...]:
        """The template parameters of the function."""
        return tuple(self.function.head.template)

    @cached_property
    def changed(self) -> frozenset[str]:
        """Names that are assigned, or whose address or a reference to which is taken."""
        return assigned_names(self.unit, self.function.body)

    @cached_property
    def fixed(self) -> dict[str, Expression]:
        """Local variables that are declared once and never changed, with their values."""
        declared: dict[str, list[Variable]] = {}
        for node in walk(self.function.body):
            for variable in node.variables if isinstance(node, Declare) else ():
                declared.setdefault(variable.name, []).append(variable)
        changed = self.changed | {p.name for p in self.function.parameters}
        return {
            name: bare(found[0].value)
            for name, found in declared.items()
            if len(found) == 1 and name not in changed and found[0].value is not None and _plain(found[0])
        }

    @cached_property
    def declared(self) -> dict[str, Variable]:
        """The local variables that are declared once."""
        found: dict[str, list[Variable]] = {}
        for node in walk(self.function.body):
            for variable in node.variables if isinstance(node, Declare) else ():
                found.setdefault(variable.name, []).append(variable)
        return {name: same[0] for name, same in found.items() if len(same) == 1}

    @cached_property
    def shared(self) -> dict[str, str]:
        """The shared arrays of the function, and other names of them that never change: the array of each."""
        names = {name: name for name, v in self.declared.items() if v.storage.endswith("shared")}
        for name, variable in self.declared.items():
            value = variable.value
            while isinstance(value, Cast):
                value = value.operand
            plain = isinstance(value, Name) and not variable.extents and name not in self.changed
            if plain and value.name in names:  # type: ignore[union-attr]
                names[name] = names[value.name]  # type: ignore[union-attr]
        return names

    @cached_property
    def constexprs(self) -> frozenset[str]:
        """Local constants whose value the compiler knows."""
        declares = (n for n in walk(self.function.body) if isinstance(n, Declare))
        return frozenset(v.name for n in declares for v in n.variables if v.constexpr and v.name in self.fixed)

    def value(self, node: Expression | None) -> int | None:
        """The value of a whole number that is the same for all threads and known."""
        if isinstance(node, Literal):
            return int(node.value) if isinstance(node.value, int) else None
        if isinstance(node, Cast):
            return self.value(node.operand)
        if isinstance(node, Member) and node.owner == Name("blockDim") and node.name in "xyz":
            return self.block["xyz".index(node.name)]
        if isinstance(node, Member) and node.owner == Name("threadIdx") and node.name in "xyz":
            return 0 if self.block["xyz".index(node.name)] == 1 else None
        if isinstance(node, Binary) and node.operator in _ARITHMETIC:
            left, right = self.value(node.left), self.value(node.right)
            if node.operator == "*" and 0 in {left, right}:
                return 0
            return None if left is None or right is None else _ARITHMETIC[node.operator](left, right)
        return self._named(node.name) if isinstance(node, Name) and not node.template else None

    @cached_property
    def _numbers(self) -> dict[str, int | None]:
        """Returns what names were found to be: threads are run one by one, and each asks."""
        return {}

    def _named(self, name: str) -> int | None:
        if name not in self._numbers:
            self._numbers[name] = None  # what is asked on the way to its own value: `constexpr int N = Config::N`
            self._numbers[name] = self._number(name)
        return self._numbers[name]

    def _number(self, name: str) -> int | None:
        if name == "warpSize":
            return WARP
        if name in self.fixed:
            return self.value(self.fixed[name])
        if (known := dict(self.template).get(name)) is not None:
            return known
        return self.value(self.constant(name))

    def constant(self, name: str) -> Expression | None:
        """The value of a constant outside of functions; None where the name may mean anything else."""
        meant = () if name in self._local else self.unit.variables_named(name, self.function.head.scope)
        values = {bare(v.value) if v.constexpr or v.type.const else None for v in meant}
        return values.pop() if len(values) == 1 else None

    @cached_property
    def _local(self) -> frozenset[str]:
        """The names that the function declares."""
        declares = (n for n in walk(self.function.body) if isinstance(n, Declare))
        return frozenset(v.name for n in declares for v in n.variables) | {p.name for p in self.function.parameters}

    def resolved(self, node: Expression) -> Expression:
        """`node` without casts and zeros; a variable that never changes is its value."""
        while True:
            if isinstance(node, Cast):
                node = node.operand
            elif isinstance(node, Name) and node.name in self.fixed:
                node = self.fixed[node.name]
            elif isinstance(node, Binary) and node.operator == "+" and self.value(node.left) == 0:
                node = node.right
            elif isinstance(node, Binary) and node.operator == "+" and self.value(node.right) == 0:
                node = node.left
            else:
                return node

    def is_thread(self, node: Expression) -> bool:
        """Returns whether `node` is the number of the thread, in a block of one dimension."""
        return self.block[1:] == (1, 1) and self.resolved(node) == Member(Name("threadIdx"), "x")

    def is_lane(self, node: Expression) -> bool:
        """Returns whether `node` is the lane of the thread."""
        found = self.resolved(node)
        if self.threads is not None and self.threads <= WARP and self.is_thread(found):
            return True
        if not isinstance(found, Binary) or not self.is_thread(found.left):
            return False
        return (found.operator, self.value(found.right)) in {("%", WARP), ("&", WARP - 1)}

    def is_warp(self, node: Expression) -> bool:
        """Returns whether `node` is the number of the thread's warp."""
        found = self.resolved(node)
        if not isinstance(found, Binary) or not self.is_thread(found.left):
            return False
        return (found.operator, self.value(found.right)) in {("/", WARP), (">>", 5)}

    def is_uniform(self, node: Expression) -> bool:
        """Returns whether `node` certainly has one value for all threads of the block that evaluate it at once."""
        for part in walk(node):
            if isinstance(part, Call) or (isinstance(part, Unary) and part.operator not in {"-", "!"}):
                return False
            if isinstance(part, Subscript) and not (isinstance(part.owner, Name) and self._is_given(part.owner.name)):
                return False
            if isinstance(part, Name) and not self._is_uniform_name(part.name):
                return False
        return True

    def _is_uniform_name(self, name: str) -> bool:
        constants = {v.name for v in self.unit.variables if v.constexpr or v.type.const or v.storage == "constant"}
        if name in _UNIFORM or name in constants:
            return True
        if name in self.fixed:
            return self.is_uniform(self.fixed[name])
        return self._is_given(name)

    def _is_given(self, name: str) -> bool:
        """Returns whether a name is a parameter of the kernel that nothing changes."""
        is_parameter = any(p.name == name for p in self.function.parameters)
        return self.function.head.space == "global" and is_parameter and name not in self.changed

    @cached_property
    def leaves_together(self) -> bool:
        """Returns whether no thread returns while others of its block go on, but at the end."""
        for statement in self.function.body.statements[:-1]:
            together = isinstance(statement, If) and self.is_uniform(statement.condition)
            if not together and any(isinstance(n, Return) for n in walk(statement)):
                return False
        return True


def _plain(variable: Variable) -> bool:
    return not (variable.extents or variable.storage or variable.type.reference or variable.type.pointers)
