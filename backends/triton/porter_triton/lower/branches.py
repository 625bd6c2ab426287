"""`if`, and statements after one that may leave: for all threads Python's, else each side under its mask."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from porter.syntax.nodes import Block, Expression, If, Statement
from porter_triton.lower import access, conditions, expressions, joined, leaving, statements
from porter_triton.lower.context import Context, Target
from porter_triton.lower.emit import Branch, Leave, Suite
from porter_triton.lower.flow import always_leaves, leaves
from porter_triton.lower.values import Scalar, negation

Action = Callable[[], None]


def leaving_branch(cx: Context, node: If, rest: Sequence[Statement]) -> bool:
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
            statements.run(cx, rest)
            return True
        resume = max(leaving.target_of(cx, way, node.line).depth for way in ways)
        left, stays = (no, node.yes) if swapped else (node.yes, no)

        def onward() -> None:
            statements.block(cx, stays)
            statements.run(cx, rest)

        chosen = negation(condition) if swapped else condition
        branch(cx, chosen, lambda: statements.block(cx, left), onward, resume_no=resume)
    return True


def _plain_return(cx: Context, condition: Scalar, ways: frozenset[str]) -> bool:
    """Returns whether Triton's own `return` will do: for all threads, in no loop and no function written out."""
    uniform = not condition.varying and condition.constant is None
    return uniform and ways == {"return"} and cx.python_depth == 0 and cx.targets[-1].kernel


def _return_if(cx: Context, node: If, condition: Scalar, swapped: bool) -> None:
    yes, no = Suite(), Suite()
    with cx.into(yes):
        statements.block(cx, node.yes)
    with cx.into(no):
        if node.no is not None:
            statements.block(cx, node.no)
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
        begin = len(cx.suite.nodes)
        with cx.only(yes_mask, resume_yes):
            yes()
        middle = len(cx.suite.nodes)
        with cx.only(no_mask, resume_no):
            no()
        joined.join(cx, condition, (yes_mask, no_mask), begin, middle)
    else:
        _either(cx, condition, yes, no)


def _either(cx: Context, condition: Scalar, yes: Action, no: Action) -> None:
    """Python's `if`: what one side has assigned or stored, the other has not."""
    first, second = Suite(), Suite()
    mark, pending = len(cx.settled), cx.pending
    with cx.into(first):
        yes()
    after_first, cx.pending = cx.pending, pending
    settled = cx.settled[mark:]
    for variable in settled:
        variable.fresh = True
    with cx.into(second):
        no()
    cx.pending |= after_first
    for variable in settled:
        variable.fresh = False
    cx.suite.nodes.append(Branch(condition.text, negation(condition).text, first, second))


def guarded(cx: Context, ways: frozenset[str], rest: Action) -> None:
    """`rest` where none of the flags is set that `ways` may have set."""
    targets = {id(t): t for t in (leaving.target_of(cx, way, 0) for way in sorted(ways))}

    def nest(remaining: list[Target]) -> None:
        if not remaining:
            rest()
            return
        flag = access.read(remaining[0].flag)
        branch(cx, negation(flag), lambda: nest(remaining[1:]), lambda: None, resume_yes=remaining[0].depth)

    nest(list(targets.values()))


def if_(cx: Context, node: If) -> None:
    """An `if` none of whose sides leaves."""
    split = conditions.known_part(cx, node.condition)
    if split is not None:
        node = cx.rewritten(node, lambda: _nested(node, split))
    with cx.scope():
        condition = expressions.truth(cx, node.condition)
        no = node.no if node.no is not None else Block(())
        branch(cx, condition, lambda: statements.block(cx, node.yes), lambda: statements.block(cx, no))


def _nested(node: If, condition: tuple[Expression, Expression]) -> If:
    """`if (a && b)` as `if (a) if (b)`."""
    inner = If(condition[1], node.yes, node.no, node.constexpr, node.line)
    return If(condition[0], Block((inner,), node.line), node.no, node.constexpr, node.line)
