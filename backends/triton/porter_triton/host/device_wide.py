"""Sums, extremes and scans of whole arrays by CUB and Thrust, as PyTorch has them."""

from __future__ import annotations

import re

from porter.syntax.nodes import Binary, Call, Expression, Name
from porter_triton.host import expressions, pointers
from porter_triton.host.codes import ATOM, SUM, Code, Kind
from porter_triton.host.scope import Context
from porter_triton.refusal import Refusal

_CUB = re.compile(r"(?:^|::)cub::Device(Reduce::(?:Sum|Min|Max)|Scan::(?:InclusiveSum|ExclusiveSum))$")
_REDUCED = {"Reduce::Sum": "sum()", "Reduce::Min": "amin()", "Reduce::Max": "amax()"}
# Thrust's function object: the method, how two results become one, and what may be left out as the first of them.
_FUNCTORS = {
    "plus": ("sum", "{0} + {1}", 0),
    "maximum": ("amax", "max({0}, {1})", None),
    "minimum": ("amin", "min({0}, {1})", None),
}


def is_cub_call(name: str) -> bool:
    """Returns whether the function of this name is one of CUB's that `cub_call` knows."""
    return _CUB.search(name) is not None


def cub_call(cx: Context, node: Call) -> bool:
    """Emits a call of CUB's: without storage it only returns the size it wants. False for any other call."""
    found = _CUB.search(node.callee.name) if isinstance(node.callee, Name) else None
    if found is None or len(node.arguments) < 5:
        return False
    storage, bytes_, source, target, count = (expressions.expression(cx, a) for a in node.arguments[:5])
    if bytes_.kind is not Kind.INT or not bytes_.text.isidentifier():
        raise Refusal(node.line, "the size of the storage must go to a variable of this function")
    cx.changed(bytes_.text)
    if storage.kind is Kind.NOTHING:
        cx.emit(f"{bytes_.text} = 1", bytes_.text)
        return True
    with cx.suite(f"if {storage.text} is None:"):
        cx.emit(f"{bytes_.text} = 1", bytes_.text)
    with cx.suite(f"if {storage.text} is not None:"):
        cx.emit(_computed(cx, found[1], source, target, count))
    return True


def _computed(cx: Context, what: str, source: Code, target: Code, count: Code) -> str:
    values = f"{pointers.flat(cx, source)}{pointers.part(end=count)}"
    results = pointers.flat(cx, target)
    if what in _REDUCED:
        return f"{results}[0] = {values}.{_REDUCED[what]}"
    scanned = f"{values}.cumsum(0)"
    if what == "Scan::ExclusiveSum":
        scanned = f"torch.cat(({values}.new_zeros(1), {values}[:-1].cumsum(0)))"
    return f"{results}{pointers.part(end=count)}.copy_({scanned})"


def thrust_call(cx: Context, node: Call) -> Code | None:
    """Returns the value of `thrust::reduce(begin, begin + n, first, function)`; None for any other call."""
    if not isinstance(node.callee, Name) or node.callee.name != "thrust::reduce":
        return None
    arguments = node.arguments[isinstance(node.arguments[0], Name) and node.arguments[0].name == "thrust::device" :]
    if not 2 <= len(arguments) <= 4:
        raise Refusal(node.line, "thrust::reduce of other than a range of an array")
    functor = _functor(arguments[3]) if len(arguments) > 3 else "plus"
    begin, count = expressions.expression(cx, arguments[0]), _length(cx, arguments[0], arguments[1])
    if functor not in _FUNCTORS or count is None or begin.kind is not Kind.POINTER:
        raise Refusal(node.line, "thrust::reduce of other than a range of an array, or by an unknown function")
    method, joined, neutral = _FUNCTORS[functor]
    text = f"{pointers.flat(cx, begin)}{pointers.part(end=count)}.{method}().item()"
    kind = pointers.pointed_kind(cx, begin)
    if len(arguments) > 2:
        first = expressions.expression(cx, arguments[2])
        if first.constant is None or first.constant != neutral:
            return Code(joined.format(first.text, text), kind, SUM if functor == "plus" else ATOM)
    return Code(text, kind)


def _functor(node: Expression) -> str:
    """Returns the plain name of `thrust::plus<T>()`."""
    callee = node.callee if isinstance(node, Call) else None
    return callee.name.removeprefix("thrust::") if isinstance(callee, Name) else ""


def _length(cx: Context, begin: Expression, end: Expression) -> Code | None:
    """Returns `n` where `end` is `begin + n`."""
    if not isinstance(end, Binary) or end.operator != "+" or not isinstance(begin, Name):
        return None
    same = isinstance(end.left, Name) and end.left.name == begin.name
    return expressions.expression(cx, end.right) if same else None
