"""Translates PyTorch's packed accessors in launchers: a kernel gets numbers besides a tensor's elements."""

from __future__ import annotations

from porter.syntax.nodes import Member, TypeName
from porter_triton.host import methods
from porter_triton.host.codes import ATOM, Code, Kind
from porter_triton.host.instances import settled
from porter_triton.host.scope import Context
from porter_triton.refusal import Refusal

DATA, SIZE, STRIDE = "data_", "size_", "stride_"

METHODS = ("packed_accessor", "packed_accessor32", "packed_accessor64", "generic_packed_accessor")


def packed(cx: Context, owner: Code, callee: Member) -> Code:
    """Translates `tensor.packed_accessor32<float, 2>()`."""
    if len(callee.template) < 2 or not isinstance(callee.template[0], TypeName) or owner.kind is not Kind.TENSOR:
        raise Refusal(callee.line, "the tensor of an accessor is not known")
    rank = getattr(settled(cx, callee.template[1], callee.line), "value", None)
    if type(rank) is not int or rank < 1:
        raise Refusal(callee.line, "the number of an accessor's axes is not known")
    data = methods.data(cx, owner, callee)
    axes = [
        (f"{part}[{axis}]", Code(f"{owner.within(ATOM)}.{asked[0]}{axis}{asked[1]}", Kind.INT))
        for part, asked in ((SIZE, ("shape[", "]")), (STRIDE, ("stride(", ")")))
        for axis in range(rank)
    ]
    kind = TypeName("PackedTensorAccessor", (cx.type(callee.template[0]), settled(cx, callee.template[1], callee.line)))
    names, parts = zip(*axes, strict=True)
    return Code("", Kind.RECORD, ctype=kind, parts=(data, *parts), names=(DATA, *names))
