"""What the original's own host code computes with tensors: its candidate may do that, too."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from porter.source.program import Function, Program

_CALLS = re.compile(r"(?:\b(?:torch|at|F|functional|native|linalg)\s*::|\.|->)\s*([A-Za-z_]\w*)\s*\(")
_TENSORS = re.compile(r"\bTensor\s*&?\s*([A-Za-z_]\w*)|\bauto\s*&?\s*([A-Za-z_]\w*)\s*=")
_AFTER_CALL = re.compile(r"\.\s*([A-Za-z_]\w*)\s*\([^()]*\)\s*([-+*/])(?![-+=>])")
_QUERIES = frozenset(
    ("size", "sizes", "numel", "dim", "stride", "strides", "data_ptr", "element_size", "itemsize", "get", "stream")
)
_ARITHMETIC: Mapping[str, tuple[str, ...]] = {
    "+": ("add", "add_"),
    "-": ("sub", "sub_", "rsub"),
    "*": ("mul", "mul_"),
    "/": ("div", "div_", "true_divide", "reciprocal"),
}
# What CUDA's own calls are in torch, by how their names begin.
_RUNTIME: Mapping[str, tuple[str, ...]] = {
    "cudaMemcpy": ("copy_", "clone"),
    "cudaMemset": ("fill_", "zero_", "zeros"),
}
# What calls of libraries are in torch, by what is in their names.
_LIBRARIES: Mapping[str, tuple[str, ...]] = {
    "gemm": ("matmul", "mm", "bmm", "addmm", "baddbmm", "linear", "mul", "add"),
    "gemv": ("mv", "addmv", "matmul", "mul", "add"),
    "reduce": ("sum", "amax", "amin", "max", "min", "mean", "prod"),
    "sort": ("sort", "argsort", "topk"),
    "scan": ("cumsum", "cumprod"),
}
_LIBRARY_CALLS = re.compile(r"\b(?:cublas|cub::|thrust::|cudnn)\w*(?:::\w+)*", re.IGNORECASE)


def host_operators(program: Program | None) -> frozenset[str]:
    """The names of tensor operators in the host functions of `program`, as torch spells them; none where it is None."""
    if program is None:
        return frozenset()
    return frozenset(name for function in program.host_functions for name in _operators(function, program))


def _operators(function: Function, program: Program) -> Iterator[str]:
    body = function.body_text or program.source.slice(function.body)
    called = [match[1] for match in _CALLS.finditer(body)]
    yield from called
    yield from (name.removeprefix("toType") or "to" for name in called if name == "toType")
    yield from (n for start, names in _RUNTIME.items() if start in body for n in names)
    for call in _LIBRARY_CALLS.findall(body):
        yield from (n for part, names in _LIBRARIES.items() if part in call.lower() for n in names)
    yield from _arithmetic(body, [p.name for p in function.params if "Tensor" in p.type.text])


def _arithmetic(body: str, tensors: list[str]) -> Iterator[str]:
    """Arithmetic on tensors: next to the name of one, or behind a call that gives one."""
    found = {name for match in _TENSORS.finditer(body) for name in match.groups() if name} | set(tensors)
    signs = {m[2] for m in _AFTER_CALL.finditer(body) if m[1] not in _QUERIES}
    for name in found:
        word = re.escape(name)
        signs |= set(re.findall(rf"\b{word}\s*([-+*/])(?![->])", body))
        signs |= set(re.findall(rf"(?<![-+*/])([-+*/])=?\s*{word}\b(?!\s*(?:\.|->))", body))
    for sign in signs:
        yield from _ARITHMETIC[sign]
