"""Loops of a few turns that end by a test besides: `for (int i = 0; i < 4 && more; ++i)`.

They count like any other once that test is the first thing of the body, `if (!more) break;`, and are then written out,
so that what they index stays in registers; where no later turn passes the test either they need not be left at all.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from porter.syntax.nodes import Binary, Block, Break, Expression, For, If, Statement, Unary
from porter.syntax.terms import conjuncts
from porter_triton.lift.facts import Facts
from porter_triton.lift.monotonic import computes, ends_for_good, few_turns
from porter_triton.lift.trees import bare

_MOST_LEFT = 8  # turns of a loop that is left in the middle: more are lowered as they stand


def bounded(facts: Facts, statement: Statement) -> Statement | None:
    """The loop with the test of its counter alone, and the others in its body; None where it is no such loop.

    What is asked before that test is not asked once more behind the last turn, so it may only compute.
    """
    tests = conjuncts(bare(statement.condition)) if isinstance(statement, For) else []
    for at, test in enumerate(tests if len(tests) > 1 else []):
        assert isinstance(statement, For)
        loop = replace(statement, condition=test)
        turns = few_turns(facts, loop)
        if turns is not None:
            new = _left(loop, tests[:at] + tests[at + 1 :])
            return new if len(turns[1]) <= _MOST_LEFT or ends_for_good(facts, new) else None
        if not computes(test):
            return None
    return None


def _left(loop: For, tests: list[Expression]) -> For:
    """The loop, left where not all `tests` hold."""
    others = reduce(lambda left, right: Binary("&&", left, right, loop.line), tests)
    leave = If(Unary("!", others, loop.line), Block((Break(loop.line),), loop.line), None, line=loop.line)
    return replace(loop, body=replace(loop.body, statements=(leave, *loop.body.statements)))
