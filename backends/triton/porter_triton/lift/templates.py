"""The numbers that the template parameters of device functions are, told from their calls."""

from __future__ import annotations

from porter.syntax.nodes import Call, Expression, Name, TypeName
from porter.syntax.unit import FunctionTree, Unit
from porter.syntax.walk import walk
from porter_triton.lift.facts import Facts
from porter_triton.lift.trees import called

Numbers = tuple[tuple[str, int], ...]
Block = tuple[int | None, int | None, int | None]


def bound(facts: Facts, call: Call, function: FunctionTree) -> Numbers:
    """The parameters of `function` whose numbers a call in the function of `facts` gives."""
    given = call.callee.template if isinstance(call.callee, Name) else ()
    found: list[tuple[str, int]] = []
    for position, parameter in enumerate(function.head.template):
        argument = given[position] if position < len(given) else _default(parameter.default)
        value = facts.value(Name(argument.name) if isinstance(argument, TypeName) else argument)
        if value is not None:
            found.append((parameter.name, value))
    return tuple(found)


def _default(text: str) -> Expression | None:
    plain = text.strip()
    return Name(plain) if plain.isidentifier() else None


def agreed(unit: Unit, kernel: FunctionTree, reached: set[str], block: Block, template: Numbers) -> dict[str, Numbers]:
    """The numbers of the functions called from the kernel, by name, where all calls say the same."""
    functions = [f for f in unit.functions if f.head.name in reached and f is not kernel and f.head.template]
    single = [f for f in functions if len(unit.named(f.head.name)) == 1]
    known: dict[str, Numbers] = {}
    for _ in single:  # each round follows calls one function deeper
        callers = [Facts(unit, kernel, block, template)]
        callers += [Facts(unit, f, block, known.get(f.head.name, ())) for f in unit.functions if f.head.name in reached]
        now = {f.head.name: _common(callers, f) for f in single}
        if now == known:
            break
        known = now
    return known


def _common(callers: list[Facts], function: FunctionTree) -> Numbers:
    calls = [
        set(bound(facts, node, function))
        for facts in callers
        for node in walk(facts.function.body)
        if isinstance(node, Call) and called(node) == function.head.name
    ]
    return tuple(sorted(set.intersection(*calls))) if calls else ()
