"""Inline PTX, lowered as the C++ that `porter.simt.ptx` says it is."""

from __future__ import annotations

import re
from pathlib import Path

from porter.simt import ptx
from porter.simt.ptx_text import AsmStatement, Operand
from porter.source.parse import parse
from porter.source.text import Source
from porter.syntax.nodes import Asm, Block
from porter.syntax.read import read_unit
from porter_triton.lower import lvalues, statements
from porter_triton.lower.context import Context
from porter_triton.refusal import Refusal

_OPERAND = "asm_operand_"
_PLAIN_ADDRESS = re.compile(rf"\(\(char\*\)\(({_OPERAND}\d+)\)\)")  # no offset is added to it
_LANE = "((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32u)"


def statement(cx: Context, node: Asm) -> None:
    """`asm("..." : outputs : inputs)`; its operands are bound to names that its C++ uses."""
    operands = (*node.outputs, *node.inputs)
    body = cx.rewritten(node, lambda: _read(node))
    cx.changes.append(cx.assigned(body))
    cx.calls.append(id(node))
    try:
        with cx.within(id(node)), cx.scope():
            for k, (_, expression) in enumerate(operands):
                cx.bind(f"{_OPERAND}{k}", lvalues.place(cx, expression))
            statements.block(cx, body)
    except Refusal as refusal:
        raise Refusal(node.line, f"inline PTX: {refusal.reason}") from None
    finally:
        cx.changes.pop()
        cx.calls.pop()


def _read(node: Asm) -> Block:
    """The C++ of the statement as a tree."""
    named = [Operand(constraint, f"{_OPERAND}{k}") for k, (constraint, _) in enumerate((*node.outputs, *node.inputs))]
    outputs, inputs = named[: len(node.outputs)], named[len(node.outputs) :]
    written = ptx.lower(AsmStatement(node.text, tuple(outputs), tuple(inputs)), "maca")
    if isinstance(written, ptx.Unsupported):
        raise Refusal(node.line, f"inline PTX: {written.reason}")
    text = _PLAIN_ADDRESS.sub(r"(\1)", written.removeprefix("do ").removesuffix(" while (0)"))
    text = text.replace("__lane_id()", _LANE)  # a warp has 32 lanes here, whatever the device
    function = Source(Path("asm.cu"), f"__device__ void ptx() {{ {text}; }}")
    return read_unit(parse(function)).functions[0].body
