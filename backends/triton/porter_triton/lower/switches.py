"""`switch` as a chain of ifs."""

from __future__ import annotations

from porter.syntax.nodes import Binary, Block, Break, Case, Expression, If, Name, Statement, Switch
from porter_triton.lower import expressions, leaving, statements
from porter_triton.lower.context import Context
from porter_triton.lower.flow import always_leaves

_SWITCHED = "switch value"


def switch(cx: Context, node: Switch) -> None:
    """A chain of ifs; a case that falls through goes on with the next one's body."""
    with cx.scope():
        value = cx.temporary(expressions.scalar(cx, node.value), "case")
        cx.unchanged.add(value.text)
        cx.bind(_SWITCHED, value)
        leaving.push_target(cx, "break", node=node)
        try:
            statements.run(cx, cx.rewritten(node, lambda: _chain(node, node.cases)))
        finally:
            cx.targets.pop()


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
