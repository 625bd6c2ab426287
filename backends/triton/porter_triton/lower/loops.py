"""Loops: Triton's `for` where all threads count alike, a mask on one where each starts elsewhere, else `while`."""

from __future__ import annotations

from dataclasses import dataclass, replace

from porter.syntax.nodes import (
    Assign,
    Binary,
    Block,
    Call,
    Declare,
    Evaluate,
    Expression,
    For,
    Literal,
    Member,
    Name,
    Subscript,
    Unary,
    Update,
    While,
)
from porter.syntax.nodes import Variable as Declared
from porter_triton.device.functions import functions
from porter_triton.lower import access, coordinates, expressions, resolve, statements
from porter_triton.lower.arithmetic import binary
from porter_triton.lower.assigned import walk
from porter_triton.lower.comparisons import compare, disjunction
from porter_triton.lower.context import Context
from porter_triton.lower.conversions import convert, settled
from porter_triton.lower.emit import Line, Loop, Suite
from porter_triton.lower.flow import leaves
from porter_triton.lower.places import Held, Variable
from porter_triton.lower.types import BOOL, INT, LONG, UINT, ULONG, Arithmetic
from porter_triton.lower.values import ATOM, Group, Scalar, both, negation, number
from porter_triton.refusal import Refusal

_MOST_TRIPS = 64  # of a loop that is written out
_MOST_COPIES = 512  # of the innermost body of loops that are


@dataclass(frozen=True, slots=True)
class Counted:
    """`for (T name = start; name < bound; name += step)`, whose body leaves `name` alone."""

    name: str
    declared: object
    type: Arithmetic
    start: Scalar
    operator: str
    bound: Expression
    step: Expression
    sign: str


def for_(cx: Context, node: For) -> None:
    """A `for` loop."""
    with cx.scope():
        counted = _counted(cx, node)
        if counted is not None and _counted_loop(cx, node, counted):
            return
        for start in node.start:
            statements.statement(cx, start)
        _general(cx, node, node.condition, node.body, node.step, first=False)


def while_(cx: Context, node: While) -> None:
    """A `while` or `do` loop."""
    with cx.scope():
        _general(cx, node, node.condition, node.body, None, first=node.first)


def _counted(cx: Context, node: For) -> Counted | None:
    """`node` as a counted loop; its start is evaluated only if it is one."""
    if len(node.start) != 1 or not isinstance(node.start[0], Declare) or len(node.start[0].variables) != 1:
        return None
    variable = node.start[0].variables[0]
    if variable.value is None or variable.extents or variable.type.reference:
        return None
    name, test, step = variable.name, node.condition, _step(variable.name, node.step)
    if not isinstance(test, Binary) or test.operator not in {"<", "<=", ">", ">="} or step is None:
        return None
    left = test.left
    if not isinstance(left, Name) or left.name != name or _mentions(test.right, name) or _mentions(step[1], name):
        return None
    changed = cx.assigned(node.body)
    if name in changed or any(isinstance(n, Name) and n.name in changed for n in walk((test.right, step[1]))):
        return None
    if _reads_memory((test.right, step[1])) and _writes_memory(cx, node.body):
        return None
    if _may_act(cx, test.right) or _may_act(cx, step[1]) or (step[0] == "+") != (test.operator[0] == "<"):
        return None
    type_, start = _begun(cx, node, variable)
    if type_ is None or start is None:
        return None
    return Counted(name, variable, type_, start, test.operator, test.right, step[1], step[0])


def _may_act(cx: Context, node: Expression) -> bool:
    """Whether asking every time round may do something: a call of CUDA's own that computes a number does not."""
    return any(isinstance(n, Assign | Update) or (isinstance(n, Call) and not _computes(cx, n)) for n in walk(node))


def _computes(cx: Context, node: Call) -> bool:
    callee = node.callee
    if isinstance(callee, Name):
        plain = callee.name.rsplit("::", maxsplit=1)[-1]
        return cx.find(callee.name) is None and not cx.unit.named(callee.name) and plain in functions()
    if isinstance(callee, Member) and isinstance(callee.owner, Name):
        owner = cx.find(callee.owner.name)
        return isinstance(owner, Held) and isinstance(owner.value, Group)
    return False


def _reads_memory(node: object) -> bool:
    return any(isinstance(n, Subscript) or (isinstance(n, Unary) and n.operator == "*") for n in walk(node))


def _writes_memory(cx: Context, body: Block) -> bool:
    """Whether a body may change what lies in memory or in an array."""
    for node in walk(body):
        if isinstance(node, Assign) and not isinstance(node.target, Name):
            return True
        if isinstance(node, Update) and not isinstance(node.operand, Name):
            return True
        if isinstance(node, Call) and (not isinstance(node.callee, Name) or cx.unit.named(node.callee.name)):
            return True
        if isinstance(node, Call) and isinstance(node.callee, Name) and "tomic" in node.callee.name:
            return True
    return False


def _begun(cx: Context, node: For, variable: object) -> tuple[Arithmetic | None, Scalar | None]:
    assert isinstance(variable, Declared)
    assert variable.value is not None
    value = expressions.value(cx, variable.value)
    if not isinstance(value, Scalar):
        raise Refusal(node.line, "a loop counts with what is no number")
    type_ = value.type if variable.type.name == "auto" else resolve.type_of(cx, variable.type, node.line)
    if not isinstance(type_, Arithmetic) or type_.is_float or variable.type.pointers:
        return None, None
    return type_, convert(value, type_, node.line)


def _step(name: str, node: Expression | None) -> tuple[str, Expression] | None:
    """The sign and size of the step."""
    if isinstance(node, Update) and isinstance(node.operand, Name) and node.operand.name == name:
        return node.operator[0], Literal(1, "int", node.line)
    if not isinstance(node, Assign) or not isinstance(node.target, Name) or node.target.name != name:
        return None
    if node.operator in {"+", "-"}:
        return node.operator, node.value
    added = node.value
    if node.operator or not isinstance(added, Binary) or added.operator not in {"+", "-"}:
        return None
    own = isinstance(added.left, Name) and added.left.name == name
    return (added.operator, added.right) if own else None


def _mentions(node: Expression, name: str) -> bool:
    return any(isinstance(n, Name) and n.name == name for n in walk(node))


def _counted_loop(cx: Context, node: For, counted: Counted) -> bool:
    """Lower a counted loop; False if it is none that Triton's `for` can be."""
    bound = expressions.scalar(cx, counted.bound)
    step = expressions.scalar(cx, counted.step)
    if counted.sign == "-":
        step = binary("-", number(0), step, node.line)
    trips = _trips(counted, bound, step)
    if trips is not None and len(trips) * cx.copies > _MOST_COPIES:
        trips = None
    if trips is not None and (cx.key(node) in cx.decisions.unrolled or len(trips) <= 1) and not _leaves_loop(node):
        _unrolled(cx, node, counted, trips)
        return True
    if "break" in leaves(node.body) or "return" in leaves(node.body) or bound.varying or step.varying:
        _general_after(cx, node, counted)
        return True
    start = counted.start
    offset = None
    if start.varying:
        split = _split(cx, start)
        if split is None or counted.sign == "-":
            _general_after(cx, node, counted)
            return True
        start, offset = split
    _range(cx, node, counted, start, offset, bound=bound, step=step, few=trips is not None)
    return True


def _leaves_loop(node: For) -> bool:
    return any("break" in leaves(s) for s in node.body.statements)


def _general_after(cx: Context, node: For, counted: Counted) -> None:
    """The loop as `while`, its start evaluated already."""
    variable = access.declare(
        cx, counted.name, counted.type, counted.declared, counted.start, stable=False, line=node.line
    )
    cx.bind(counted.name, variable)
    _general(cx, node, node.condition, node.body, node.step, first=False)


def _trips(counted: Counted, bound: Scalar, step: Scalar) -> range | None:
    """The values of the counter, where all is known and they are few."""
    start, end, by = counted.start.fixed, bound.fixed, step.fixed
    if start is None or end is None or by is None or by == 0:
        return None
    end += {"<=": 1, ">=": -1}.get(counted.operator, 0)
    values = range(start, end, by)
    return values if len(values) <= _MOST_TRIPS else None


def _unrolled(cx: Context, node: For, counted: Counted, trips: range) -> None:
    copies, cx.copies = cx.copies, cx.copies * max(len(trips), 1)
    for value in trips:
        with cx.within(value), cx.scope():
            cx.bind(counted.name, Held(number(value, counted.type)))
            statements.push_target(cx, "continue", node=node)
            statements.run(cx, node.body.statements)
            cx.targets.pop()
    cx.copies = copies


def _split(cx: Context, start: Scalar) -> tuple[Scalar, Scalar] | None:
    """A start that differs between threads, as what all share and what is at least 0 in each."""
    affine = start.affine
    if affine is None or any(c < 0 for _, c in affine.terms):
        return (number(0), start) if start.known_within(0, INT.high) else None
    shared: Scalar | None = None
    for text, coefficient in affine.rest:
        part = Scalar(text, INT, level=0 if "(" not in text or " " in text else ATOM)
        if coefficient != 1:
            part = binary("*", part, number(coefficient), 0)
        shared = part if shared is None else binary("+", shared, part, 0)
    constant = number(affine.offset)
    shared = constant if shared is None else binary("+", shared, constant, 0)
    return shared, coordinates.text_of(cx, affine.terms)


def _range(
    cx: Context,
    node: For,
    counted: Counted,
    start: Scalar,
    offset: Scalar | None,
    *,
    bound: Scalar,
    step: Scalar,
    few: bool,
) -> None:
    """`for name in range(start, bound, step)`; with `offset` each thread starts so much later, under a mask."""
    interval = _counter_interval(counted, start, bound)
    arguments = _range_arguments(counted, start, _limit(counted, bound), step)
    wide = any(a.constant is None and a.type.bits == 64 for a in arguments if isinstance(a.type, Arithmetic))
    carried = INT if not wide else LONG if counted.type is not ULONG else ULONG
    plain = offset is None and wide == (counted.type.bits == 64)
    stem = counted.name if plain else f"{counted.name}_base"
    name = cx.names.declare(stem, (carried, False))
    cx.unchanged.add(name)
    counter = Scalar(name, carried, interval=interval, loose=True)
    body = Suite()
    _enter_loop(cx)
    with cx.into(body), cx.round(cx.key(node, "round")):
        if offset is None:
            if few:
                cx.loops.append((name, cx.key(node)))
            cx.bind(counted.name, Held(_counter(cx, counter, counted.type)))
            _body(cx, node, node.body)
            if few:
                cx.loops.pop()
        else:
            _masked_body(cx, node, counted, counter, offset, bound=bound)
    header = [a.text for a in (arguments[:2] if step.fixed == 1 else arguments)]
    if header[0] == "0" and len(header) == 2:
        header = header[1:]
    cx.suite.nodes.append(Loop(name, f"range({', '.join(header)})", body))


def _range_arguments(counted: Counted, start: Scalar, limit: Scalar, step: Scalar) -> list[Scalar]:
    """What `range` is given: numbers of the counter's type, of 64 bits where unsigned ones could pass 2^31."""
    type_ = counted.type
    wide = isinstance(limit.type, Arithmetic) and limit.type.bits > type_.bits
    arguments = [convert(start, type_), limit if wide else convert(limit, type_), convert(step, type_)]
    return [_ranged(a) for a in arguments]


def _ranged(value: Scalar) -> Scalar:
    value = settled(value)
    if value.type is UINT and value.constant is None and not value.known_within(0, INT.high):
        return convert(value, LONG)
    return value


def _counter(cx: Context, counter: Scalar, type_: Arithmetic) -> Scalar:
    """The counter as a number of its own type."""
    if counter.type == type_:
        return counter
    if type_ is UINT and counter.type is INT:
        return Scalar(counter.text, UINT, held=INT, interval=counter.interval, loose=True)
    value = convert(counter, type_)
    return value if value.level == ATOM else cx.temporary(value)


def _masked_body(cx: Context, node: For, counted: Counted, counter: Scalar, offset: Scalar, *, bound: Scalar) -> None:
    own = convert(binary("+", replace(counter, interval=None), offset, node.line), counted.type)
    own = replace(own, interval=None, loose=False)
    variable = access.declare(
        cx, counted.name, counted.type, counted.declared, own, stable=True, line=node.line, part="own"
    )
    cx.bind(counted.name, variable)
    value = access.scalar(access.load(cx, variable, node.line), node.line)
    with cx.where(compare(counted.operator, value, bound, node.line), cx.depth):
        _body(cx, node, node.body)


def _limit(counted: Counted, bound: Scalar) -> Scalar:
    if counted.operator == "<=":
        return binary("+", bound, number(1), 0)
    if counted.operator == ">=":
        return binary("-", bound, number(1), 0)
    return bound


def _counter_interval(counted: Counted, start: Scalar, bound: Scalar) -> tuple[int, int] | None:
    if start.interval is None:
        return None
    low, high = start.interval[0], counted.type.high
    if counted.sign == "-":
        end = bound.interval[0] if bound.interval is not None else counted.type.low
        return (end, start.interval[1])
    if bound.interval is not None:
        high = bound.interval[1] - (counted.operator == "<")
    return (low, max(high, low))


def _enter_loop(cx: Context) -> None:
    """What has not been assigned may have been, the second time round."""
    for variable in cx.fresh:
        variable.fresh = False
    cx.fresh.clear()


def _body(cx: Context, node: For | While, body: Block) -> None:
    with cx.scope():
        statements.push_target(cx, "continue", node=node)
        statements.run(cx, body.statements)
        cx.targets.pop()


def _general(
    cx: Context, node: For | While, test: Expression | None, body: Block, step: Expression | None, *, first: bool
) -> None:
    """`while`: for all threads together, or as long as some thread goes on."""
    key = cx.key(node, "going")
    divergent = key in cx.decisions.varying
    statements.push_target(cx, "break", node=node)
    flags = statements.flags(cx, leaves(node.body) - {"continue"}, node.line)
    _enter_loop(cx)
    mark = len(cx.suite.nodes)
    begin = number(1, BOOL) if first or test is None else expressions.truth(cx, test)
    simple = not flags and not first and len(cx.suite.nodes) == mark and not divergent and begin.constant is None
    name = "" if simple else cx.names.declare("going", (BOOL, divergent))
    going = Variable(name, BOOL, key, cx.depth - 1, divergent, fresh=False)
    _start(cx, going, begin, simple)
    inner = Suite()
    with cx.into(inner), cx.round(cx.key(node, "round")):
        if divergent:
            own = access.read(going)
            with cx.only(own, cx.depth):
                _body(cx, node, body)
                _again(cx, node, going, flags, step, test=test)
        else:
            _body(cx, node, body)
            _again_together(cx, node, going, flags, step, test=None if simple else test, simple=simple)
    cx.targets.pop()
    header = f"tl.max({name}.to(tl.int32), axis=0) != 0" if divergent else begin.text if simple else name
    cx.suite.nodes.append(Loop("", header, inner))


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


def _again(
    cx: Context,
    node: For | While,
    going: Variable,
    flags: list[Variable],
    step: Expression | None,
    *,
    test: Expression | None,
) -> None:
    """The step and the test, in the lanes that have not left."""
    stays = number(1, BOOL)
    for flag in flags:
        stays = both(stays, negation(access.read(flag)))
    with cx.where(stays, cx.depth):
        if step is not None:
            statements.statement(cx, Evaluate(step, node.line))
        again = expressions.truth(cx, test) if test is not None else number(1, BOOL)
        assert cx.mask is not None
        whole = both(cx.mask, again)
        cx.emit(Line(whole.text, going.name, level=whole.level))


def _again_together(
    cx: Context,
    node: For | While,
    going: Variable,
    flags: list[Variable],
    step: Expression | None,
    *,
    test: Expression | None,
    simple: bool,
) -> None:
    """The step and the test where all threads count alike."""
    if any(flag.varying for flag in flags):
        cx.decisions.varying.add(going.key)
    left = number(0, BOOL)
    for flag in flags:
        left = disjunction(left, access.read(flag))

    def onward() -> None:
        if step is not None:
            statements.statement(cx, Evaluate(step, node.line))
        if not simple:
            again = expressions.truth(cx, test) if test is not None else number(1, BOOL)
            if again.varying:
                cx.decisions.varying.add(going.key)
            access.assign(cx, going, again, node.line)

    def stop() -> None:
        access.assign(cx, going, number(0, BOOL), node.line)

    statements.branch(cx, left, stop, onward)
