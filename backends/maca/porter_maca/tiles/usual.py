"""Finds the sizes that a contract fixes: windows, strides and paddings, which callers pass as numbers.

Triton compiles a kernel anew for each window. One in MACA C++ has an instance for the window that the contract has, in
which its loops are written out, and another for all windows.
"""

from __future__ import annotations

from collections.abc import Mapping

from porter.contract.model.contract import Contract, ScalarArg
from porter.contract.model.expressions import evaluate, names_in
from porter.contract.model.syntax import ExpressionError
from porter.ir.tile.program import Kernel, Launch, Operator


def usual_sizes(operator: Operator, contract: Contract) -> Mapping[str, int]:
    """Returns the sizes that no tensor has a part in, as they are in the contract."""
    literals = (one for one in contract.arguments if isinstance(one, ScalarArg) and not names_in(one.value))
    known = {one.name: value for one in literals if (value := _whole(one.value, {})) is not None}
    found: dict[str, int] = {}
    for name, size in operator.sizes:
        value = _whole(size.text.replace("//", "/"), known) if names_in(size.text.replace("//", "/")) else None
        if value is not None:
            found[name] = value
    return found


def fixed_in(kernel: Kernel, launch: Launch, usual: Mapping[str, int]) -> Mapping[str, int]:
    """Returns the sizes that are fixed in an instance of a kernel; empty where it has no window, or an unusual one."""
    tiles = {name for name, _ in launch.blocks}
    windows = [name for name in kernel.blocks if name not in tiles]
    if not windows or not usual.keys() >= set(windows):
        return {}
    return {name: usual[name] for name in (*kernel.sizes, *windows) if name in usual}


def _whole(text: str, known: Mapping[str, int]) -> int | None:
    """Returns the whole number that a text stands for; None where it is none, or has a name that is not known."""
    try:
        return evaluate(text, known)
    except ExpressionError:
        return None
