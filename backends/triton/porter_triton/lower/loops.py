"""Loops: those that count (`ranges`), and `while` for all threads together or as long as one goes on."""

from __future__ import annotations

from porter.syntax.nodes import Block, Declare, Evaluate, For, While
from porter.syntax.unit import Unit
from porter.syntax.walk import walk
from porter_triton.lower import (
    access,
    beginnings,
    branches,
    counting,
    expressions,
    leaving,
    ranges,
    statements,
    turns,
    variables,
)
from porter_triton.lower.assigned import assigned_names
from porter_triton.lower.comparisons import disjunction
from porter_triton.lower.context import Context
from porter_triton.lower.counting import Counted
from porter_triton.lower.decisions import FewTurns
from porter_triton.lower.emit import Branch, Line, Loop, Suite
from porter_triton.lower.flow import leaves
from porter_triton.lower.places import Variable
from porter_triton.lower.turns import Turns
from porter_triton.lower.types import BOOL, INT
from porter_triton.lower.values import Scalar, both, negation, number


def for_(cx: Context, node: For) -> None:
    """A `for` loop."""
    with cx.scope():
        counted = counting.counted(cx, node)
        if counted is not None:
            ranges.counted_loop(cx, node, counted)
            return
        for start in node.start:
            statements.statement(cx, start)
        _general(cx, node)


def while_(cx: Context, node: While) -> None:
    """A `while` or `do` loop."""
    with cx.scope():
        _general(cx, node)


def from_start(cx: Context, node: For, counted: Counted, *, few: bool) -> None:
    """The loop as `while`, its start evaluated already; `few`: it may be written out if registers are indexed by it."""
    variable = variables.declare(
        cx, counted.name, counted.type, counted.declared, counted.start, stable=False, line=node.line
    )
    cx.bind(counted.name, variable)
    if few:
        counter = variable.name if isinstance(variable, Variable) else ""
        cx.loops.append(FewTurns(counter, cx.key(node), early=True))
    _general(cx, node)
    if few:
        cx.loops.pop()


def enter(cx: Context) -> None:
    """What has not been assigned may have been, the second time round."""
    for variable in cx.fresh:
        variable.fresh = False
    cx.fresh.clear()


def body(cx: Context, node: For | While) -> None:
    """The statements that are repeated; `continue` leaves them."""
    carries = bool(cx.told(node.body, _carried))
    cx.carrying += carries
    with cx.scope():
        leaving.push_target(cx, "continue", node=node)
        statements.run(cx, node.body.statements)
        cx.targets.pop()
    cx.carrying -= carries


def _carried(unit: Unit, repeated: Block) -> frozenset[str]:
    """The variables that one turn changes and the next one finds."""
    own = {v.name for node in walk(repeated) if isinstance(node, Declare) for v in node.variables}
    return assigned_names(unit, repeated) - own


def _general(cx: Context, node: For | While) -> None:
    """`while`: for all threads together, or as long as some thread goes on."""
    key = cx.key(node, "going")
    divergent = key in cx.decisions.varying
    leaving.push_target(cx, "break", node=node)
    flags = leaving.flags(cx, leaves(node.body) - {"continue"}, node.line)
    enter(cx)
    mark = len(cx.suite.nodes)
    first = isinstance(node, While) and node.first
    begin = number(1, BOOL) if first else _test(cx, node)
    simple = not flags and not first and len(cx.suite.nodes) == mark and not divergent and begin.constant is None
    name = "" if simple else cx.names.declare("going", (BOOL, divergent))
    going = Variable(name, BOOL, key, cx.depth - 1, divergent, fresh=False)
    _start(cx, going, begin, simple)
    known = turns.turns(cx, node, going) if divergent else None
    inner = Suite()
    with cx.round(cx.key(node, "round")), cx.into(inner):
        if divergent:
            with cx.only(access.read(going), cx.depth):
                body(cx, node)
                _again(cx, node, going, flags, known)
        else:
            body(cx, node)
            _again_together(cx, node, going, flags, simple=simple)
    cx.targets.pop()
    some = f"tl.max({name}.to(tl.int32), axis=0) != 0" if divergent else begin.text if simple else name
    loop = Loop("", some, inner) if known is None else Loop(cx.names.declare("turn", INT), known.header, inner)
    guard = None if divergent or first else beginnings.told(cx, begin.text)
    if guard is None:
        cx.suite.nodes.append(loop)
    elif guard:
        cx.suite.nodes.append(Branch(guard, f"not ({guard})", Suite([loop]), Suite()))


def _test(cx: Context, node: For | While) -> Scalar:
    return number(1, BOOL) if node.condition is None else expressions.truth(cx, node.condition)


def _step(cx: Context, node: For | While) -> None:
    if isinstance(node, For) and node.step is not None:
        statements.statement(cx, Evaluate(node.step, node.line))


def _start(cx: Context, going: Variable, begin: Scalar, simple: bool) -> None:
    whole = begin if cx.mask is None else both(cx.mask, begin)
    if begin.varying:
        cx.decisions.varying.add(going.key)
    if simple:
        return
    if not going.varying:
        whole = begin
    text, level = access.typed(cx, whole, going)
    cx.emit(Line(text, going.name, level=level))


def _again(cx: Context, node: For | While, going: Variable, flags: list[Variable], known: Turns | None) -> None:
    """The step and the test, in the lanes that have not left."""
    stays = number(1, BOOL)
    for flag in flags:
        stays = both(stays, negation(access.read(flag)))
    with cx.where(stays, cx.depth):
        _step(cx, node)
        again = known.again(cx, node.line) if known is not None else _test(cx, node)
        assert cx.mask is not None
        whole = both(cx.mask, again)
        cx.emit(Line(whole.text, going.name, level=whole.level))


def _again_together(cx: Context, node: For | While, going: Variable, flags: list[Variable], *, simple: bool) -> None:
    """The step and the test where all threads count alike; `simple`: the test is that of Python's `while`."""
    if any(flag.varying for flag in flags):
        cx.decisions.varying.add(going.key)
    left = number(0, BOOL)
    for flag in flags:
        left = disjunction(left, access.read(flag))

    def onward() -> None:
        _step(cx, node)
        if not simple:
            again = _test(cx, node)
            if again.varying:
                cx.decisions.varying.add(going.key)
            access.assign(cx, going, again, node.line)

    def stop() -> None:
        access.assign(cx, going, number(0, BOOL), node.line)

    branches.branch(cx, left, stop, onward)
