"""`&&` and `||`, and conditions of which a part is known when Triton compiles."""

from __future__ import annotations

from porter.syntax.nodes import Binary, Expression, Member, Name, Unary
from porter.syntax.terms import conjuncts
from porter_triton.lower import absent, access, choices, expressions
from porter_triton.lower.assigned import acts, only_compares
from porter_triton.lower.comparisons import disjunction
from porter_triton.lower.context import Context
from porter_triton.lower.emit import Suite
from porter_triton.lower.types import BOOL, Pointer
from porter_triton.lower.values import Scalar, both, negation, number


def short_circuit(cx: Context, node: Binary) -> Scalar:
    """`&&` or `||`: the right operand runs only where the left one does not decide."""
    left = expressions.truth(cx, node.left)
    decisive = node.operator == "||"
    if left.constant is not None:
        return left if bool(left.constant) == decisive else expressions.truth(cx, node.right)
    if left.static and not only_compares(node.right):
        asked = negation(left) if decisive else left
        held = choices.compiled(
            cx, asked, lambda: expressions.truth(cx, node.right), lambda: number(decisive, BOOL), node
        )
        return access.scalar(held, node.line)
    if acts(node.right):
        left = access.frozen(cx, left)
    with cx.where(negation(left) if decisive else left):
        right = expressions.truth(cx, node.right)
    whole = disjunction(left, right) if decisive else both(left, right)
    absent.note(cx, whole)
    return whole


def known_part(cx: Context, node: Expression) -> tuple[Expression, Expression] | None:
    """`a && b` where a is known when Triton compiles: a, and what remains; None for any other condition."""
    terms = conjuncts(node)
    if len(terms) < 2:
        return None
    known = [t for t in terms if _is_known(cx, t)]
    rest = [t for t in terms if t not in known]
    if not known or not rest:
        return None
    return _conjunction(known), _conjunction(rest)


def _conjunction(terms: list[Expression]) -> Expression:
    whole = terms[0]
    for term in terms[1:]:
        whole = Binary("&&", whole, term, term.line)
    return whole


def _is_known(cx: Context, node: Expression) -> bool:
    if not isinstance(node, Name | Member | Unary | Binary) or acts(node):
        return False
    with cx.into(Suite(), python=False):
        held = expressions.value(cx, node)
        return isinstance(held, Scalar) and (held.static or isinstance(held.type, Pointer))
