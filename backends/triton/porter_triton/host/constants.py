"""`__constant__` and `__device__` variables: the tensors that launches pass for them."""

from __future__ import annotations

from typing import TypeGuard

from porter.source.qualified import unqualified
from porter.syntax.nodes import Call, Name, Variable
from porter.syntax.walk import walk
from porter_triton.host import expressions, random_tables
from porter_triton.host.codes import Kind
from porter_triton.host.scope import Context
from porter_triton.kernel_records import LoweredKernel, ParameterKind
from porter_triton.refusal import Refusal


def given(cx: Context, kernel: LoweredKernel, line: int) -> dict[str, str]:
    """Returns the tensors for such variables of a kernel: copied there, declared with a value, or left over."""
    found = dict(cx.constants)
    for parameter in kernel.parameters:
        symbol = parameter.source
        if parameter.kind is ParameterKind.CONSTANT and symbol not in found:
            declared = [v for v in cx.unit.variables if v.name == symbol and v.storage in ("constant", "device")]
            if table := random_tables.given(cx, symbol, _device(cx)):
                found[symbol] = table
                continue
            if not declared:
                continue
            if declared[-1].storage == "device" and not _is_named(cx, symbol):
                found[symbol] = _kept(cx, declared[-1], line)
            elif declared[-1].value is not None and not _is_written(cx, symbol):
                found[symbol] = _initial(cx, declared[-1], _device(cx), line)
    return found


def _is_written(cx: Context, symbol: str) -> bool:
    """Returns whether any function of the source copies to the variable."""
    return any(
        isinstance(n, Call)
        and isinstance(n.callee, Name)
        and "ToSymbol" in n.callee.name
        and symbol in str(n.arguments)
        for f in cx.unit.functions
        if f.head.space == "host"
        for n in walk(f.body)
    )


def _is_named(cx: Context, symbol: str) -> bool:
    """Returns whether host code names the variable, other than to copy from it."""
    bodies = [f.body for f in cx.unit.functions if f.head.space == "host"]
    copies = [n.arguments[1:2] for body in bodies for n in walk(body) if _copies_from(n)]
    named, copied = (
        sum(isinstance(n, Name) and unqualified(n.name) == symbol for part in parts for n in walk(part))
        for parts in (bodies, copies)
    )
    return named > copied


def _copies_from(node: object) -> TypeGuard[Call]:
    if not isinstance(node, Call) or not isinstance(node.callee, Name):
        return False
    return node.callee.name.startswith("cudaMemcpyFromSymbol")


def kept(cx: Context, symbol: str, line: int) -> str:
    """Returns the tensor of a `__device__` variable that only kernels write to, and that lasts; else empty."""
    declared = [v for v in cx.unit.variables if v.name == symbol and v.storage == "device"]
    return _kept(cx, declared[-1], line) if declared and not _is_named(cx, symbol) else ""


def _kept(cx: Context, variable: Variable, line: int) -> str:
    """Returns a call of the function that has the tensor of a `__device__` variable that kernels alone know."""
    count = 1
    for extent in variable.extents:
        known = expressions.expression(cx, extent).constant if extent is not None else None
        if not isinstance(known, int):
            raise Refusal(line, f"the size of '{variable.name}' is not known")
        count *= known
    if variable.value is None:
        made = f"torch.zeros({count}, dtype=torch.{cx.dtype(variable.type, line)}, device=device)"
    else:
        made = _initial(cx, variable, "device", line)
        if made.count(",") != count + 1:
            raise Refusal(line, f"'{variable.name}' is declared with more or fewer values than it has elements")
    name = f"{variable.name}_on"
    head = f'@functools.cache\ndef {name}(device):\n    """The variable `{variable.name}` of a device, which keeps'
    cx.callees.keep(name, f'{head} what kernels leave in it."""\n    return {made}')
    return f"{name}({_device(cx)})"


def _device(cx: Context) -> str:
    return f"{cx.tensor}.device" if cx.tensor else '"cuda"'


def _initial(cx: Context, variable: Variable, device: str, line: int) -> str:
    """Returns a tensor of the values that a variable is declared with."""
    assert variable.value is not None
    value = expressions.expression(cx, variable.value)
    values = value.parts if value.kind is Kind.SEQUENCE else (value,)
    texts = ", ".join(str(v.constant) if v.constant is not None else v.text for v in values)
    return f"torch.tensor([{texts}], dtype=torch.{cx.dtype(variable.type, line)}, device={device})"
