"""Which loops count: `for (T name = start; name < bound; name += step)` over a body that leaves `name` alone."""

from __future__ import annotations

from dataclasses import dataclass

from porter.source.qualified import unqualified
from porter.syntax.nodes import (
    Assign,
    Binary,
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
from porter.syntax.terms import mentions
from porter.syntax.unit import Unit
from porter.syntax.walk import walk
from porter_triton.device.functions import functions
from porter_triton.lower import access, expressions, resolve
from porter_triton.lower.arithmetic import binary
from porter_triton.lower.assigned import assigned_names
from porter_triton.lower.context import Context
from porter_triton.lower.conversions import convert
from porter_triton.lower.flow import leaves
from porter_triton.lower.places import Held
from porter_triton.lower.types import Arithmetic
from porter_triton.lower.values import Group, Scalar, number
from porter_triton.refusal import Refusal

_MOST_TRIPS = 64  # of a loop that is written out


@dataclass(frozen=True, slots=True)
class Progress:
    """`name < bound` is asked before each turn and `name += step` done after it; nothing else changes any of these.

    What was written `name * scale < product` has the smallest such bound; then both are `factors`.
    """

    name: str
    operator: str
    bound: Expression
    step: Expression
    sign: str
    factors: tuple[Expression, Expression] | None = None


@dataclass(frozen=True, slots=True)
class Counted:
    """`for (T name = start; name < bound; name += step)`, whose body leaves `name` alone."""

    progress: Progress
    declared: object
    type: Arithmetic
    start: Scalar

    @property
    def name(self) -> str:
        """The counter."""
        return self.progress.name

    def trips(self, bound: Scalar, step: Scalar) -> range | None:
        """The values of the counter, where all is known and they are few."""
        start, end, by = self.start.fixed, bound.fixed, step.fixed
        if start is None or end is None or by is None or by == 0:
            return None
        end += {"<=": 1, ">=": -1}.get(self.progress.operator, 0)
        values = range(start, end, by)
        return values if len(values) <= _MOST_TRIPS else None

    def interval(self, start: Scalar, bound: Scalar) -> tuple[int, int] | None:
        """Returns where the counter lies, if it begins at `start`."""
        if start.interval is None:
            return None
        low, high = start.interval[0], self.type.high
        if self.progress.sign == "-":
            end = bound.interval[0] if bound.interval is not None else self.type.low
            return (end, start.interval[1])
        if bound.interval is not None:
            high = bound.interval[1] - (self.progress.operator == "<")
        return (low, max(high, low))


def limit(operator: str, bound: Scalar) -> Scalar:
    """The first value that a counter does not take."""
    if operator == "<=":
        return binary("+", bound, number(1), 0)
    if operator == ">=":
        return binary("-", bound, number(1), 0)
    return bound


def counted(cx: Context, node: For) -> Counted | None:
    """`node` as a counted loop; its start is evaluated only if it is one."""
    if len(node.start) != 1 or not isinstance(node.start[0], Declare) or len(node.start[0].variables) != 1:
        return None
    variable, found = node.start[0].variables[0], progress(cx, node)
    if variable.value is None or variable.extents or variable.type.reference:
        return None
    if found is None or found.name != variable.name:
        return None
    type_, start = _begun(cx, node, variable)
    return None if type_ is None or start is None else Counted(found, variable, type_, start)


def progress(cx: Context, node: For | While) -> Progress | None:
    """The counter of a loop, and what it is compared with and increased by."""
    found = cx.told(node, told)
    if found is None or _may_act(cx, found.bound) or _may_act(cx, found.step):
        return None
    return found if found.factors is None or _divides(cx, *found.factors) else None


def bound_of(cx: Context, progress: Progress) -> Scalar:
    """The bound, under a name where it is more than what was written."""
    bound = expressions.scalar(cx, progress.bound)
    return bound if progress.factors is None else access.frozen(cx, bound)


def _divides(cx: Context, scale: Expression, product: Expression) -> bool:
    """Returns whether dividing tells the same: `scale` is known to be positive, and nothing wraps around, as no
    `int` may.
    """
    known = expressions.scalar(cx, scale).fixed
    type_ = expressions.scalar(cx, product).type
    return known is not None and known > 0 and isinstance(type_, Arithmetic) and type_.kind == "int"


def told(unit: Unit, node: For | While) -> Progress | None:
    """Returns what the text of a loop says, calls and types aside."""
    test, behind = node.condition, _behind(node)
    if not isinstance(test, Binary) or test.operator not in {"<", "<=", ">", ">="} or behind is None:
        return None
    counter, bound, factors = _compared(test)
    name, body = counter.name, node.body.statements[: behind[1]]
    step = _step(name, behind[0])
    if step is None or mentions(bound, name) or mentions(step[1], name):
        return None
    changed = assigned_names(unit, body)
    if name in changed or any(isinstance(n, Name) and n.name in changed for n in walk((bound, step[1]))):
        return None
    if _reads_memory((bound, step[1])) and (factors is not None or _writes_memory(unit, body)):
        return None
    if (step[0] == "+") != (test.operator[0] == "<"):
        return None
    return Progress(name, test.operator, bound, step[1], step[0], factors)


def _compared(test: Binary) -> tuple[Name, Expression, tuple[Expression, Expression] | None]:
    """The counter, what it is compared with, and `factors`; a counter without a name where there is none."""
    left, right, line = test.left, test.right, test.line
    if isinstance(left, Name):
        return left, right, None
    if isinstance(left, Binary) and left.operator == "*" and test.operator == "<":
        for counter, scale in ((left.left, left.right), (left.right, left.left)):
            if isinstance(counter, Name) and isinstance(scale, Name | Literal):
                over = Binary(">", Binary("%", right, scale, line), Literal(0, "int", line), line)
                return counter, Binary("+", Binary("/", right, scale, line), over, line), (scale, right)
    return Name(""), right, None


def _behind(node: For | While) -> tuple[Expression, int] | None:
    """Returns what is evaluated behind each turn, and how many statements of the body come before that."""
    if isinstance(node, For):
        return None if node.step is None else (node.step, len(node.body.statements))
    last = node.body.statements[-1] if node.body.statements else None
    if node.first or not isinstance(last, Evaluate) or "continue" in leaves(node.body):
        return None
    return last.expression, len(node.body.statements) - 1


def _may_act(cx: Context, node: Expression) -> bool:
    """Returns whether asking every time round may do something: a call of CUDA's own that computes a number does
    not.
    """
    return any(isinstance(n, Assign | Update) or (isinstance(n, Call) and not _computes(cx, n)) for n in walk(node))


def _computes(cx: Context, node: Call) -> bool:
    callee = node.callee
    if isinstance(callee, Name):
        plain = unqualified(callee.name)
        return cx.find(callee.name) is None and not cx.unit.named(callee.name) and plain in functions()
    if isinstance(callee, Member) and isinstance(callee.owner, Name):
        owner = cx.find(callee.owner.name)
        return isinstance(owner, Held) and isinstance(owner.value, Group)
    return False


def _reads_memory(node: object) -> bool:
    return any(isinstance(n, Subscript) or (isinstance(n, Unary) and n.operator == "*") for n in walk(node))


def _writes_memory(unit: Unit, body: object) -> bool:
    """Returns whether a body may change what lies in memory or in an array."""
    for node in walk(body):
        if isinstance(node, Assign) and not isinstance(node.target, Name):
            return True
        if isinstance(node, Update) and not isinstance(node.operand, Name):
            return True
        if isinstance(node, Call) and (not isinstance(node.callee, Name) or unit.named(node.callee.name)):
            return True
        if isinstance(node, Call) and isinstance(node.callee, Name) and "tomic" in node.callee.name:
            return True
    return False


def _begun(cx: Context, node: For, variable: object) -> tuple[Arithmetic | None, Scalar | None]:
    assert isinstance(variable, Declared)
    assert variable.value is not None
    value = expressions.value(cx, variable.value)
    if not isinstance(value, Scalar):
        raise Refusal(node.line, "a loop counts with what is not a number")
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
