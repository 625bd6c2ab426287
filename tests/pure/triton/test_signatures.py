"""What of a launch its compilation depends on."""

import json

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from porter_triton.signatures import signature_of, typed


@triton.jit
def kernel(x, shape, block: tl.constexpr):
    i = tl.arange(0, block)
    tl.store(x + i, tl.load(x + i, mask=i < shape[1][0]) + shape[0], mask=i < shape[1][0])


def test_a_one_within_tuples_is_a_constant_at_its_place():
    given = {"x": None, "shape": (3, (1, 7)), "block": 8}
    found = json.loads(signature_of(kernel, "kernel", given, {}, str))
    assert found["types"]["shape"] == ["i32", ["constexpr", "i32"]]
    assert [[1, 1, 0], 1] in found["constants"]
    assert [[2], 8] in found["constants"]
    types = {**{name: typed(type_) for name, type_ in found["types"].items()}, "x": "*fp32"}
    constants = {tuple(place): value for place, value in found["constants"] if place != [0]}
    assert "ptx" in triton.compile(ASTSource(kernel, types, constants), target=GPUTarget("cuda", 90, 32)).asm
