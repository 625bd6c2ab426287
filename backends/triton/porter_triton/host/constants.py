"""`__constant__` variables: the tensors that launches pass for them."""

from __future__ import annotations

from porter.syntax.nodes import Call, Name, Variable
from porter.syntax.walk import walk
from porter_triton.host import expressions
from porter_triton.host.codes import Kind
from porter_triton.host.scope import Context
from porter_triton.lower.launch import LoweredKernel, ParameterKind


def given(cx: Context, kernel: LoweredKernel, line: int) -> dict[str, str]:
    """The tensors for a kernel's `__constant__` variables: what was copied there, or what they are declared with."""
    found = dict(cx.constants)
    for parameter in kernel.parameters:
        if parameter.kind is ParameterKind.CONSTANT and parameter.source not in found:
            declared = [v for v in cx.unit.variables if v.name == parameter.source and v.storage == "constant"]
            if declared and declared[-1].value is not None and not _is_written(cx, parameter.source):
                found[parameter.source] = _initial(cx, declared[-1], line)
    return found


def _is_written(cx: Context, symbol: str) -> bool:
    """Whether any function of the source copies to the variable."""
    return any(
        isinstance(n, Call)
        and isinstance(n.callee, Name)
        and "ToSymbol" in n.callee.name
        and symbol in str(n.arguments)
        for f in cx.unit.functions
        if f.head.space == "host"
        for n in walk(f.body)
    )


def _initial(cx: Context, variable: Variable, line: int) -> str:
    """A tensor of the values a `__constant__` variable is declared with."""
    assert variable.value is not None
    value = expressions.expression(cx, variable.value)
    values = value.parts if value.kind is Kind.SEQUENCE else (value,)
    texts = ", ".join(str(v.constant) if v.constant is not None else v.text for v in values)
    device = f"{cx.tensor}.device" if cx.tensor else '"cuda"'
    return f"torch.tensor([{texts}], dtype=torch.{cx.dtype(variable.type, line)}, device={device})"
