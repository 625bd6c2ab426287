"""Statements, and what leaves them early.

`break`, `continue` and an early `return` are variables that say that they were taken. What follows in the same list is
the other side of the `if` in which control leaves; what follows deeper constructs stands under a test of the variables.
So the IR has no operation that leaves a region, and a thread that has left runs nothing more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from porter.ir.simt.builder import (
    access,
    arithmetic,
    assignments,
    declarations,
    expressions,
    inline_ptx,
    loops,
    range_loops,
)
from porter.ir.simt.builder.state import Builder, Target
from porter.ir.simt.builder.values import Nothing, Number, RValue, Slot
from porter.ir.simt.types import Scalar
from porter.syntax.nodes import (
    Alias,
    Asm,
    Block,
    Break,
    Case,
    Continue,
    Declare,
    Evaluate,
    Expression,
    For,
    ForEach,
    If,
    Return,
    Skipped,
    Statement,
    Switch,
    Unread,
    While,
)


def run(b: Builder, nodes: Sequence[Statement]) -> None:
    """Builds statements in order."""
    for number, node in enumerate(nodes):
        rest = nodes[number + 1 :]
        with b.at(node.line):
            if isinstance(node, If) and rest and (always_leaves(node.yes) or (node.no and always_leaves(node.no))):
                _branch(b, node, rest)
                return
            _statement(b, node)
        flags = flags_of(b, leaves(node)) if rest else []
        if flags:
            guarded(b, flags, lambda rest=rest: run(b, rest))  # type: ignore[misc]
            return


def block(b: Builder, node: Block) -> None:
    """Builds a block in a scope of its own, whose variables end with it."""
    before = frozenset(b.held)
    with b.scope():
        run(b, node.statements)
    for slot in [slot for slot in b.held if slot not in before]:
        del b.held[slot]


def _statement(b: Builder, node: Statement) -> None:  # noqa: PLR0912 - a row for each kind of statement
    match node:
        case Declare():
            declarations.declare(b, node)
        case Evaluate(expression):
            expressions.value(b, expression)
        case Block():
            block(b, node)
        case If():
            _branch(b, node, ())
        case For():
            loops.for_loop(b, node)
        case While():
            loops.while_loop(b, node)
        case Switch():
            _switch(b, node)
        case Return(value):
            _return(b, value)
        case Break():
            _leave(b, "break")
        case Continue():
            _leave(b, "continue")
        case Alias():
            declarations.alias(b, node)
        case Skipped():
            pass
        case Unread(_, reason):
            raise b.problem(f"text that is not read: {reason}", node.line)
        case Asm():
            inline_ptx.statement(b, node)
        case ForEach():
            range_loops.each(b, node)
        case _:
            raise b.problem(_NAMES.get(type(node).__name__, type(node).__name__.lower()), node.line)


_NAMES = {"Throw": "an exception"}


def _branch(b: Builder, node: If, rest: Sequence[Statement]) -> None:
    """An `if`, with what follows it on the sides that get there."""
    decision = expressions.condition(b, node.condition)
    known = b.emitter.known(decision.value)

    def side(taken: Block | None) -> None:
        if taken is not None:
            block(b, taken)
        if rest and not (taken is not None and always_leaves(taken)):
            flags = flags_of(b, leaves(taken)) if taken is not None else []
            if flags:
                guarded(b, flags, lambda: run(b, rest))
            else:
                run(b, rest)

    if known is not None:
        side(node.yes if known else node.no)
        return
    scoped = frozenset(b.held)
    if rest and node.no is None and always_leaves(node.yes) and _leaves_at_once(node.yes):
        decision = arithmetic.negated(b, decision)
        choose(b, decision, lambda: side(None), lambda: block(b, node.yes))
    else:
        choose(b, decision, lambda: side(node.yes), lambda: side(node.no))
    for slot in [slot for slot in b.held if slot not in scoped]:
        del b.held[slot]


def _leaves_at_once(node: Block) -> bool:
    return len(node.statements) == 1


def choose(b: Builder, decision: Number, yes: Callable[[], None], no: Callable[[], None]) -> None:
    """Builds two sides, of which each thread takes one."""

    def valued(side: Callable[[], None]) -> Callable[[], RValue]:
        def built() -> RValue:
            with b.scope():
                side()
            return Nothing()

        return built

    assignments.chosen(b, decision, valued(yes), valued(no))


def guarded(b: Builder, flags: Sequence[Slot], rest: Callable[[], None]) -> None:
    """Builds what only threads do that have not left."""
    left = any_of(b, flags)
    known = b.emitter.known(left.value)
    if known is None:
        choose(b, arithmetic.negated(b, left), rest, lambda: None)
    elif not known:
        rest()


def any_of(b: Builder, flags: Sequence[Slot]) -> Number:
    """Returns whether one of the variables is true."""
    held = [access.load(b, flag) for flag in flags]
    found = held[0]
    assert isinstance(found, Number)
    for one in held[1:]:
        assert isinstance(one, Number)
        found = Number(b.emitter.emit("or", (found.value, one.value), Scalar.BOOL), Scalar.BOOL)
    return found


def flags_of(b: Builder, kinds: frozenset[str]) -> list[Slot]:
    """The variables that say whether a thread has left by one of `kinds`."""
    found: dict[Slot, None] = {}
    for kind in sorted(kinds):
        for target in reversed(b.targets):
            if kind in target.kinds:
                found[target.flag] = None
                break
    return list(found)


def _leave(b: Builder, kind: str) -> None:
    for target in reversed(b.targets):
        if kind in target.kinds:
            b.held[target.flag] = b.emitter.constant(True, Scalar.BOOL)
            return
    raise b.problem(f"'{kind}' without anything around it that it leaves")


def _return(b: Builder, value: Expression | None) -> None:
    target = next((t for t in reversed(b.targets) if "return" in t.kinds), None)
    if target is None:
        raise b.problem("'return' in a place that it does not leave")
    if value is not None and target.result is not None:
        type_ = access.place_type(target.result)
        assert type_ is not None
        access.store(b, target.result, declarations.initial(b, type_, value, getattr(value, "line", 0)))
    elif value is not None:
        expressions.value(b, value)
    b.held[target.flag] = b.emitter.constant(True, Scalar.BOOL)


def always_leaves(node: Statement | None) -> bool:
    """Returns whether nothing that follows `node` in its list is ever executed."""
    match node:
        case Return() | Break() | Continue():
            return True
        case Block(statements):
            return any(always_leaves(inner) for inner in statements)
        case If(yes=yes, no=no):
            return no is not None and always_leaves(yes) and always_leaves(no)
    return False


def leaves(node: Statement | None) -> frozenset[str]:
    """The ways in which control may leave `node` for something around it."""
    return frozenset(_leaves(node))


def _leaves(node: Statement | None) -> Iterator[str]:
    match node:
        case Return():
            yield "return"
        case Break():
            yield "break"
        case Continue():
            yield "continue"
        case Block(statements):
            for inner in statements:
                yield from _leaves(inner)
        case If(yes=yes, no=no):
            yield from _leaves(yes)
            yield from _leaves(no)
        case For(body=body) | While(body=body):
            yield from (kind for kind in _leaves(body) if kind == "return")
        case Switch(cases=cases):
            for case in cases:
                yield from (kind for kind in _leaves(case.body) if kind != "break")


def _switch(b: Builder, node: Switch) -> None:
    """A chain of tests. A case that falls through goes on with the next one's statements."""
    value = expressions.number(b, node.value)
    flag = Slot("left", Scalar.BOOL)
    b.held[flag] = b.emitter.constant(False, Scalar.BOOL)
    b.targets.append(Target(frozenset({"break"}), flag))
    _cases(b, value, node.cases)
    b.targets.pop()
    b.held.pop(flag, None)


def _cases(b: Builder, value: Number, cases: Sequence[Case]) -> None:
    order = [case for case in cases if not case.default] + [case for case in cases if case.default]

    def body(case: Case) -> tuple[Statement, ...]:
        following = cases[list(cases).index(case) :]
        found: list[Statement] = []
        for one in following:
            found += one.body.statements
            if always_leaves(one.body):
                break
        return tuple(found)

    def chain(number: int) -> None:
        if number == len(order):
            return
        case = order[number]
        statements_ = body(case)
        if statements_ and isinstance(statements_[-1], Break):
            statements_ = statements_[:-1]
        if case.default:
            block(b, Block(statements_, case.line))
            return
        tests = [arithmetic.binary(b, "==", value, expressions.number(b, label)) for label in case.values]
        decision = tests[0]
        for test in tests[1:]:
            decision = Number(b.emitter.emit("or", (decision.value, test.value), Scalar.BOOL), Scalar.BOOL)
        known = b.emitter.known(decision.value)
        if known is not None:
            block(b, Block(statements_, case.line)) if known else chain(number + 1)
            return
        choose(b, decision, lambda: block(b, Block(statements_, case.line)), lambda: chain(number + 1))

    chain(0)
