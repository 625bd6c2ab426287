"""Host functions that are given addresses of their caller's variables, as functions that are given references.

`void extents(int n, dim3* grid, int* threads) { *threads = 64; grid->x = n / 64; }`, called by `extents(n, &g, &t)`,
is C's way to write `dim3& grid, int& threads`, and is read as that: a launcher has no pointers to variables.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace

from porter.syntax.nodes import Assign, Block, Call, Expression, Member, Name, Subscript, Unary, Update
from porter.syntax.unit import FunctionTree, Unit
from porter.syntax.walk import rebuilt, walk

_Places = Mapping[str, frozenset[int]]  # by the name of a function, the positions of such parameters


def with_references(unit: Unit) -> Unit:
    """Returns `unit` with references for pointers of host functions that always get a variable's address."""
    while places := _places(unit):
        unit = replace(unit, functions=tuple(_rewritten(f, places) for f in unit.functions))
    return unit


def _places(unit: Unit) -> _Places:
    """Returns the parameters that only ever lead to one variable of a caller.

    `main` is not ported: an address that it alone hands on is memory of the launcher's caller in Python, too.
    """
    counted = Counter(f.head.name for f in unit.functions)
    own = {f.head.name: f for f in unit.functions if f.head.space == "host" and counted[f.head.name] == 1}
    calls: dict[str, list[Call]] = defaultdict(list)
    for function in unit.functions:
        for node in walk(function.body) if function.head.name != "main" else ():
            if isinstance(node, Call) and isinstance(node.callee, Name) and node.callee.name in own:
                calls[node.callee.name].append(node)
    found = {name: _of(own[name], named) for name, named in calls.items()}
    return {name: positions for name, positions in found.items() if positions}


def _of(function: FunctionTree, calls: list[Call]) -> frozenset[int]:
    """Returns the positions of the parameters of `function` that are not arrays, and get an address in all calls."""
    moved = frozenset(name for node in walk(function.body) for name in _moved(node))
    return frozenset(
        i
        for i, parameter in enumerate(function.parameters)
        if parameter.type.pointers and not parameter.type.reference and parameter.type.name != "void"
        if parameter.name not in moved
        if all(i < len(call.arguments) and _is_address(call.arguments[i]) for call in calls)
    )


def _moved(node: object) -> tuple[str, ...]:
    """Returns the pointers that `node` lets lead elsewhere, or asks for an element."""
    place: Expression | None = None
    match node:
        case Assign(target=place) | Update(operand=place) | Subscript(owner=place) | Unary(operator="&", operand=place):
            pass
    return (place.name,) if isinstance(place, Name) else ()


def _is_address(node: object) -> bool:
    return isinstance(node, Unary) and node.operator == "&" and isinstance(node.operand, Name | Member)


def _rewritten(function: FunctionTree, places: _Places) -> FunctionTree:
    """Returns `function` with references in its head, and with what follows from them in its body."""
    positions = places.get(function.head.name, frozenset())
    names = {p.name for i, p in enumerate(function.parameters) if i in positions}

    def change(node: object) -> object:
        match node:
            case Name(name=name, line=line) if name in names:
                return Unary("&", node, line)
            case Unary(operator="*", operand=Unary(operator="&", operand=Name() as held)) if held.name in names:
                return held
            case Member(owner=Unary(operator="&", operand=Name() as held), arrow=True) if held.name in names:
                return replace(node, owner=held, arrow=False)
            case Call(callee=Name(name=name), arguments=arguments) if name in places:
                taken = (
                    a.operand if i in places[name] and isinstance(a, Unary) else a for i, a in enumerate(arguments)
                )
                return replace(node, arguments=tuple(taken))
        return node

    parameters = tuple(
        replace(p, type=replace(p.type, pointers=p.type.pointers - 1, reference=True)) if i in positions else p
        for i, p in enumerate(function.parameters)
    )
    body = rebuilt(function.body, change)
    assert isinstance(body, Block)
    return replace(function, parameters=parameters, body=body)
