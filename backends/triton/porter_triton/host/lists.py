"""Memory that a loop of host code only reads, element by element: a list, made before the loop."""

from __future__ import annotations

from porter.syntax.nodes import Block, Launch, Name, Subscript, TypeName
from porter.syntax.walk import walk
from porter_triton.host import pointers
from porter_triton.host.assigned import assigned
from porter_triton.host.codes import Code, Kind
from porter_triton.host.scope import Context


def listed(cx: Context, body: Block, counter: str, end: Code) -> dict[str, Code]:
    """Returns the pointers that `body` reads at `counter` and nowhere else, as lists of their first `end` elements.

    An element of a tensor takes a call each, and on the device a wait. Nothing else may be done to memory in `body`.
    """
    names = [n.name for n in walk(body) if isinstance(n, Name)]
    held = {n: code for n in names if isinstance(code := cx.find(n), Code) and code.kind is Kind.POINTER}
    reads = [
        n.owner.name
        for n in walk(body)
        if isinstance(n, Subscript)
        and isinstance(n.owner, Name)
        and isinstance(n.index, Name)
        and n.index.name == counter
    ]
    changed = not held.keys().isdisjoint(assigned(body)) or any(isinstance(n, Launch) for n in walk(body))
    if changed or any(names.count(n) != reads.count(n) for n in held):
        return {}
    return {n: _list(cx, n, code, end) for n, code in held.items() if pointers.pointed_kind(cx, code) is not Kind.OTHER}


def _list(cx: Context, name: str, pointer: Code, end: Code) -> Code:
    whole = cx.lengths.get(pointer.text) == end.text
    elements = pointer.text if whole else f"{pointers.flat(cx, pointer)}{pointers.part(end=end)}"
    made = cx.python_name(f"{name}_elements")
    cx.emit(f"{made} = {elements}.tolist()", made)
    assert pointer.ctype is not None
    vector = TypeName("std::vector", (TypeName(pointer.ctype.name, pointer.ctype.arguments),))
    return Code(made, Kind.SEQUENCE, ctype=vector)
