"""Inline PTX: built as the C++ that the core's table says it is."""

from __future__ import annotations

import re
from pathlib import Path

from porter.ir.simt.builder import expressions, inlining, statements
from porter.ir.simt.builder.state import Builder
from porter.simt import ptx
from porter.simt.ptx_text import AsmStatement, Operand
from porter.source.parse import parse
from porter.source_text import Source
from porter.syntax.nodes import Asm
from porter.syntax.read import read_unit
from porter.syntax.unit import FunctionTree

_OPERAND = "asm_operand_"
_PLAIN_ADDRESS = re.compile(rf"\(\(char\*\)\(({_OPERAND}\d+)\)\)")  # no offset is added to it
_SHARED_ADDRESS = re.compile(rf"porter::ptx::shared_address\(\(?({_OPERAND}\d+)\)?\)")
_LANE = "((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32u)"


def statement(b: Builder, node: Asm) -> None:
    """`asm("..." : outputs : inputs)`; its operands are bound to names that its C++ uses."""
    operands = (*node.outputs, *node.inputs)
    with b.scope():
        for number, (_, expression) in enumerate(operands):
            b.bind(f"{_OPERAND}{number}", expressions.place(b, expression))
        tree = _read(b, node)
        with inlining.entered(b, tree, ("asm", id(node))):
            statements.block(b, tree.body)


def _copies(asm: AsmStatement) -> str:
    """The C++ of copies in the background, which are done at once; empty for anything else."""
    written = ptx.lower(asm, "simt")
    if isinstance(written, ptx.Unsupported):
        return ""
    text = _SHARED_ADDRESS.sub(r"((char*)(\1))", written)
    return text if "porter::" not in text.replace("porter::ptx::copy_async", "") else ""


def _read(b: Builder, node: Asm) -> FunctionTree:
    """The C++ of the statement as the body of a function."""
    named = [Operand(constraint, f"{_OPERAND}{k}") for k, (constraint, _) in enumerate((*node.outputs, *node.inputs))]
    outputs, inputs = named[: len(node.outputs)], named[len(node.outputs) :]
    asm = AsmStatement(node.text, tuple(outputs), tuple(inputs))
    written = ptx.lower(asm, "maca")
    if isinstance(written, ptx.Unsupported):
        copied = _copies(asm)
        if not copied:
            raise b.problem(f"inline PTX: {written.reason}", node.line)
        written = copied
    text = _PLAIN_ADDRESS.sub(r"(\1)", written.removeprefix("do ").removesuffix(" while (0)"))
    text = text.replace("__lane_id()", _LANE)
    return read_unit(parse(Source(Path("asm.cu"), f"__device__ void ptx() {{ {text}; }}"))).functions[0]
