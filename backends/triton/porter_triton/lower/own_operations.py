"""Operations that the source writes itself, to hand them to a collective, and for which Triton has a word."""

from __future__ import annotations

from porter.source.qualified import unqualified
from porter.syntax.nodes import Binary, Block, Call, Expression, Lambda, Name, Parameter, Return, TypeName
from porter_triton.lower import resolve
from porter_triton.lower.context import Context
from porter_triton.lower.trees import called
from porter_triton.lower.types import Arithmetic, Type
from porter_triton.refusal import Refusal

_WORDS = {
    "max": "max", "fmaxf": "max", "fmax": "max", "__hmax": "max",
    "min": "min", "fminf": "min", "fmin": "min", "__hmin": "min", "__hadd": "sum",
}  # fmt: skip


def own_operation(cx: Context, act: Expression, type_: Type) -> str:
    """The word for what `act` makes of two numbers of `type_`; empty where there is none.

    `act` is a lambda, or an object whose only operator `()` returns one expression of its parameters.
    """
    found = _defined(cx, act)
    if found is None or not isinstance(type_, Arithmetic):
        return ""
    parameters, body, free = found
    names = {p.name for p in parameters}
    (last,) = body.statements if len(body.statements) == 1 else (None,)
    if not isinstance(last, Return) or last.value is None or len(names) != 2:
        return ""
    word, operands = _combined(last.value)
    if not word or {getattr(side, "name", "") for side in operands} != names:
        return ""
    if isinstance(last.value, Call) and cx.unit.named(getattr(last.value.callee, "name", "")):
        return ""
    alike = all(p.type.name in free or _resolved(cx, p.type) == type_ for p in parameters)
    return word if alike and len({p.type.name for p in parameters}) == 1 else ""


def _combined(value: Expression) -> tuple[str, tuple[Expression, ...]]:
    """Returns the word for what an expression makes of two others, and these; no word where there is none."""
    if isinstance(value, Binary) and value.operator == "+":
        return "sum", (value.left, value.right)
    if isinstance(value, Call) and len(value.arguments) == 2:
        return _WORDS.get(called(value), ""), value.arguments
    return "", ()


def _defined(cx: Context, act: Expression) -> tuple[tuple[Parameter, ...], Block, frozenset[str]] | None:
    """Parameters and body, and the names of types that are told by what is passed."""
    if isinstance(act, Lambda):
        return act.parameters, act.body, frozenset({"auto"})
    name = act.callee if isinstance(act, Call) else getattr(act, "type", None)
    structs = cx.unit.struct(name.name) if isinstance(name, Name | TypeName) else ()
    if len(structs) != 1 or structs[0].template:
        return None
    methods = [m for m in structs[0].methods if unqualified(m.head.name).endswith("operator()")]
    if len(methods) != 1:
        return None
    (method,) = methods
    return method.parameters, method.body, frozenset(p.name for p in method.head.template)


def _resolved(cx: Context, name: TypeName) -> object:
    try:
        return resolve.type_of(cx, name, 0)
    except Refusal:
        return None
