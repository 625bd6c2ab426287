"""What expressions are in the threads of a block that run together: not numbers, but whose parts they are made of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import TypeGuard

from porter.syntax.nodes import (
    Binary,
    Call,
    Cast,
    Choice,
    Expression,
    Literal,
    Member,
    Name,
    Subscript,
    TypeName,
    Unary,
)
from porter.syntax.unit import FunctionTree, StructTree
from porter_triton.lift import templates
from porter_triton.lift.facts import WARP, Facts
from porter_triton.lift.frames import Frame, Held, Place, Pointer, Reference, Threads, seen_as
from porter_triton.lift.loops import BY_CALL, BY_OPERATOR
from porter_triton.lift.parts import COUNTED, Constant, Parts, UnclearError, Value, as_type, calculated, combined
from porter_triton.lift.trees import bare, called
from porter_triton.lower.types import Arithmetic

_MOST_EVALUATIONS = 400_000
COMPARED = {"<": "max", "<=": "max", ">": "min", ">=": "min"}  # of `a < b ? b : a`
_LIMITS = frozenset({"INFINITY", "FLT_MAX", "DBL_MAX", "CUDART_INF_F", "CUDART_INF", "HUGE_VALF", "HUGE_VAL"})
_SHUFFLES = {"__shfl_down_sync": "+", "__shfl_xor_sync": "^", "__shfl_up_sync": "-", "__shfl_sync": ""}


@dataclass
class Evaluation(ABC):
    """A block, as far as expressions are concerned. `arrays` are what its shared arrays hold by index.

    `of_all`: the first exchange of lanes, if there was one, was of whole warps, of all threads, under no condition: a
    block with a warp of fewer lanes would have read some that are not there.
    """

    threads: int
    frame: Frame
    arrays: dict[str, dict[int, Value]] = field(default_factory=dict)
    known: dict[tuple[int, templates.Numbers], Facts] = field(default_factory=dict)
    spent: int = 0
    depth: int = 0  # of branches and loops around what runs
    of_all: bool | None = None

    @abstractmethod
    def call(
        self, function: FunctionTree, node: Call | None, threads: Threads, values: tuple[dict[int, Held], ...] = ()
    ) -> dict[int, Held]:
        """Returns what a function of the source gives to `threads` that call it, for `values` where there is no
        `node`.
        """

    def typed(self, value: Held | None, kind: TypeName) -> Held:
        """`value` as one of the type."""
        if value is None:
            return 0
        if isinstance(value, Pointer):
            return seen_as(value, kind)
        return as_type(value, kind) if isinstance(value, int | float | Constant | Parts) else value

    def function(self, node: Call, threads: Threads) -> FunctionTree | None:
        """The function of the source that is called, told from what `threads` give where the text does not say."""
        if id(node) not in self.frame.meant:
            found = templates.function(self.frame.facts, node)
            if found is None and len(self.frame.facts.unit.named(called(node))) > 1:
                types = [self.type_of(a, threads) for a in node.arguments]
                found = templates.deduced(self.frame.facts, node, types)
            self.frame.meant[id(node)] = found
        return self.frame.meant[id(node)]

    def type_of(self, node: Expression, threads: Threads) -> Arithmetic | None:
        """The type of an expression, which a contribution of any thread says."""
        values = (self.value(node, t) for t in threads)
        return next((value.type for value in values if isinstance(value, Parts)), None)

    def address(self, node: Expression, thread: int) -> Place:
        """The address of a local variable or of an element."""
        if not isinstance(node, Name):
            return self.place(node, thread)
        if node.name not in self.frame.variables:
            raise UnclearError
        held = self._variable(node.name, thread)
        is_place = self.frame.types[node.name].reference and isinstance(held, Place)
        return held if is_place else Reference(self.frame, node.name)  # type: ignore[return-value]

    def truth(self, node: Expression, thread: int) -> bool:
        """Returns whether a condition holds in a thread."""
        value = self.value(node, thread)
        if not isinstance(value, int | float):
            raise UnclearError
        return bool(value)

    def value(self, node: Expression | None, thread: int) -> Held:  # noqa: PLR0912 - a row for each kind of expression
        """The value of an expression in one thread."""
        if node is not None and is_constant(node) and self.frame.means_everywhere(node):
            return Constant(bare(node))
        self.spent += 1
        if self.spent > _MOST_EVALUATIONS:
            raise UnclearError
        match node:
            case Literal(value=bool() | int() | float() as value):
                return value
            case Name():
                return self._named(node, thread)
            case Member(owner=Name(name="threadIdx")):
                return thread if node.name == "x" else 0
            case Member(owner=Name(name="blockDim")):
                return self.threads if node.name == "x" else 1
            case Cast():
                return self.typed(self.value(node.operand, thread), node.type)
            case Subscript() | Unary(operator="*"):
                return self.at(self.place(node, thread), thread)
            case Unary(operator="&"):
                return self.address(node.operand, thread)
            case Unary(operator="-" | "!" | "+"):
                return self._signed(node, thread)
            case Binary():
                return self._binary(node, thread)
            case Choice():
                return self._choice(node, thread)
            case Call():
                return self._called(node, thread)
        raise UnclearError

    def _named(self, node: Name, thread: int) -> Held:
        facts = self.frame.facts
        if node.name in self.frame.variables:
            held = self.frame.variables[node.name]
            if thread not in held:
                raise UnclearError
            value = held[thread]
            is_place = self.frame.types[node.name].reference and isinstance(value, Place)
            return self.at(value, thread) if is_place else value  # type: ignore[arg-type]
        if (known := facts.value(node)) is not None:
            return known
        given = facts.fixed.get(node.name) or facts.constant(node.name)
        if given is None:
            raise UnclearError
        return self.value(given, thread)

    def at(self, place: Place, thread: int) -> Held:
        """Returns what lies at an address; of an array that is the address of its first element."""
        if isinstance(place, Pointer) and place.rows:
            return place.inside()
        held = place.frame.variables[place.name] if isinstance(place, Reference) else self.arrays[place.array]
        where = thread if isinstance(place, Reference) else place.offset
        try:
            return held[where]
        except KeyError:
            raise UnclearError from None

    def place(self, node: Expression, thread: int) -> Place:
        """Returns where an element lies."""
        if isinstance(node, Subscript):
            return self._moved(self.value(node.owner, thread), self.value(node.index, thread))
        return self._moved(self.value(node.operand, thread) if _is_dereferenced(node) else 0, 0)

    def _moved(self, place: Held, steps: Held) -> Place:
        if not isinstance(place, Place) or not isinstance(steps, int):
            raise UnclearError
        return place.moved(steps)

    def _signed(self, node: Unary, thread: int) -> Held:
        value = self.value(node.operand, thread)
        if isinstance(value, Constant) and node.operator == "-":
            return Constant(Unary("-", value.text))
        if not isinstance(value, int | float):
            raise UnclearError
        return -value if node.operator == "-" else value if node.operator == "+" else int(not value)

    def _binary(self, node: Binary, thread: int) -> Held:
        left = self.value(node.left, thread)
        if node.operator in ("&&", "||"):
            decided = bool(left) == (node.operator == "||")
            return int(bool(left) if decided else self.truth(node.right, thread))
        right = self.value(node.right, thread)
        if isinstance(left, Place) and isinstance(right, int) and node.operator in "+-":
            return left.moved(right if node.operator == "+" else -right)
        if isinstance(left, int | float) and isinstance(right, int | float):
            return calculated(node.operator, left, right)
        if node.operator not in BY_OPERATOR:
            raise UnclearError
        return combined(BY_OPERATOR[node.operator], _value(left), _value(right))

    def _choice(self, node: Choice, thread: int) -> Held:
        test = node.condition
        if isinstance(test, Binary) and test.operator in COMPARED:
            left, right = self.value(test.left, thread), self.value(test.right, thread)
            if isinstance(left, Parts | Constant) or isinstance(right, Parts | Constant):
                yes, no = self.value(node.yes, thread), self.value(node.no, thread)
                larger = COMPARED[test.operator]
                if (yes, no) == (right, left):
                    return combined(larger, _value(left), _value(right))
                if (yes, no) == (left, right):
                    return combined("min" if larger == "max" else "max", _value(left), _value(right))
                raise UnclearError
        return self.value(node.yes if self.truth(test, thread) else node.no, thread)

    def _called(self, node: Call, thread: int) -> Held:
        name = called(node)
        if isinstance(node.callee, Name) and isinstance(held := self._variable(node.callee.name, thread), StructTree):
            methods = [m for m in held.methods if m.head.name == "operator()"]
            if len(methods) != 1 or held.fields or len(methods[0].parameters) != len(node.arguments):
                raise UnclearError
            values = tuple({thread: self.value(a, thread)} for a in node.arguments)
            return self.call(methods[0], None, (thread,), values)[thread]
        if isinstance(node.callee, Name) and node.callee.name.startswith("porter::"):
            return self.of_lanes(node, (thread,))[thread]
        if name in _SHUFFLES:
            return self._exchanged(name, node, thread)
        if (function := self.function(node, (thread,))) is not None:
            made = self.call(function, node, (thread,))
            if thread not in made:
                raise UnclearError
            return made[thread]
        if (structs := self.frame.facts.unit.struct(name)) and not node.arguments and len(structs) == 1:
            return structs[0]
        if name in BY_CALL and len(node.arguments) == 2 and not self.frame.facts.unit.named(name):
            left, right = (_value(self.value(a, thread)) for a in node.arguments)
            return combined(BY_CALL[name], left, right)
        raise UnclearError

    def _variable(self, name: str, thread: int) -> Held | None:
        return self.frame.variables.get(name, {}).get(thread)

    def of_lanes(self, node: Call, threads: Threads) -> dict[int, Held]:
        """The word for what lanes of a warp make together, in each of `threads`."""
        scope, _, operation = called(node).partition("_")
        width = self.value(node.arguments[1], threads[0]) if len(node.arguments) > 1 else WARP
        if scope != "warp" or operation not in COUNTED or not isinstance(width, int):
            raise UnclearError
        return self.combined(operation, width, node.arguments[0], threads)

    def combined(self, operation: str, width: int, node: Expression, threads: Threads) -> dict[int, Held]:
        """Returns what so many lanes make of an expression together, in each of `threads`."""
        if self.of_all is None:
            self.of_all = not self.depth and width == WARP and len(threads) == self.threads
        made: dict[int, Value] = {}
        for first in {t - t % width for t in threads}:
            lanes = range(first, min(first + width, self.threads))
            made[first] = reduce(partial(combined, operation), [_value(self.value(node, t)) for t in lanes])
        return {t: made[t - t % width] for t in threads}

    def _exchanged(self, name: str, node: Call, thread: int) -> Held:
        """Returns what another lane of the warp has."""
        self.of_all = bool(self.of_all)
        _, value, by, *width = node.arguments
        step, segment = self.value(by, thread), self.value(width[0], thread) if width else WARP
        if not isinstance(step, int) or not isinstance(segment, int):
            raise UnclearError
        lane, first = thread % segment, thread - thread % segment
        other = {"+": lane + step, "-": lane - step, "^": lane ^ step, "": step % segment}[_SHUFFLES[name]]
        source = first + other if 0 <= other < segment else thread
        if source >= self.threads or (name == "__shfl_xor_sync" and other >= segment):
            raise UnclearError
        return _value(self.value(value, source))


def is_constant(node: Expression) -> bool:
    """Returns whether an expression is a limit of a type, perhaps converted and negated, which no number is known
    for.
    """
    while isinstance(node, Cast) or (isinstance(node, Unary) and node.operator == "-"):
        node = node.operand
    if isinstance(node, Name):
        return node.name in _LIMITS
    return isinstance(node, Call) and not node.arguments and "numeric_limits" in repr(node.callee)


def _is_dereferenced(node: Expression) -> TypeGuard[Unary]:
    return isinstance(node, Unary) and node.operator == "*"


def _value(held: Held) -> Value:
    if not isinstance(held, int | float | Constant | Parts):
        raise UnclearError
    return held
