"""Statements: declarations, branches, and how code that is left early is told to those who come after."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from porter.syntax.nodes import (
    Alias,
    Asm,
    Binary,
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
    Name,
    Return,
    Skipped,
    Statement,
    Switch,
    Throw,
    Unread,
    Update,
    While,
)
from porter_triton.lower import access, conditions, declarations, expressions, loops
from porter_triton.lower.assigned import walk
from porter_triton.lower.context import Context, Target
from porter_triton.lower.emit import Branch, Comment, Leave, Line, Suite
from porter_triton.lower.flow import always_leaves, leaves
from porter_triton.lower.places import Place, Variable
from porter_triton.lower.types import BOOL
from porter_triton.lower.values import AND, OR, Scalar, negation, number
from porter_triton.refusal import Refusal

Action = Callable[[], None]


def block(cx: Context, node: Block) -> None:
    """A block with a scope of its own."""
    with cx.scope():
        run(cx, node.statements)


def run(cx: Context, statements: Sequence[Statement]) -> None:
    """Statements in order; what follows one that may leave runs only in the lanes that have not."""
    for i, node in enumerate(statements):
        rest = statements[i + 1 :]
        ways = leaves(node)
        if isinstance(node, If) and ways and _leaving_branch(cx, node, rest):
            return
        statement(cx, node)
        if always_leaves(node):
            return
        if ways and rest:
            _guarded(cx, ways, rest)
            return


def _leaving_branch(cx: Context, node: If, rest: Sequence[Statement]) -> bool:
    """`if (c) return; rest` is `if (c) return; else rest`: whether `node` has this form and was lowered with `rest`."""
    no = node.no if node.no is not None else Block(())
    if always_leaves(node.yes) and not leaves(no):
        ways, swapped = leaves(node.yes), False
    elif always_leaves(no) and not leaves(node.yes):
        ways, swapped = leaves(no), True
    else:
        return False
    with cx.scope():
        condition = expressions.truth(cx, node.condition)
        if _plain_return(cx, condition, ways):
            _return_if(cx, node, condition, swapped)
            run(cx, rest)
            return True
        resume = max(_target(cx, way, node.line).depth for way in ways)
        left, stays = (no, node.yes) if swapped else (node.yes, no)

        def onward() -> None:
            block(cx, stays)
            run(cx, rest)

        chosen = negation(condition) if swapped else condition
        branch(cx, chosen, lambda: block(cx, left), onward, resume_no=resume)
    return True


def _plain_return(cx: Context, condition: Scalar, ways: frozenset[str]) -> bool:
    """Whether Triton's own `return` will do: for all threads, in no loop and no function written out."""
    uniform = not condition.varying and condition.constant is None
    return uniform and ways == {"return"} and cx.python_depth == 0 and cx.targets[-1].kernel


def _return_if(cx: Context, node: If, condition: Scalar, swapped: bool) -> None:
    yes, no = Suite(), Suite()
    with cx.into(yes):
        block(cx, node.yes)
    with cx.into(no):
        if node.no is not None:
            block(cx, node.no)
    (no if swapped else yes).nodes.append(Leave())
    cx.suite.nodes.append(Branch(condition.text, negation(condition).text, yes, no))


def branch(
    cx: Context,
    condition: Scalar,
    yes: Action,
    no: Action,
    resume_yes: int | None = None,
    *,
    resume_no: int | None = None,
) -> None:
    """Lower both sides of an `if`: as Python's where all threads agree, else each under its mask."""
    if condition.constant is not None:
        (yes if condition.constant else no)()
    elif condition.varying:
        yes_mask, no_mask = cx.narrow(condition), cx.narrow(negation(condition))
        with cx.only(yes_mask, resume_yes):
            yes()
        with cx.only(no_mask, resume_no):
            no()
    else:
        first, second = Suite(), Suite()
        mark, stored = len(cx.settled), set(cx.stored)
        with cx.into(first):
            yes()
        first_stored, cx.stored = cx.stored, stored
        settled = cx.settled[mark:]
        for variable in settled:
            variable.fresh = True
        with cx.into(second):
            no()
        cx.stored |= first_stored
        for variable in settled:
            variable.fresh = False
        cx.suite.nodes.append(Branch(condition.text, negation(condition).text, first, second))


def _guarded(cx: Context, ways: frozenset[str], rest: Sequence[Statement]) -> None:
    """`rest` where none of the flags is set that `ways` may have set."""
    targets = {id(t): t for t in (_target(cx, way, 0) for way in sorted(ways))}

    def nest(remaining: list[Target]) -> None:
        if not remaining:
            run(cx, rest)
            return
        flag = access.read(remaining[0].flag)
        branch(cx, negation(flag), lambda: nest(remaining[1:]), lambda: None, resume_yes=remaining[0].depth)

    nest(list(targets.values()))


def flags(cx: Context, ways: frozenset[str], line: int) -> list[Variable]:
    """The flags that code which leaves in these ways may set."""
    return [_target(cx, way, line).flag for way in sorted(ways)]


def _target(cx: Context, way: str, line: int) -> Target:
    for target in reversed(cx.targets):
        if way in target.kinds:
            return target
        if way != "return" and "return" in target.kinds:
            break
    raise Refusal(line, f"`{way}` with nothing to leave")


def push_target(cx: Context, kind: str, result: Place | None = None, *, node: object, kernel: bool = False) -> Target:
    """Open what `kind` leaves: the innermost scope."""
    key = cx.key(node, kind)
    varying = key in cx.decisions.varying
    name = cx.names.declare({"return": "returned", "break": "broken", "continue": "skipped"}[kind], (BOOL, varying))
    flag = Variable(name, BOOL, key, cx.depth - 1, varying, fresh=False)
    text, level = access.typed(cx, number(0, BOOL), flag)
    cx.emit(Line(text, name, level=level))
    target = Target(frozenset({kind}), cx.depth, flag, result, kernel)
    cx.targets.append(target)
    return target


def leave(cx: Context, way: str, line: int) -> None:
    """Set the flag of the lanes that run."""
    flag = _target(cx, way, line).flag
    mask = cx.mask_for(flag.depth)
    if mask is None:
        access.assign(cx, flag, number(1, BOOL), line)
        return
    if mask.varying and not flag.varying:
        cx.decisions.varying.add(flag.key)
    cx.emit(Line(f"{flag.name} | {mask.within(AND)}", flag.name, level=OR))


def statement(cx: Context, node: Statement) -> None:
    """One statement."""
    handler = _STATEMENTS.get(type(node))
    if handler is None:
        raise Refusal(node.line, f"a statement of this kind ({type(node).__name__})")
    _comment(cx, node)
    handler(cx, node)


def _comment(cx: Context, node: Statement) -> None:
    """Say which lines of the source come next: those of a loop, or of the statements up to one."""
    if cx.python_depth or cx.calls or not node.line or isinstance(node, If | Block | Skipped):
        return
    lines = [line for n in walk(node) if (line := getattr(n, "line", 0))]
    cx.suite.nodes.append(Comment(node.line, max(lines), isinstance(node, For | While | Switch)))


def _evaluate(cx: Context, node: Evaluate) -> None:
    expression = node.expression
    if isinstance(expression, Update) and not expression.prefix:
        expression = replace(expression, prefix=True)  # nobody asks for the old value
    cx.discarded = expression
    expressions.value(cx, expression)


def _if(cx: Context, node: If) -> None:
    split = conditions.known_part(cx, node.condition)
    if split is not None:
        node = cx.rewritten(node, lambda: _nested(node, split))
    with cx.scope():
        condition = expressions.truth(cx, node.condition)
        no = node.no
        branch(cx, condition, lambda: block(cx, node.yes), lambda: block(cx, no) if no is not None else None)


def _nested(node: If, condition: tuple[Expression, Expression]) -> If:
    """`if (a && b)` as `if (a) if (b)`."""
    inner = If(condition[1], node.yes, node.no, node.constexpr, node.line)
    return If(condition[0], Block((inner,), node.line), node.no, node.constexpr, node.line)


def _return(cx: Context, node: Return) -> None:
    target = _target(cx, "return", node.line)
    if node.value is not None:
        if target.result is None:
            expressions.value(cx, node.value)
        else:
            type_ = access.place_type(target.result)
            assert type_ is not None
            access.store(cx, target.result, declarations.initial(cx, type_, node.value, node.line), node.line)
    leave(cx, "return", node.line)


def _switch(cx: Context, node: Switch) -> None:
    """A chain of ifs; a case that falls through goes on with the next one's body."""
    with cx.scope():
        value = cx.temporary(expressions.scalar(cx, node.value), "case")
        cx.unchanged.add(value.text)
        cx.bind(_SWITCHED, value)
        push_target(cx, "break", node=node)
        try:
            run(cx, cx.rewritten(node, lambda: _chain(node, node.cases)))
        finally:
            cx.targets.pop()


_SWITCHED = "switch value"


def _chain(node: Switch, cases: tuple[Case, ...]) -> tuple[Statement, ...]:
    tests: list[tuple[Expression | None, Block]] = []
    for i, case in enumerate(cases):
        body: tuple[Statement, ...] = ()
        for following in cases[i:]:
            body += following.body.statements
            if always_leaves(following.body):
                break
        if body and isinstance(body[-1], Break):
            body = body[:-1]
        tests.append((None if case.default else _any_of(case.values, case.line), Block(body, case.line)))
    tests.sort(key=lambda t: t[0] is None)
    chain: Block | None = None
    for test, body_block in reversed(tests):
        chain = body_block if test is None else Block((If(test, body_block, chain, line=node.line),), node.line)
    return chain.statements if chain is not None else ()


def _any_of(values: tuple[Expression, ...], line: int) -> Expression:
    tests = [Binary("==", Name(_SWITCHED, line=line), value, line) for value in values]
    test: Expression = tests[0]
    for other in tests[1:]:
        test = Binary("||", test, other, line)
    return test


def _refused(_: Context, node: Statement) -> None:
    reason = {Throw: "an exception is thrown", Asm: "inline PTX", ForEach: "a loop over a range"}.get(type(node), "")
    if isinstance(node, Unread):
        reason = f"not understood ({node.reason}): {node.text}"
    raise Refusal(node.line, reason)


def _nothing(cx: Context, node: Statement) -> None:
    """No statement of Triton."""


def _declare(cx: Context, node: Declare) -> None:
    declarations.declare(cx, node)


def _alias(cx: Context, node: Alias) -> None:
    declarations.alias(cx, node)


def _for(cx: Context, node: For) -> None:
    loops.for_(cx, node)


def _while(cx: Context, node: While) -> None:
    loops.while_(cx, node)


_STATEMENTS: dict[type, Callable[..., None]] = {
    Declare: _declare,
    Alias: _alias,
    Evaluate: _evaluate,
    Block: block,
    If: _if,
    For: _for,
    While: _while,
    Switch: _switch,
    Return: _return,
    Break: lambda cx, node: leave(cx, "break", node.line),
    Continue: lambda cx, node: leave(cx, "continue", node.line),
    Skipped: _nothing,
    Throw: _refused,
    Asm: _refused,
    ForEach: _refused,
    Unread: _refused,
}
