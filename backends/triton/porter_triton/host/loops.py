"""Loops of host code in Python."""

from __future__ import annotations

from dataclasses import dataclass

from porter.syntax.nodes import (
    Assign,
    Binary,
    Block,
    Declare,
    Expression,
    For,
    ForEach,
    Literal,
    Name,
    Unary,
    Update,
    Variable,
    While,
)
from porter.syntax.walk import walk
from porter_triton.host import answers, expressions, lists, statements
from porter_triton.host.assigned import assigned, contains_continue
from porter_triton.host.codes import Code, Kind, integer
from porter_triton.host.scope import Context
from porter_triton.refusal import Refusal


@dataclass(frozen=True, slots=True)
class Count:
    """`for (T name = first; name < end; name += step)`."""

    variable: Variable
    first: Expression
    end: Expression
    comparison: str
    step: Expression
    downwards: bool


def counted(cx: Context, node: For) -> None:
    """Emits a `for` loop: over a `range` where it counts, else `while`."""
    count = _count(node)
    if count is None:
        _general(cx, node)
        return
    with cx.scope():
        name = cx.python_name(count.variable.name)
        first, end, step = _range(cx, count)
        if not count.downwards and first.constant == 0:
            for pointer, elements in lists.listed(cx, node.body, count.variable.name, end).items():
                cx.bind(pointer, elements)
        with cx.suite(f"for {name} in range({_arguments(first, end, step)}):"):
            cx.bind(count.variable.name, Code(name, Kind.INT, ctype=count.variable.type))
            _body(cx, node.body)


def _count(node: For) -> Count | None:
    """Returns the loop as a count; None where its variable or bound changes in the body."""
    if len(node.start) != 1 or not isinstance(node.start[0], Declare) or len(node.start[0].variables) != 1:
        return None
    variable = node.start[0].variables[0]
    condition, step = node.condition, _step(node.step, variable.name)
    if variable.value is None or step is None or not isinstance(condition, Binary):
        return None
    if not isinstance(condition.left, Name) or condition.left.name != variable.name:
        return None
    amount, downwards = step
    if condition.operator not in (("<", "<=", "!=") if not downwards else (">", ">=")):
        return None
    changed = assigned(node.body)
    if any(name in changed for name in (variable.name, *_names(condition.right), *_names(amount))):
        return None
    return Count(variable, variable.value, condition.right, condition.operator, amount, downwards)


def _step(node: Expression | None, name: str) -> tuple[Expression, bool] | None:
    """Returns by how much the loop's variable changes, and whether it decreases."""
    if isinstance(node, Update) and isinstance(node.operand, Name) and node.operand.name == name:
        return Literal(1, "int", node.line), node.operator == "--"
    if isinstance(node, Assign) and isinstance(node.target, Name) and node.target.name == name:
        return (node.value, node.operator == "-") if node.operator in ("+", "-") else None
    return None


def _names(node: Expression) -> set[str]:
    """Returns the variables an expression reads, as far as it is made of operators."""
    match node:
        case Name():
            return {node.name}
        case Binary():
            return _names(node.left) | _names(node.right)
        case Unary() | Update():
            return _names(node.operand)
        case Assign():
            return _names(node.target) | _names(node.value)
    return set()


def _range(cx: Context, count: Count) -> tuple[Code, Code, Code]:
    """Returns the first number, the one behind the last, and the step."""
    first, end, step = (expressions.expression(cx, e) for e in (count.first, count.end, count.step))
    beyond = count.comparison in ("<=", ">=")
    if beyond and end.constant is not None:
        end = integer(int(end.constant) + (-1 if count.downwards else 1))
    elif beyond:
        end = Code(f"{end.within(9)} {'-' if count.downwards else '+'} 1", Kind.INT)
    return first, end, Code(f"-{step.within(11)}", Kind.INT) if count.downwards else step


def _arguments(first: Code, end: Code, step: Code) -> str:
    if step.constant != 1:
        return f"{first.text}, {end.text}, {step.text}"
    return end.text if first.constant == 0 else f"{first.text}, {end.text}"


def _general(cx: Context, node: For) -> None:
    """Emits any other `for`: `while` with the step at the end of the body, and before each `continue`."""
    continues = contains_continue(node.body)
    if continues and node.step is not None and _names(node.step) & _declared(node.body):
        raise Refusal(node.line, "a variable of the loop's body has the name of one that the loop's step reads")
    with cx.scope():
        for item in node.start:
            statements.statement(cx, item)
        answers.demand_none(cx, node.condition)
        condition = "True" if node.condition is None else expressions.expression(cx, node.condition).text
        with cx.suite(f"while {condition}:"):
            _body(cx, node.body, node.step)
            if node.step is not None:
                statements.evaluate(cx, node.step)


def _body(cx: Context, body: Block, step: Expression | None = None) -> None:
    """Translates the body of a loop, in which each turn ends with `step`."""
    cx.steps.append(step)
    statements.block(cx, body)
    cx.steps.pop()


def _declared(body: Block) -> set[str]:
    return {variable.name for node in walk(body) if isinstance(node, Declare) for variable in node.variables}


def each(cx: Context, node: ForEach) -> None:
    """Translates `for (auto& x : xs)`."""
    over = expressions.expression(cx, node.range)
    with cx.scope():
        name = cx.python_name(node.variable.name)
        with cx.suite(f"for {name} in {over.text}:"):
            cx.bind(node.variable.name, Code(name, expressions.element_kind(over)))
            _body(cx, node.body)


def conditional(cx: Context, node: While) -> None:
    """Emits `while`; a `do` asks at its end, and one that runs once is just its body."""
    answers.demand_none(cx, node.condition)
    condition = expressions.expression(cx, node.condition) if not _declares(node, cx) else None
    if condition is not None and condition.constant is not None and not condition.constant:
        if node.first:
            statements.block(cx, node.body)
        return
    if condition is None or (node.first and contains_continue(node.body)):
        raise Refusal(node.line, "a condition that variables of the body decide has no counterpart in Python")
    if not node.first:
        with cx.suite(f"while {condition.text}:"):
            _body(cx, node.body)
        return
    with cx.suite("while True:"):
        _body(cx, node.body)
        with cx.suite(f"if not ({expressions.expression(cx, node.condition).text}):"):
            cx.emit("break")


def _declares(node: While, cx: Context) -> bool:
    """Returns whether the condition of a `do` reads a variable of its body."""
    inside = {v.name for s in node.body.statements if isinstance(s, Declare) for v in s.variables}
    return bool(inside & _names(node.condition)) and all(cx.find(n) is None for n in inside)
