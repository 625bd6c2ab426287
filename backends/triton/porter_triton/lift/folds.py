"""Reductions of a block by any statements, told by doing them: what comes out has each thread's part in it once."""

from __future__ import annotations

from dataclasses import dataclass, replace

from porter.syntax.nodes import (
    Assign,
    Block,
    Call,
    Cast,
    Choice,
    Declare,
    Evaluate,
    Expression,
    Lambda,
    Literal,
    Name,
    Return,
    Statement,
    TypeName,
    Update,
    Variable,
)
from porter.syntax.terms import mentions
from porter.syntax.unit import FunctionTree
from porter.syntax.walk import walk
from porter_triton.lift.after import readers
from porter_triton.lift.blocks import fresh
from porter_triton.lift.combining import type_of
from porter_triton.lift.evaluation import Held, is_constant
from porter_triton.lift.facts import Facts
from porter_triton.lift.lockstep import block_of
from porter_triton.lift.only import First, only_read_by
from porter_triton.lift.parts import Parts, UnclearError, is_whole, single
from porter_triton.lift.second import is_infinite
from porter_triton.lift.trees import bare, called, intrinsic, mapped, number
from porter_triton.lower.types import BUILT_IN, Arithmetic

_Given = dict[str, Expression]


@dataclass(frozen=True, slots=True)
class Fold:
    """`target` becomes `operation` of what `source` is in all threads, and of `constants`; empty `target`: the value.

    `everywhere`: in each thread, else in the first.
    """

    target: str
    operation: str
    source: str
    constants: frozenset[Expression]
    everywhere: bool


def folding_call(facts: Facts, block: Block, at: int) -> tuple[int, Block] | None:
    """A call of a function that reduces over the block, as words."""
    facts, block = _with_call_apart(facts, block, at)
    statement = block.statements[at]
    if not facts.leaves_together or (found := _told(facts, statement)) is None:
        return None
    folds, given = found
    if not all(f.everywhere or only_read_by(facts, statement, f.target, First.THREAD) for f in folds if f.target):
        return None
    names = _arrays(facts, statement)
    later = (r.node for r in readers(facts.function.body, statement, lambda _: False))
    if any(not _told_anew(facts, node) for node in later if any(mentions(node, name) for name in names)):
        return None
    new = tuple(_written(statement, fold, given) for fold in folds)
    return 1, Block((*block.statements[:at], *new, *block.statements[at + 1 :]), block.line)


def _with_call_apart(facts: Facts, block: Block, at: int) -> tuple[Facts, Block]:
    """`block` with the one call in the statement `at` that makes threads wait as a statement of its own before it."""
    statement = block.statements[at]
    if not isinstance(statement, Declare | Evaluate | Return) or _call(statement) is not None:
        return facts, block
    calls = [n for n in walk(statement) if isinstance(n, Call) and _waiting(facts, n) is not None]
    maybe = [n for n in walk(statement) if isinstance(n, Choice | Lambda) or getattr(n, "operator", "") in {"&&", "||"}]
    if len(calls) != 1 or any(part is calls[0] for n in maybe for part in walk(n)):
        return facts, block
    name = fresh(f"{called(calls[0])}_made", facts.function.body)
    own = Declare((Variable(name, TypeName("auto"), value=calls[0], line=statement.line),), statement.line)
    rest = mapped(statement, lambda n: Name(name, line=n.line) if n is calls[0] else n)
    new = replace(block, statements=(*block.statements[:at], own, rest, *block.statements[at + 1 :]))
    body = mapped(facts.function.body, lambda n: new if n is block else n)
    return replace(facts, function=replace(facts.function, body=body)), new


def _told(facts: Facts, statement: Statement) -> tuple[tuple[Fold, ...], _Given] | None:
    """What a call leaves in variables, and the expressions it was given; None where it is no reduction of them."""
    found = _call(statement)
    function = _waiting(facts, found[1]) if found is not None else None
    if found is None or function is None:
        return None
    key = (facts.function.head.span, facts.sizes, facts.template, bare(statement))
    if key not in facts.told:
        facts.told[key] = _found_out(facts, function, *found)
    return facts.told[key]  # type: ignore[return-value]


def _found_out(facts: Facts, function: FunctionTree, target: str, call: Call) -> tuple[tuple[Fold, ...], _Given] | None:
    given = {f"argument {k}": _as_given(function, call, k) for k, a in enumerate(call.arguments)
             if _is_plain_value(facts, function, k, a)}  # fmt: skip
    arguments = tuple(Name(f"argument {k}") if f"argument {k}" in given else a for k, a in enumerate(call.arguments))
    made = [_run(facts, target, replace(call, arguments=arguments), given, threads) for threads in facts.sizes]
    if not made or made[0] is None or any(other != made[0] for other in made):
        return None
    return made[0], given


def _call(statement: Statement) -> tuple[str, Call] | None:
    """The call that a statement is, and the variable it sets, if any."""
    if isinstance(statement, Declare) and len(statement.variables) == 1 and not statement.variables[0].extents:
        variable = statement.variables[0]
        return (variable.name, variable.value) if isinstance(variable.value, Call) else None
    made = statement.expression if isinstance(statement, Evaluate) else None
    if (
        isinstance(made, Assign)
        and not made.operator
        and isinstance(made.target, Name)
        and isinstance(made.value, Call)
    ):
        return made.target.name, made.value
    return ("", made) if isinstance(made, Call) else None


def _waiting(facts: Facts, call: Call) -> FunctionTree | None:
    """The function of the source that is called, if threads wait for each other in it."""
    own = isinstance(call.callee, Name) and not call.callee.name.startswith("porter::")
    named = [f for f in facts.unit.named(called(call)) if f.head.space != "global"] if own else []
    fitting = [f for f in named if len(f.parameters) == len(call.arguments)]
    if len(fitting) != 1 or not any(called(n) == "__syncthreads" for n in walk(fitting[0].body)):
        return None
    return fitting[0]


def _is_plain_value(facts: Facts, function: FunctionTree, position: int, node: Expression) -> bool:
    """Whether an argument is a number of each thread's own that the function cannot change."""
    kind = function.parameters[position].type
    if kind.pointers or (kind.reference and not kind.const) or is_constant(node):
        return False
    if facts.value(bare(node)) is not None or number(node) is not None or isinstance(node, Literal):
        return False
    root = node.name if isinstance(node, Name) else ""
    calls = [n for n in walk(node) if isinstance(n, Call)]
    acts = any(isinstance(n, Assign | Update) for n in walk(node)) or any(_is_own(facts, n) for n in calls)
    return not acts and root not in facts.shared


def _as_given(function: FunctionTree, call: Call, position: int) -> Expression:
    """An argument as the type that the function says it is, if it says so."""
    argument, kind = call.arguments[position], function.parameters[position].type
    explicit = call.callee.template if isinstance(call.callee, Name) else ()
    said = dict(zip((p.name for p in function.head.template), explicit, strict=False)).get(kind.name)
    if kind.name in BUILT_IN:
        said = TypeName(kind.name)
    return Cast("c", said, argument, call.line) if isinstance(said, TypeName) else argument


def _is_own(facts: Facts, call: Call) -> bool:
    return bool(facts.unit.named(called(call)) or facts.unit.struct(called(call)))


def _run(facts: Facts, target: str, call: Call, given: _Given, threads: int) -> tuple[Fold, ...] | None:
    """What the call leaves where the block has so many threads."""
    machine, every = block_of(facts, threads), tuple(range(threads))
    own = {n.name for n in walk(call.arguments) if isinstance(n, Name)} & _locals(facts) - facts.shared.keys()
    for name in {*given, *own}:
        node = given.get(name, Name(name))
        node = node.operand if isinstance(node, Cast) else node
        kind = type_of(facts, node.name) if isinstance(node, Name) else None
        element = BUILT_IN.get(kind.name) if kind is not None and not kind.pointers else None
        known = element if isinstance(element, Arithmetic) else None
        machine.frame.types[name] = kind or TypeName("auto")
        machine.frame.variables[name] = {t: single(name, t, known) for t in every}
    before = {name: dict(values) for name, values in machine.frame.variables.items()}
    try:
        result = machine.together(call, every)
        folds = [_fold(target, result, threads)] if target else []
        after = machine.frame.variables
        changed = [name for name in sorted(own) if after[name] != before[name]]
        return (*folds, *(_fold(name, after[name], threads) for name in changed)) or None
    except UnclearError:
        return None


def _fold(target: str, values: dict[int, Held], threads: int) -> Fold:
    """The reduction that all threads, or the first, have; raises `UnclearError` for anything else."""
    first = values.get(0)
    if not isinstance(first, Parts) or not is_whole(first, first.source, threads):
        raise UnclearError
    everywhere = len(values) == threads and all(v == first for v in values.values())
    return Fold(target, first.operation, first.source, first.constants, everywhere)


def _locals(facts: Facts) -> frozenset[str]:
    declares = (n for n in walk(facts.function.body) if isinstance(n, Declare))
    local = frozenset(v.name for d in declares for v in d.variables if not v.extents)
    return local | {p.name for p in facts.function.parameters}


def _told_anew(facts: Facts, node: object) -> bool:
    """Whether what is evaluated later finds nothing in the arrays that was there before, but is a reduction itself."""
    return isinstance(node, Declare | Evaluate) and (_only_names(facts, node) or _told(facts, node) is not None)


def _only_names(facts: Facts, node: Declare | Evaluate) -> bool:
    """Whether a statement declares shared arrays or other names of them."""
    return isinstance(node, Declare) and all(v.name in facts.shared for v in node.variables)


def _arrays(facts: Facts, statement: Statement) -> frozenset[str]:
    """All names of the shared arrays of the function, if the statement has one of them."""
    names = frozenset(facts.shared)
    return names if any(mentions(statement, name) for name in names) else frozenset()


def _written(statement: Statement, fold: Fold, given: _Given) -> Statement:
    """`target = reduction over the block`."""
    line = statement.line
    source = given.get(fold.source, Name(fold.source, line=line))
    value: Expression = intrinsic(f"block_{fold.operation}", source, line=line)
    for constant in sorted(fold.constants, key=repr):
        if not is_infinite(fold.operation, constant):
            value = Call(Name(fold.operation, line=line), (value, constant), line)
    if isinstance(statement, Declare) and statement.variables[0].name == fold.target:
        return Declare((replace(statement.variables[0], value=value),), line)
    return Evaluate(Assign("", Name(fold.target, line=line), value, line), line)
