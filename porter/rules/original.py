"""Finds what the original's own code holds and does: its candidate may hold and do that, too."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from porter.contract.analysis.elements import element_type
from porter.contract.model.dtype import DType
from porter.rules.operators import with_steps
from porter.source.program import Function, Program

_CALLS = re.compile(r"(?:\b(?:torch|at|F|functional|native|linalg)\s*::|\.|->)\s*([A-Za-z_]\w*)\s*\(")
_TENSORS = re.compile(r"\bTensor\s*&?\s*([A-Za-z_]\w*)")
_ANYTHING = re.compile(r"\bauto\s*&?\s*([A-Za-z_]\w*)\s*=")
_FURTHER = re.compile(r"\s*&?\s*([A-Za-z_]\w*)\s*[=,;({]")
_AFTER_CALL = re.compile(r"\.\s*([A-Za-z_]\w*)\s*\([^()]*\)\s*([-+*/])(?![-+=>])")
_QUERIES = frozenset(
    ("size", "sizes", "numel", "dim", "stride", "strides", "data_ptr", "element_size", "itemsize", "get", "stream")
)
_ARITHMETIC: Mapping[str, tuple[str, ...]] = {
    "+": ("add", "add_"),
    "-": ("sub", "sub_", "rsub", "neg"),
    "*": ("mul", "mul_"),
    "/": ("div", "div_", "true_divide", "reciprocal"),
}
_COMPARISONS: Mapping[str, str] = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
# What CUDA's own calls are in torch, by how their names begin.
_RUNTIME: Mapping[str, tuple[str, ...]] = {
    "cudaMemcpy": ("copy_", "clone", "fill_"),  # one number of the host is filled in
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
_FAMILIES = ("gemm", "gemv", "geam", "axpy", "scal", "dot", "asum", "nrm2")
_AS = {"gemv": "gemm"}
_LIBRARY_CALLS = re.compile(r"\b(?:cublas|cub::|thrust::|cudnn)\w*(?:::\w+)*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class OwnCode:
    """The names that a candidate's original is made of; there are none where that is no CUDA.

    `operators` of tensors are in its host functions, as torch spells them, `words` anywhere in its text. `functions`
    and `kernels` are what others call, and `numbers` the types of those functions that return a number.
    """

    operators: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()
    functions: frozenset[str] = frozenset()
    kernels: frozenset[str] = frozenset()
    numbers: Mapping[str, DType] = field(default_factory=dict)

    @classmethod
    def of(cls, program: Program) -> OwnCode:
        """Returns the own code of `program` and its local headers."""
        texts = (program.source.text, *(header.text for _, header in program.headers))
        host = program.host_functions
        return cls(
            operators=frozenset(name for function in host for name in _operators(function, program)),
            words=frozenset(word for text in texts for word in re.findall(r"\w+", text)),
            functions=frozenset(function.qualified for function in host),
            kernels=frozenset(kernel.qualified for kernel in program.kernels),
            numbers={n: t for f in host if (t := _number(f)) for n in (f.qualified, f.name)},
        )

    @property
    def library_work(self) -> frozenset[str]:
        """Returns what a library may compute in a plan of C++: steps of operators, functions of CUDA's libraries."""
        lower = [word.lower() for word in self.words if word.startswith("cublas")]
        families = {_AS.get(family, family) for family in _FAMILIES if any(family in word for word in lower)}
        named = (f"{space}::{word}" for space in ("cub", "thrust") if space in self.words for word in self.words)
        return with_steps(self.operators).union(named, (f"cublas::{family}" for family in families))


NO_CODE = OwnCode()


def _number(function: Function) -> DType | None:
    """The type of the number that it returns; None where it returns anything else, or nothing."""
    returned = function.returns
    return None if returned.pointers or returned.base == "void" else element_type(returned.base)


def _operators(function: Function, program: Program) -> Iterator[str]:
    body = _body(function, program)
    called = [match[1] for match in _CALLS.finditer(body)]
    yield from called
    yield from (name.removeprefix("toType") or "to" for name in called if name == "toType")
    yield from (n for start, names in _RUNTIME.items() if start in body for n in names)
    for call in _LIBRARY_CALLS.findall(body):
        yield from (n for part, names in _LIBRARIES.items() if part in call.lower() for n in names)
    yield from _arithmetic(body, [p.name for p in function.params if "Tensor" in p.type.text])


def _body(function: Function, program: Program) -> str:
    return function.body_text or program.source.slice(function.body)


def _arithmetic(body: str, tensors: list[str]) -> Iterator[str]:
    """Arithmetic on tensors: next to the name of one, or behind a call that gives one; and comparisons of tensors."""
    declared = {name for match in _TENSORS.finditer(body) for name in _declared(body, match)} | set(tensors)
    found = declared | set(_ANYTHING.findall(body))
    signs = {m[2] for m in _AFTER_CALL.finditer(body) if m[1] not in _QUERIES}
    for name in found:
        word = re.escape(name)
        signs |= set(re.findall(rf"\b{word}\s*([-+*/])(?![->])", body))
        signs |= set(re.findall(rf"(?<![-+*/])([-+*/])=?\s*{word}\b(?!\s*(?:\.|->))", body))
    for sign in signs:
        yield from _ARITHMETIC[sign]
    for name in declared:
        word = re.escape(name)
        compared = re.findall(
            rf"\b{word}\s*([=!<>]=|[<>](?![<>=]))|([=!<>]=|(?<![<>-])[<>])\s*{word}\b(?!\s*[.\[])", body
        )
        yield from (_COMPARISONS[sign] for pair in compared for sign in pair if sign)


def _declared(body: str, first: re.Match[str]) -> Iterator[str]:
    """The names of a declaration: the `first`, and those behind commas that are in no brackets."""
    yield first[1]
    depth = 0
    for place in range(first.end(), len(body)):
        depth += (body[place] in "([{") - (body[place] in ")]}")
        if depth < 0 or (depth == 0 and body[place] == ";"):
            return
        if depth == 0 and body[place] == "," and (name := _FURTHER.match(body, place + 1)):
            yield name[1]
