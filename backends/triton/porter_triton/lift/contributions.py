"""What a call that reduces is given by each thread: values, variables, and the elements of a thread's own arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from porter.syntax.nodes import Assign, Call, Cast, Declare, Expression, Literal, Name, Subscript, TypeName, Update
from porter.syntax.unit import FunctionTree
from porter.syntax.walk import walk
from porter_triton.lift.combining import type_of
from porter_triton.lift.evaluation import is_constant
from porter_triton.lift.facts import Facts
from porter_triton.lift.frames import Held, Pointer
from porter_triton.lift.lockstep import Lockstep
from porter_triton.lift.owners import point_to_own
from porter_triton.lift.parts import UnclearError, Value, single
from porter_triton.lift.trees import bare, called, number
from porter_triton.lower.types import BUILT_IN, Arithmetic

Given = dict[str, Expression]
"""The values that a call is given, by the names that stand for them."""
Contributed = dict[str, Arithmetic | None]
"""The variables and arrays in which threads have contributions, and the type of these where it is known."""

_MOST_ELEMENTS = 1024


def separate(facts: Facts, function: FunctionTree, call: Call) -> tuple[Call, Given]:
    """The call with names for its values, and these."""
    given = {f"argument {k}": _as_given(function, call, k) for k, a in enumerate(call.arguments)
             if _is_plain_value(facts, function, k, a)}  # fmt: skip
    arguments = tuple(Name(f"argument {k}") if f"argument {k}" in given else a for k, a in enumerate(call.arguments))
    return replace(call, arguments=arguments), given


def contribute(facts: Facts, machine: Lockstep, call: Call, given: Given) -> Contributed:
    """Give each thread a contribution in all that the call is given: its values, and variables of the function."""
    own = {n.name for n in walk(call.arguments) if isinstance(n, Name)} & _locals(facts) - facts.shared.keys()
    pointers = tuple(p.name for p in facts.function.parameters if p.name in own and p.type.pointers)
    apart = bool(pointers) and point_to_own(facts, pointers)
    found: Contributed = {}
    for name in sorted({*given, *own}):
        node = given.get(name, Name(name))
        kind = _kind(facts, node)
        element = BUILT_IN.get(kind.name)
        count = _MOST_ELEMENTS if apart and name in pointers else _count(facts, name)
        number = isinstance(element, Arithmetic) and (not kind.pointers or count is not None)
        found[name] = element if number else None  # type: ignore[assignment]
        machine.frame.types[name] = kind
        values: dict[int, Held] = {t: single(name, t, found[name]) for t in range(machine.threads)}
        if count is not None:
            machine.arrays |= {f"{name} of {t}": _Elements(name, t, found[name], count) for t in values}
            values = {t: Pointer(f"{name} of {t}", type=TypeName(kind.name)) for t in values}
        machine.frame.variables[name] = values
    return found


def _kind(facts: Facts, node: Expression) -> TypeName:
    """The type of what is given, as far as the text says it."""
    named = type_of(facts, node.name) if isinstance(node, Name) else None
    return node.type if isinstance(node, Cast) else named or TypeName("auto")


def known(facts: Facts, call: Call, given: Given) -> tuple[object, ...]:
    """All that a call is told of what stands around it: two of one text for which it is the same do the same."""
    kinds = tuple((name, bare(_kind(facts, node))) for name, node in given.items())
    names = sorted({n.name for n in walk(call) if isinstance(n, Name | TypeName)})
    own = frozenset(names) & {p.name for p in facts.function.parameters}
    around = tuple((facts.value(Name(n)), bare(facts.declared.get(n)), facts.shared.get(n)) for n in names)
    return (kinds, around, (facts.function.file, facts.function.head.span) if own else None)


def changed(machine: Lockstep, contributed: Contributed) -> dict[str, dict[int, Held]]:
    """Returns what is no longer what it was, by the text of the variable or element, in the threads where that is
    so.
    """
    found: dict[str, dict[int, Held]] = {}
    for name, type_ in contributed.items():
        for thread, value in machine.frame.variables[name].items():
            texts: Mapping[str, Held] = {name: value}
            if isinstance(value, Pointer) and not value.offset:
                texts = {f"{name}[{k}]": element for k, element in machine.arrays[value.array].items()}
            for text, now in texts.items():
                if now != single(text, thread, type_):
                    found.setdefault(text, {})[thread] = now
    return found


class _Elements(dict[int, Value]):
    """The elements of an array of a thread's own; of one with a length there are no more."""

    def __init__(self, name: str, thread: int, type_: Arithmetic | None, count: int) -> None:
        super().__init__()
        self._name, self._thread, self._type, self._count = name, thread, type_, count

    def __missing__(self, k: int) -> Value:
        self[k] = single(f"{self._name}[{k}]", self._thread, self._type)
        return self[k]

    def __setitem__(self, k: int, value: Value) -> None:
        if not 0 <= k < self._count:
            raise UnclearError
        super().__setitem__(k, value)


def _count(facts: Facts, name: str) -> int | None:
    """The number of elements of a thread's own array; None for anything else."""
    variable = facts.declared.get(name)
    return facts.value(variable.extents[0]) if variable is not None and len(variable.extents) == 1 else None


def place(text: str, line: int) -> Expression:
    """The variable or the element of this text."""
    name, _, index = text.partition("[")
    owner = Name(name, line=line)
    return Subscript(owner, Literal(int(index[:-1]), "int", line), line) if index else owner


def _locals(facts: Facts) -> frozenset[str]:
    """The names of parameters and of variables, and of arrays of known length."""
    declares = (n for n in walk(facts.function.body) if isinstance(n, Declare))
    variables = (v for d in declares for v in d.variables)
    local = frozenset(v.name for v in variables if not v.extents or _count(facts, v.name) is not None)
    return local | {p.name for p in facts.function.parameters}


def _is_plain_value(facts: Facts, function: FunctionTree, position: int, node: Expression) -> bool:
    """Returns whether an argument is a number of each thread's own that the function cannot change."""
    kind = function.parameters[position].type
    if kind.pointers or (kind.reference and not kind.const) or is_constant(node):
        return False
    if facts.value(bare(node)) is not None or number(node) is not None or isinstance(node, Literal):
        return False
    root = node.name if isinstance(node, Name) else ""
    calls = [n for n in walk(node) if isinstance(n, Call)]
    acts = any(isinstance(n, Assign | Update) for n in walk(node)) or any(_may_act(facts, n) for n in calls)
    return not acts and root not in facts.shared


def _as_given(function: FunctionTree, call: Call, position: int) -> Expression:
    """An argument as the type that the function says it is, if it says so."""
    argument, kind = call.arguments[position], function.parameters[position].type
    explicit = call.callee.template if isinstance(call.callee, Name) else ()
    said = dict(zip((p.name for p in function.head.template), explicit, strict=False)).get(kind.name)
    if kind.name in BUILT_IN:
        said = TypeName(kind.name)
    return Cast("c", said, argument, call.line) if isinstance(said, TypeName) else argument


def _may_act(facts: Facts, call: Call) -> bool:
    """Returns whether a call may change a variable, or makes a struct."""
    kinds = [p.type for f in facts.unit.named(called(call)) for p in f.parameters]
    changes = any(kind.pointers or (kind.reference and not kind.const) for kind in kinds)
    return changes or bool(facts.unit.struct(called(call)))
