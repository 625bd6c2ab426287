"""Host code of extensions: what it may write compiles and behaves; what is not offered does not compile."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

HOST_CODE = (Path(__file__).parent / "host_code.cpp").read_text()


def line_of(text: str) -> int:
    """The number of the only line of the host code that contains `text`."""
    (number,) = (i for i, line in enumerate(HOST_CODE.splitlines(), 1) if text in line)
    return number


def test_host_code_of_an_extension(run_program: Callable[[str], str]) -> None:
    printed = dict(line.split(": ", 1) for line in run_program(HOST_CODE).splitlines())
    check = line_of("CHECK_INPUT(x);")
    assert printed == {
        "device": "cuda:0",
        "dtype": "1",
        "wide": "30",
        "half": "7.5",
        "branch": "half",
        "not contiguous": f"x must be contiguous at line {check}",
        "not on the GPU": f"x must be a CUDA tensor at line {check}",
        "not dispatched": f"\"scaled\" not implemented for 'Int' at line {line_of('AT_DISPATCH_FLOATING_TYPES_AND2')}",
        "wrong pointer": printed["wrong pointer"],
        "wrong rank": printed["wrong rank"],
        "mixed devices": printed["mixed devices"],
        "autograd": "45",
        "sizes": "[2, 3] [3, 1] float",
        "half arithmetic": "3.25",
        "half keeps its type": "1",
        "half bits": "1",
        "comparison": f"Check failed: x.dim() == 3 (2 vs. 3). dims at line {line_of('TORCH_CHECK_EQ')}",
        "empty is poisoned": "1",
        "one type": printed["one type"],
        "one device": printed["one device"],
        "walked": "31425 0 2 0",
        "joined axes": "-1 1 6 1",
        "on threads of the host": "9",
        "block": "512 512",
        "index types": "8",
        "type by its device": "8 1",
    }
    assert printed["wrong pointer"].startswith("expected scalar type Double but found Float")
    assert printed["wrong rank"].startswith("TensorAccessor expected 1 dims but tensor has 2")
    assert printed["one type"].startswith("Expected tensor for argument #1 'a' to have the same type as tensor for")
    assert printed["one device"].startswith("Expected tensors for argument #1 'a' and argument #2 'b' to be on one GPU")
    assert printed["mixed devices"].startswith("Expected all tensors to be on the same device")


def test_what_is_not_offered_fails_to_compile_at_its_line(compiler_errors: Callable[[str], str]) -> None:
    refused = (
        "x.data_ptr<__half>()",
        "x.backward()",
        "at::conv2d(x, x)",
        "x.svd()",
        "at::cuda::getCurrentCUDASparseHandle()",
    )
    statements = ("x.sum()", *refused, "x.mean()")
    errors = compiler_errors(
        "\n".join(["#include <torch/extension.h>", "void f(at::Tensor x) {", *(f"{s};" for s in statements), "}"])
    )
    lines = {i for i, _ in enumerate(statements, 3) if f"program.cpp:{i}:" in errors}
    assert lines == {4, 5, 6, 7, 8}
