"""Names the kind of operator that a contract describes: a label for tables, which nothing else depends on."""

from __future__ import annotations

import re
from collections.abc import Iterable

from porter.contract.analysis.body import written
from porter.contract.analysis.usage import Usage
from porter.source.program import Function

# First match wins. A row holds only when every pattern is found in the code of the kernels and what they call.
_STRUCTURE: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("scan", (r"__shfl_up|BlockScan|WarpScan|(?:offset|stride|step)(?:\*=2|<<=1)[^}]*>=(?:offset|stride|step)",)),
    ("softmax", (r"\b_*expf?\(|\bexp2f?\(", r"f?max|fmaxf", r"/=?|\*=", r"REDUCES")),
    ("norm", (r"r?sqrtf?\(", r"REDUCES")),
    ("loss", (r"\blog(?:f|1p|1pf)?\(|\bfabsf?\(", r"REDUCES|INDEXED")),
    ("pooling", (r"for\([^)]*\)\{?[^}]*for\([^)]*\)", r"pad|stride|window|kernel_", r"max|/")),
    ("reduction", (r"REDUCES",)),
    ("activation", (r"\b_*expf?\(|tanhf?\(|erff?\(|fmaxf?\(|\?",)),
    ("elementwise", (r"^(?!.*\bfor\b)",)),
)
_REDUCES = re.compile(
    r"__shfl_(?:xor|down)|BlockReduce|WarpReduce|atomicAdd|__syncthreads[^;]*;.*\+=|\bfor\b.*(?<!\])\+=", re.S
)
_STEP = re.compile(r"(\bfor\([^;]*;[^;]*;)[^)]*\)")  # that of a loop adds up nothing
_NAMES: tuple[tuple[str, str], ...] = (
    ("softmax", r"softmax"),
    ("norm", r"norm"),
    ("loss", r"loss|entropy|nll"),
    ("pooling", r"pool"),
    ("scan", r"scan|cumsum|prefix"),
    ("reduction", r"sum|mean|reduce|dot|argmax"),
    ("activation", r"relu|elu|silu|swish|sigmoid|tanh|activation|mish"),
)


def category(usage: Usage, name: str, kernels: Iterable[Function]) -> str:
    """Returns one of activation, norm, softmax, reduction, scan, loss, pooling, elementwise, other."""
    functions = tuple(kernels)
    by_name = _by_name(name) or _by_name(" ".join(f.name for f in functions))
    text = _code(usage, functions)
    fitting = [label for label, patterns in _STRUCTURE if all(_found(p, text) for p in patterns)]
    if by_name in fitting:
        return by_name
    return fitting[0] if fitting else by_name or "other"


def _by_name(name: str) -> str:
    return next((label for label, pattern in _NAMES if re.search(pattern, name.lower())), "")


def _found(pattern: str, text: str) -> bool:
    if "REDUCES" in pattern and _REDUCES.search(text):
        return True
    return re.search(pattern, text, re.S) is not None


def _code(usage: Usage, kernels: Iterable[Function]) -> str:
    """Returns the kernels' code and that of the device functions they call."""
    pending, seen, parts = list(kernels), set[str](), []
    devices = {f.name: f for f in usage.program.device_functions}
    while pending:
        function = pending.pop()
        body = usage.body(function)
        parts.append(written(body.words))
        fresh = [n for n in body.names if n in devices and n not in seen]
        seen.update(fresh)
        pending.extend(devices[n] for n in fresh)
    return _STEP.sub(r"\1)", " ".join(parts))
