"""Runs statements by all threads of a block, each statement by all before the next, on what values are made of.

So lowering runs them, too; threads do not race, which is why it is any order that there may be between barriers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from porter.syntax.nodes import (
    Assign,
    Binary,
    Block,
    Call,
    Choice,
    Declare,
    Evaluate,
    Expression,
    For,
    If,
    Literal,
    Name,
    Return,
    Statement,
    TypeName,
    Update,
    Variable,
    While,
)
from porter.syntax.unit import FunctionTree
from porter_triton.lift import templates
from porter_triton.lift.evaluation import COMPARED, Evaluation
from porter_triton.lift.facts import WARP, Facts
from porter_triton.lift.frames import Frame, Held, Pointer, Reference, Threads
from porter_triton.lift.parts import COUNTED, Constant, Parts, UnclearError, further, single, width
from porter_triton.lift.reach import reach
from porter_triton.lift.trees import is_barrier
from porter_triton.lower.types import Arithmetic


class Lockstep(Evaluation):
    """A block that runs statements; raises `UnclearError` for what is not understood."""

    def run(self, statements: Iterable[Statement], threads: Threads) -> None:
        """The statements, by those `threads` that have not returned."""
        for statement in statements:
            left = tuple(t for t in threads if t not in self.frame.returned) if self.frame.returned else threads
            if left:
                self._step(statement, left)

    def _step(self, statement: Statement, threads: Threads) -> None:
        match statement:
            case Block():
                with self._scope():
                    self.run(statement.statements, threads)
            case If() | For() | While():
                self.depth += 1
                with self._scope():
                    self._branch(statement, threads) if isinstance(statement, If) else self._loop(statement, threads)
                self.depth -= 1
            case Return():
                values = {} if statement.value is None else self.together(statement.value, threads)
                self.frame.returned |= {t: self.typed(values.get(t), self.frame.returns) for t in threads}
            case Declare():
                for variable in statement.variables:
                    self._declare(variable, threads)
            case Evaluate():
                self._evaluate(statement.expression, threads)
            case _ if not is_barrier(statement):
                raise UnclearError

    def _declare(self, variable: Variable, threads: Threads) -> None:
        name, kind = variable.name, variable.type
        if variable.extents or variable.storage:
            values: dict[int, Held] = self._reserved(variable, threads)
            kind = replace(kind, reference=not variable.extents)
        else:
            given = {} if variable.value is None else self.together(variable.value, threads)
            values = {t: self.typed(v, kind) for t, v in given.items()}
        self.frame.types[name], self.frame.variables[name] = kind, values

    def _reserved(self, variable: Variable, threads: Threads) -> dict[int, Held]:
        """Returns where an array lies, or a variable that all threads share."""
        extents = [self.value(e, threads[0]) for e in variable.extents if e is not None]
        rows = tuple(e for e in extents if isinstance(e, int))
        if variable.storage not in {"", "shared"} or len(rows) != len(variable.extents):
            raise UnclearError
        if variable.storage:
            return dict.fromkeys(range(self.threads), self.reserved(variable, rows[1:]))
        return {t: self.reserved(variable, rows[1:]) for t in threads}

    def reserved(self, variable: Variable, rows: tuple[int, ...]) -> Pointer:
        """A new array, of which nothing is known."""
        array = f"{variable.name}:{len(self.arrays)}"
        self.arrays[array] = {}
        return Pointer(array, 0, rows, TypeName(variable.type.name))

    @contextmanager
    def _scope(self) -> Iterator[None]:
        """What is declared inside hides what was called so."""
        frame = self.frame
        variables, types = dict(frame.variables), dict(frame.types)
        yield
        frame.variables, frame.types = variables, types

    def _branch(self, node: If, threads: Threads) -> None:
        data, test = self._by_data(node), node.condition
        if data is not None and isinstance(test, Binary) and isinstance(self.value(test.left, threads[0]), Parts):
            self._evaluate(data, threads)
            return
        taken = tuple(t for t in threads if self.truth(node.condition, t))
        self._step(node.yes, taken) if taken else None
        others = tuple(t for t in threads if t not in set(taken))
        if node.no is not None and others:
            self._step(node.no, others)

    def _by_data(self, node: If) -> Assign | None:
        """`if (a < b) a = b;` as `a = a < b ? b : a`."""
        inner = [s for s in node.yes.statements if not is_barrier(s)]
        made = inner[0].expression if len(inner) == 1 and isinstance(inner[0], Evaluate) else None
        compares = isinstance(node.condition, Binary) and node.condition.operator in COMPARED
        if node.no is not None or not compares or not isinstance(made, Assign) or made.operator:
            return None
        return Assign("", made.target, Choice(node.condition, made.value, made.target))

    def _loop(self, node: For | While, threads: Threads) -> None:
        if isinstance(node, For):
            self.run(node.start, threads)
        elif node.first:
            raise UnclearError
        while threads := tuple(t for t in threads if node.condition is None or self.truth(node.condition, t)):
            self._step(node.body, threads)
            threads = tuple(t for t in threads if t not in self.frame.returned)
            if isinstance(node, For) and node.step is not None and threads:
                self._evaluate(node.step, threads)

    def _evaluate(self, node: Expression, threads: Threads) -> None:
        if isinstance(node, Update):
            node = Assign(node.operator[0], node.operand, Literal(1, "int"))
        if isinstance(node, Assign):
            value = Binary(node.operator, node.target, node.value) if node.operator else node.value
            made = self.together(value, threads)
            for t in threads:
                self._store(node.target, t, made[t])
        elif not isinstance(node, Call):
            raise UnclearError
        elif not is_barrier(Evaluate(node)):
            self.together(node, threads)

    def together(self, node: Expression, threads: Threads) -> dict[int, Held]:
        """The value of an expression in each thread; a function of the source is run by all of them at once."""
        if isinstance(node, Assign):
            self._evaluate(node, threads)
            return self.together(node.target, threads)
        if isinstance(node, Call) and (function := self.function(node, threads)) is not None:
            return self.call(function, node, threads)
        if isinstance(node, Call) and isinstance(node.callee, Name) and node.callee.name.startswith("porter::warp_"):
            return self.of_lanes(node, threads)
        return {t: self.value(node, t) for t in threads}

    def call(
        self, function: FunctionTree, node: Call | None, threads: Threads, values: tuple[dict[int, Held], ...] = ()
    ) -> dict[int, Held]:
        """The function, run by all of the threads at once."""
        if node is not None and (word := self._among_lanes(function, node, threads)) is not None:
            return self.combined(*word, node.arguments[0], threads)
        outer = self.frame
        numbers = templates.bound(outer.facts, node, function) if node is not None else ()
        facts = self.known.setdefault(
            (id(function), numbers), Facts(outer.facts.unit, function, (self.threads, 1, 1), numbers)
        )
        inner = Frame(facts, function.returns)
        for k, parameter in enumerate(function.parameters):
            if node is None:
                given = values[k]
            elif parameter.type.reference and not parameter.type.const:
                given = {t: self.address(node.arguments[k], t) for t in threads}
            else:
                given = self.together(node.arguments[k], threads)
            inner.types[parameter.name] = parameter.type
            inner.variables[parameter.name] = {t: self.typed(v, parameter.type) for t, v in given.items()}
        self.frame = inner
        self.run(function.body.statements, threads)
        self.frame = outer
        return {t: value for t, value in inner.returned.items() if value is not None}

    def _among_lanes(self, function: FunctionTree, node: Call, threads: Threads) -> tuple[str, int] | None:
        """The operation, and of how many lanes, where a function only reduces its argument so: one warp tells it."""
        facts = self.frame.facts
        if len(function.parameters) != 1 or not reach(facts.unit, function, facts.told).among_lanes:
            return None
        type_ = self.type_of(node.arguments[0], threads)
        key = ("lanes", function.file, function.head.span, templates.bound(facts, node, function), type_)
        if key not in facts.told:
            facts.told[key] = None
            facts.told[key] = _word(facts, node, type_)
        return facts.told[key]  # type: ignore[return-value]

    def _store(self, target: Expression, thread: int, value: Held) -> None:
        place = self.address(target, thread)
        if isinstance(place, Reference):
            place.frame.variables[place.name][thread] = self.typed(value, place.frame.types[place.name])
        elif not place.rows and isinstance(value, int | float | Constant | Parts):
            self.arrays[place.array][place.offset] = self.typed(value, place.type)  # type: ignore[assignment]
        else:
            raise UnclearError


def _word(facts: Facts, node: Call, type_: Arithmetic | None) -> tuple[str, int] | None:
    """The reduction over lanes that a call of a function is for any value of the type."""
    lanes = Name("value of a lane")
    frame = Frame(facts, TypeName("void"), types={lanes.name: TypeName("auto")})
    frame.variables[lanes.name] = {t: single(lanes.name, t, type_) for t in range(WARP)}
    try:
        made = Lockstep(WARP, frame).together(replace(node, arguments=(lanes,)), tuple(range(WARP)))
    except UnclearError:
        return None
    first = made.get(0)
    size = width(first) if isinstance(first, Parts) and not first.constants else 0
    if not isinstance(first, Parts) or first.operation not in COUNTED or size & (size - 1) or size < 2:
        return None
    return (first.operation, size) if all(made[t] == further(first, t - t % size) for t in made) else None


def block_of(facts: Facts, threads: int) -> Lockstep:
    """A block of so many threads, whose shared arrays hold nothing yet."""
    frame = Frame(replace(facts, block=(threads, 1, 1)), TypeName("void"), outer=True)
    machine = Lockstep(threads, frame)
    for name, array in facts.shared.items():
        declared = facts.declared[name]
        rows = tuple(facts.value(e) for e in declared.extents[1:])
        place = Pointer(array, 0, tuple(e for e in rows if e is not None), TypeName(declared.type.name))
        if len(place.rows) == len(rows):
            frame.types[name] = TypeName("void", reference=name == array and not declared.extents)
            frame.variables[name] = dict.fromkeys(range(threads), place)
            machine.arrays[array] = {}
    return machine
