"""Host functions whose body stands in place of their call: what they set would be lost to the caller otherwise.

That are variables of the caller, for Python has no references, and `__constant__` variables, which are tensors that the
caller's launches pass on.
"""

from __future__ import annotations

from porter.syntax.nodes import Call, Expression, Launch, Name, Parameter, Return
from porter.syntax.unit import FunctionTree, Unit
from porter.syntax.walk import walk
from porter_triton.host import expressions, runtime, statements, times
from porter_triton.host.assigned import assigned, returns_early, set_by
from porter_triton.host.codes import Code, Kind
from porter_triton.host.instances import kind_of
from porter_triton.host.scope import Context
from porter_triton.refusal import Refusal


def setter(cx: Context, node: Call) -> FunctionTree | None:
    """Returns the called function, if it sets its references or `__constant__` variables for launches of its caller.

    None for any other, and where it sets a time.
    """
    if not isinstance(node.callee, Name) or times.told(cx, node) is not None:
        return None
    found = [f for f in cx.unit.named(node.callee.name) if f.head.space != "global" and not f.head.template]
    if len(found) != 1 or not (
        any(set_by(found[0], p) for p in found[0].parameters) or _fills_for_others(cx.unit, found[0], frozenset())
    ):
        return None
    returns = found[0].returns
    gives_nothing = returns.name == "void" and not returns.pointers
    stands = gives_nothing or kind_of(cx, returns) is Kind.ERROR or _result(found[0]) is not None
    return found[0] if stands else None


def _fills_for_others(unit: Unit, function: FunctionTree, around: frozenset[str]) -> bool:
    """Returns whether `function`, or one that it calls, copies to a `__constant__` variable, and launches nothing."""
    nodes = list(walk(function.body))
    if function.head.qualified in around or any(isinstance(node, Launch) for node in nodes):
        return False
    called = {n.callee.name for n in nodes if isinstance(n, Call) and isinstance(n.callee, Name)}
    if not called.isdisjoint(runtime.SYMBOL_COPIES):
        return True
    inner = around | {function.head.qualified}
    own = (f for name in called for f in unit.named(name) if f.head.space == "host" and not f.head.template)
    return any(_fills_for_others(unit, f, inner) for f in own)


def _result(function: FunctionTree) -> Expression | None:
    """Returns what `function` gives at its end, where it never returns before."""
    statements = function.body.statements
    last = statements[-1] if statements else None
    return last.value if isinstance(last, Return) and not returns_early(function.body) else None


def call(cx: Context, function: FunctionTree, node: Call) -> Code:
    """Emits the body of `function`, which only sees its arguments; returns its value."""
    given = [expressions.expression(cx, a) for a in node.arguments]
    missing = function.parameters[len(given) :]
    if len(given) > len(function.parameters) or any(p.default is None for p in missing):
        raise Refusal(node.line, f"'{function.head.name}' does not take {len(given)} arguments")
    bound = {p.name: _argument(cx, function, p, a) for p, a in zip(function.parameters, given, strict=False)}
    with cx.apart():
        for parameter in missing:
            assert parameter.default is not None
            value = expressions.expression(cx, parameter.default)
            bound[parameter.name] = _argument(cx, function, parameter, value)
        for name, code in bound.items():
            cx.bind(name, code)
        return statements.inlined(cx, function.body, _result(function))


def _argument(cx: Context, function: FunctionTree, parameter: Parameter, value: Code) -> Code:
    """Returns what a parameter is in the body: a reference its variable, a changing or long value a new one."""
    changes = assigned(function.body)[parameter.name]
    if set_by(function, parameter) or (not changes and (value.constant is not None or value.text.isidentifier())):
        return value
    if value.kind in (Kind.DIM3, Kind.STREAM, Kind.RECORD, Kind.OPTIONS):
        if changes:
            raise Refusal(function.head.span.line, f"'{parameter.name}' is changed by a function that stands in place")
        return value
    name = cx.python_name(parameter.name)
    cx.emit(f"{name} = {value.text}", name)
    cx.changes[name] = changes
    return Code(name, value.kind, ctype=cx.type(parameter.type))
