"""Functions that the source declares and no file given to porter defines: in the port they raise."""

from __future__ import annotations

from porter.source.qualified import unqualified
from porter.syntax.nodes import Name
from porter_triton.host.codes import Code, Kind
from porter_triton.host.instances import kind_of
from porter_triton.host.scope import Context
from porter_triton.naming import python_name

_TEXT = """\
def {name}(*arguments):
    raise NotImplementedError("{qualified} is declared by the source and defined in another file: write it here")"""


def call(cx: Context, callee: Name, arguments: str, line: int) -> Code | None:
    """Returns the call of a function that is only declared; None for any other.

    The module gets a function of that name, to be written by hand. A stream that it returns is nothing in Python.
    """
    declared = cx.unit.only_declared(callee.name)
    if declared is None:
        return None
    kind, ctype = kind_of(cx, declared.returns), cx.type(declared.returns)
    if kind is Kind.STREAM:
        return Code("", kind)
    name = python_name(unqualified(declared.qualified))
    cx.callees.keep(name, _TEXT.format(name=name, qualified=declared.qualified))
    cx.undefined[declared.qualified] = line
    return Code(f"{name}({arguments})", kind, ctype=ctype)
