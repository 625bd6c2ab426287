"""The numbers that the template parameters of device functions are, told from their calls."""

from __future__ import annotations

from collections.abc import Sequence

from porter.syntax.nodes import Call, Expression, Name, TypeName
from porter.syntax.unit import FunctionTree, Unit
from porter.syntax.walk import walk
from porter_triton.lift.facts import Facts
from porter_triton.lift.trees import called
from porter_triton.lower.matching import owner
from porter_triton.lower.types import BUILT_IN, Arithmetic

Argument = TypeName | Expression
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


def function(facts: Facts, call: Call) -> FunctionTree | None:
    """The function of the source that a call in the function of `facts` means; None where that is not certain."""
    if not isinstance(call.callee, Name) or call.callee.name.startswith("porter::"):
        return None
    named = [f for f in facts.unit.named(called(call)) if f.head.space != "global"]
    fitting = [f for f in named if len(f.parameters) == len(call.arguments)]
    meant = {id(f): _is_meant(facts, f.arguments, call.callee.template) for f in fitting if f.arguments}
    if None in meant.values():
        return None
    found = [f for f in fitting if meant.get(id(f))] or [f for f in fitting if not f.arguments]
    return found[0] if len(found) == 1 else None


def deduced(facts: Facts, call: Call, types: Sequence[Arithmetic | None]) -> FunctionTree | None:
    """The overload that a call without template arguments means for values of these types; None where not certain.

    One that takes just these goes before a template that takes any.
    """
    named = [f for f in facts.unit.named(called(call)) if f.head.space != "global"]
    fitting = [f for f in named if len(f.parameters) == len(types)]
    plain = isinstance(call.callee, Name) and not call.callee.template and not call.callee.name.startswith("porter::")
    if not plain or None in types or any(p.type.pointers for f in fitting for p in f.parameters):
        return None
    given = [(type_, owner(type_)) for type_ in types]
    exact = [f for f in fitting if [_built_in(p.type) for p in f.parameters] == given]
    any_ = [f for f in fitting if not f.arguments and len({p.type.name for p in f.parameters} & _open(f)) == 1]
    found = exact or [f for f in any_ if len(set(given)) == 1 and all(p.type.name in _open(f) for p in f.parameters)]
    return found[0] if len(found) == 1 else None


def _built_in(kind: TypeName) -> tuple[object, str]:
    type_ = BUILT_IN.get(kind.name)
    return type_, owner(type_)


def _open(function: FunctionTree) -> frozenset[str]:
    """The names of a template's own types."""
    return frozenset(p.name for p in function.head.template)


def _is_meant(facts: Facts, own: tuple[Argument, ...], given: tuple[Argument, ...]) -> bool | None:
    """Returns whether arguments mean the specialisation for the arguments `own`; None where that is not certain."""
    pairs = [(_meaning(facts, a), _meaning(facts, b)) for a, b in zip(own, given, strict=False)]
    if any(None not in pair and pair[0] != pair[1] for pair in pairs):
        return False
    return None if len(own) != len(given) or any(None in pair for pair in pairs) else True


def _meaning(facts: Facts, argument: Argument) -> object:
    """The number or the type that a template argument is; None where that is not known."""
    number = facts.value(Name(argument.name) if isinstance(argument, TypeName) else argument)
    if number is not None or not isinstance(argument, TypeName):
        return number
    known = BUILT_IN.get(argument.name)
    return None if known is None else (known, owner(known), argument.pointers)


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
