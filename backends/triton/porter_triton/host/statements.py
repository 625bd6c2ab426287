"""Statements of host code in Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from porter.source.qualified import unqualified
from porter.syntax.nodes import (
    Alias,
    Asm,
    Assign,
    Binary,
    Block,
    Braces,
    Break,
    Call,
    Cast,
    Choice,
    Continue,
    Declare,
    Evaluate,
    Expression,
    For,
    ForEach,
    If,
    Lambda,
    Launch,
    Literal,
    Member,
    Name,
    Return,
    Statement,
    Switch,
    Throw,
    TypeName,
    Unread,
    Update,
    Variable,
    While,
)
from porter.syntax.walk import walk
from porter_triton.host import answers, assignments, expressions, inplace, known, loops, switches, vectors
from porter_triton.host.arithmetic import condition
from porter_triton.host.assigned import returns_early
from porter_triton.host.c_types import Arithmetic
from porter_triton.host.checks import check, message
from porter_triton.host.codes import SUCCESS, Code, Kind, integer
from porter_triton.host.dispatch import dispatch, dispatch_into, dispatched, is_dispatch
from porter_triton.host.launches import launch
from porter_triton.host.names import failure
from porter_triton.host.scope import Closure, Context, plain
from porter_triton.host.table import table
from porter_triton.host.variables import declare
from porter_triton.refusal import Refusal

# What host code prints is for people, as `std::cout` is.
_WARNS = ("alertNotDeterministic",)
_PRINTS = ("printf", "fprintf", "puts", "fputs", "putchar", "perror", "fflush", "sprintf", "snprintf")


def block(cx: Context, node: Block, value: Expression | None = None) -> Code:
    """Emits the statements of a block in a scope of its own; code behind a `return` never runs.

    Returns `value` as it is behind them, under a name unless it is a constant; success where there is none.
    """
    cx.blocks.append(node)
    with cx.scope():
        for item in node.statements:
            if value is not None and isinstance(item, Return):
                break
            statement(cx, item)
            if isinstance(item, Return | Throw | Break | Continue):
                break
        given = _held(cx, expressions.expression(cx, value)) if value is not None else SUCCESS
    cx.blocks.pop()
    return given


def _held(cx: Context, given: Code) -> Code:
    if given.constant is not None or not given.is_number:
        return given
    name = cx.python_name("given")
    cx.emit(f"{name} = {given.text}", name)
    return replace(given, text=name)


def inlined(cx: Context, body: Block, value: Expression | None = None) -> Code:
    """Puts the body of a lambda in place of its call; returns `value`, its result."""
    if line := returns_early(body):
        raise Refusal(line, "a lambda that returns early has no counterpart in place")
    cx.inlined += 1
    given = block(cx, body, value)
    cx.inlined -= 1
    return given


def statement(cx: Context, node: Statement) -> None:
    """Emits the Python for `node`; raises `Refusal`."""
    match node:
        case Block():
            block(cx, node)
        case If():
            branch(cx, node)
        case For():
            loops.counted(cx, node)
        case ForEach():
            loops.each(cx, node)
        case While():
            loops.conditional(cx, node)
        case Switch():
            switches.switch(cx, node)
        case _:
            _simple(cx, node)


def _simple(cx: Context, node: Statement) -> None:
    """Emits a statement without statements in it."""
    match node:
        case Declare():
            for variable in node.variables:
                _declared(cx, variable)
        case Evaluate():
            evaluate(cx, node.expression)
        case Return():
            give_back(cx, node)
        case Break():
            cx.emit("break")
        case Continue():
            _step_ahead(cx)
            cx.emit("continue")
        case Throw():
            cx.emit(f"raise RuntimeError({message(cx, node.value)})")
        case Alias():
            cx.bind(node.name, cx.type(node.type))
        case Unread():
            raise Refusal(node.line, node.reason)
        case Asm():
            raise Refusal(node.line, "inline assembly has no counterpart in a launcher")


def _step_ahead(cx: Context) -> None:
    """Emits the loop's step before a `continue`; its variables still count as set at the end of a turn."""
    if cx.steps and (step := cx.steps[-1]) is not None:
        to_come = dict(cx.changes)
        evaluate(cx, step)
        cx.changes = to_come


def _declared(cx: Context, variable: Variable) -> None:
    """Emits the declaration of one variable; a dispatch assigns it in its branches."""
    by_dtype = dispatched(variable.value)
    declare(cx, variable if by_dtype is None else replace(variable, value=None))
    if by_dtype is not None:
        dispatch_into(cx, Name(variable.name, (), variable.line), by_dtype)


def evaluate(cx: Context, node: Expression) -> None:
    """Emits an expression for its effect."""
    match node:
        case Launch():
            launch(cx, node)
        case Assign(operator="", value=Call()) if (by_dtype := dispatched(node.value)) is not None:
            dispatch_into(cx, node.target, by_dtype)
        case Assign():
            assignments.assign(cx, node)
        case Update():
            step = Assign(node.operator[0], node.operand, Literal(1, "int", node.line), node.line)
            assignments.assign(cx, step)
        case Binary(operator=","):
            evaluate(cx, node.left)
            evaluate(cx, node.right)
        case Binary(operator="<<"):
            _stream(cx, node)
        case Call():
            call(cx, node)
        case Choice():  # `fast ? k<true><<<...>>>(x) : k<false><<<...>>>(x);`
            yes, no = (Block((Evaluate(part, node.line),), node.line) for part in (node.yes, node.no))
            branch(cx, If(node.condition, yes, no, line=node.line))
        case Cast(type=TypeName(name="void")) | Name() | Literal():
            pass
        case _:
            expressions.expression(cx, node)


def _is_stream(node: Expression) -> bool:
    """Returns whether it is `std::cout << ...`, which is for people."""
    while isinstance(node, Binary):
        node = node.left
    return isinstance(node, Name) and unqualified(node.name) in ("cout", "cerr", "clog")


def _stream(cx: Context, node: Binary) -> None:
    """Emits `std::cout << ...`, `text << ...` and `CHECK(n > 0) << ...`; raises `Refusal` for a shift of numbers."""
    first: Expression = node
    while isinstance(first, Binary):
        first = first.left
    if isinstance(first, Call) and isinstance(first.callee, Name) and plain(first.callee.name) in table().checks:
        said = tuple(_streamed(node))[::-1]
        check(cx, replace(first, arguments=(*first.arguments, *said)), first.callee.name)
    elif not _is_text(cx, node):
        if not _is_stream(node):
            raise Refusal(node.line, "this has no effect")
        _say(cx, _streamed(node), node.line)


def _is_text(cx: Context, node: Expression) -> bool:
    """Returns whether it is `text << ...` of a string stream, which makes messages."""
    while isinstance(node, Binary):
        node = node.left
    meaning = cx.find(node.name) if isinstance(node, Name) else None
    return isinstance(meaning, Code) and meaning.kind is Kind.STREAM


def _streamed(node: Expression) -> Iterator[Expression]:
    while isinstance(node, Binary):
        yield node.right
        node = node.left


def _say(cx: Context, parts: Iterable[Expression], line: int) -> None:
    """Leaves out what is printed, but not what a function of the source does to find it."""
    cx.prints.append(line)
    for part in parts:
        if any(isinstance(n, Call) and isinstance(n.callee, Name) and cx.unit.named(n.callee.name) for n in walk(part)):
            code = expressions.expression(cx, part)
            if code.kind not in (Kind.ERROR, Kind.TIME):
                cx.emit(code.text)


def call(cx: Context, node: Call) -> None:
    """Emits a call as a statement."""
    callee = node.callee
    if isinstance(callee, Lambda):
        inlined(cx, callee.body)
        return
    name = callee.name if isinstance(callee, Name) else ""
    meaning = cx.find(name) if name else None
    if isinstance(meaning, Closure):
        _closure(cx, meaning, node)
    elif is_dispatch(name):
        dispatch(cx, node)
    elif plain(name) in table().checks:
        check(cx, node, name)
    elif name in ("exit", "abort", "std::exit", "std::abort", "AT_ERROR", "std::terminate"):
        cx.emit(f"raise RuntimeError({message(cx, node.arguments[0] if name == 'AT_ERROR' else None)})")
    elif name in ("std::swap", "swap"):
        assignments.swap(cx, node)
    elif name in table().dropped_calls:
        for argument in node.arguments:
            if isinstance(argument, Call) and isinstance(argument.callee, Name):
                call(cx, argument)
    elif plain(name) in _PRINTS:
        _say(cx, node.arguments, node.line)
    elif (function := inplace.setter(cx, node)) is not None:
        inplace.call(cx, function, node)
    else:
        _effect(cx, node)


def _effect(cx: Context, node: Call) -> None:
    """Emits a call of a function of the source, or of a tensor's method that changes it."""
    if (isinstance(node.callee, Member) and node.callee.name in _WARNS) or vectors.change(cx, node):
        return
    code = expressions.expression(cx, node)
    says_nothing = code.kind in (Kind.ERROR, Kind.STREAM, Kind.TIME) or code.constant is not None
    if code.text and not says_nothing and not code.text.isidentifier():
        cx.emit(code.text)


def _closure(cx: Context, meaning: Closure, node: Call) -> None:
    """Emits a call of a host lambda: its body in place, its parameters the arguments."""
    taken = meaning.node.parameters
    left_out = [parameter.default for parameter in taken[len(node.arguments) :]]
    given = (*node.arguments, *(default for default in left_out if default is not None))
    if len(given) != len(taken):
        raise Refusal(node.line, f"a lambda that takes {len(taken)} arguments is given {len(node.arguments)}")
    with cx.scope():
        for parameter, argument in zip(taken, given, strict=True):
            cx.bind(parameter.name, expressions.expression(cx, argument))
        inlined(cx, meaning.node.body)


def branch(cx: Context, node: If, word: str = "if") -> None:
    """Emits `if` and `else`; a known condition leaves one of them, one about printed output leaves none."""
    try:
        asked = condition(expressions.expression(cx, node.condition))
    except Refusal:
        if not _only_says(cx, node):
            raise
        return
    if asked.constant is not None:
        chosen = node.yes if asked.constant else node.no
        if word == "elif":
            with cx.suite("else:"):
                _maybe(cx, chosen)
        else:
            _maybe(cx, chosen)
        return
    with cx.suite(f"{word} {asked.text}:"):
        known.suppose(cx, node.condition)
        block(cx, node.yes)
    if node.no is None:
        return
    inner = node.no.statements
    if len(inner) == 1 and isinstance(inner[0], If) and not answers.answers(cx, inner[0].condition):
        branch(cx, inner[0], "elif")
        return
    with cx.suite("else:"):
        block(cx, node.no)


def _only_says(cx: Context, node: If) -> bool:
    """Returns whether nothing is left of either side without what is printed, as where a logger asks for its level.

    A condition that sets something, or calls a function of the source, does more than to decide.
    """
    for part in walk(node.condition):
        own = isinstance(part, Call) and isinstance(part.callee, Name) and cx.unit.named(part.callee.name)
        if own or isinstance(part, Assign | Update):
            return False
    with cx.aside() as left:
        block(cx, node.yes)
        _maybe(cx, node.no)
        return not left


def _maybe(cx: Context, chosen: Block | None) -> None:
    if chosen is not None:
        block(cx, chosen)


def give_back(cx: Context, node: Return) -> None:
    """Emits `return value`; in a lambda that stands in place of its call only the value's effects."""
    value = node.value
    if cx.inlined:
        if isinstance(value, Call | Launch):
            evaluate(cx, value)
        return
    if value is None:
        cx.emit("return")
    elif isinstance(value, Call) and isinstance(value.callee, Name) and is_dispatch(value.callee.name):
        dispatch(cx, value, returns=True)
    elif isinstance(value, Call) and isinstance(value.callee, Lambda):
        block(cx, value.callee.body)
    elif failed := failure(value):
        cx.emit(f'raise RuntimeError("{failed}")')
    else:
        _result(cx, value)


def _result(cx: Context, value: Expression) -> None:
    """Emit `return` with a value, a tuple without its brackets."""
    if isinstance(value, Braces) and value.type is None:
        code = expressions.returned(cx, value, cx.function.returns)
    else:
        code = expressions.expression(cx, value)
    cx.gives.extend(code.kernels)
    text = ", ".join(part.text for part in code.parts) if code.kind is Kind.DIM3 and not code.text else code.text
    if code.kind is Kind.SEQUENCE and text.startswith("(") and len(code.parts) > 1:
        text = text[1:-1]
    if code.kind is Kind.ERROR and isinstance(cx.built_in(cx.type(cx.function.returns)), Arithmetic):
        text, code = "0", integer(0)  # `int f() { ...; return cudaGetLastError(); }`
    cx.emit("return" if code.kind in (Kind.ERROR, Kind.STREAM) else f"return {text}")
