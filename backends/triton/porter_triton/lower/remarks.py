"""What a kernel says besides its results: assertions, traps, and what it prints.

An assertion stays one, `tl.device_assert`, which Triton checks in its interpreter and with TRITON_DEBUG=1. What is
printed is left out. Both are told to the user, by their lines.
"""

from __future__ import annotations

from porter.syntax.nodes import Binary, Call, Expression, Literal
from porter_triton.lower import expressions
from porter_triton.lower.assigned import acts
from porter_triton.lower.context import Context
from porter_triton.lower.emit import Line
from porter_triton.lower.launch import Remark, RemarkKind
from porter_triton.lower.types import BOOL
from porter_triton.lower.values import Nothing, Scalar, number

_ASSERTIONS = frozenset({"assert", "CUDA_KERNEL_ASSERT", "CUDA_KERNEL_ASSERT_MSG", "CUDA_KERNEL_ASSERT2"})
_TRAPS = frozenset({"__trap", "__builtin_trap", "__builtin_unreachable"})
_PRINTS = frozenset({"printf", "puts"})


def call(cx: Context, plain: str, node: Call) -> Nothing | None:
    """An assertion, a trap or a print; None for any other call."""
    if plain in _ASSERTIONS and node.arguments:
        _assert(cx, expressions.truth(cx, _without_text(node.arguments[0])), node.line)
    elif plain in _TRAPS:
        trap(cx, node.line)
    elif plain in _PRINTS:
        for argument in node.arguments:
            if acts(argument):
                expressions.value(cx, argument)
        cx.remarks[Remark(RemarkKind.PRINTS, node.line)] = None
    else:
        return None
    return Nothing()


def trap(cx: Context, line: int) -> None:
    """No lane may come here."""
    _assert(cx, number(0, BOOL), line)


def _assert(cx: Context, condition: Scalar, line: int) -> None:
    if condition.constant:
        return
    cx.remarks[Remark(RemarkKind.ASSERTS, line)] = None
    mask = f", mask={cx.mask.text}" if cx.mask is not None else ""
    text = f'tl.device_assert({condition.text}, "{cx.kernel.file}:{line}"{mask})'
    cx.emit(Line(text, effect=True))


def _without_text(condition: Expression) -> Expression:
    """`c` of `c && "why"`."""
    match condition:
        case Binary(operator="&&", left=left, right=Literal(value=str())):
            return left
    return condition
