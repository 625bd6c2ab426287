"""Reductions of a block or of warps by any statements, told by doing them.

What comes out has each thread's part in it once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from porter.syntax.nodes import (
    Assign,
    Binary,
    Block,
    Call,
    Choice,
    Declare,
    Evaluate,
    Expression,
    Lambda,
    Literal,
    Member,
    Name,
    Return,
    Statement,
    TypeName,
    Unary,
    Variable,
)
from porter.syntax.terms import mentions
from porter.syntax.unit import FunctionTree
from porter.syntax.walk import walk
from porter_triton.lift import templates
from porter_triton.lift.after import readers
from porter_triton.lift.blocks import fresh
from porter_triton.lift.contributions import Given, changed, contribute, known, place, separate
from porter_triton.lift.facts import WARP, Facts
from porter_triton.lift.frames import Held
from porter_triton.lift.lockstep import block_of
from porter_triton.lift.only import First, only_read_by
from porter_triton.lift.parts import COUNTED, Parts, UnclearError, further, width
from porter_triton.lift.reach import reach
from porter_triton.lift.second import is_infinite
from porter_triton.lift.trees import bare, called, intrinsic, mapped

_RESULT = "result of the call"


@dataclass(frozen=True, slots=True)
class Fold:
    """`target` becomes `operation` of what `source` is in all threads, and of `constants`; empty `target`: the value.

    Both are the text of a variable or an element. `lanes`: of so many lanes each, 0 for the whole block. `everywhere`:
    in each thread, else in the first, of the block or of a warp. `of_idle`: the constants are those of lanes without a
    warp, which a block of 32 warps has not.
    """

    target: str
    operation: str
    source: str
    constants: frozenset[Expression]
    lanes: int
    everywhere: bool
    of_idle: bool = False


def folding_call(facts: Facts, block: Block, at: int) -> tuple[int, Block] | None:
    """A call of a function that reduces over the block, as words."""
    return _as_words(facts, block, at, True) if facts.leaves_together else None


def exchanging_call(facts: Facts, block: Block, at: int) -> tuple[int, Block] | None:
    """A call of a function that reduces over lanes, as words."""
    return _as_words(facts, block, at, False)


def _as_words(facts: Facts, block: Block, at: int, waits: bool) -> tuple[int, Block] | None:
    facts, block = _with_call_apart(facts, block, at, waits)
    statement = block.statements[at]
    if (found := _told(facts, statement, waits)) is None:
        return None
    folds, given = found
    if not all(_left_to_first(facts, statement, f) for f in folds if f.target and not f.everywhere):
        return None
    names = _arrays(facts, statement)
    later = (r.node for r in readers(facts.function.body, statement, lambda _: False))
    if any(not _told_anew(facts, node) for node in later if any(mentions(node, name) for name in names)):
        return None
    new = tuple(_written(statement, fold, given) for fold in folds)
    return 1, Block((*block.statements[:at], *new, *block.statements[at + 1 :]), block.line)


def _left_to_first(facts: Facts, statement: Statement, fold: Fold) -> bool:
    """Returns whether only those threads read what is set which have it."""
    first, call = First.LANE if fold.lanes else First.THREAD, _call(statement)
    name = fold.target.partition("[")[0]
    assert call is not None
    handed_on = any(p.name == name and p.type.pointers for p in facts.function.parameters)
    return not handed_on and only_read_by(facts, statement, name, first, setter=called(call[1]))


def _with_call_apart(facts: Facts, block: Block, at: int, waits: bool) -> tuple[Facts, Block]:
    """`block` with the one reducing call in the statement `at` as a statement of its own before it."""
    statement = block.statements[at]
    if not isinstance(statement, Declare | Evaluate | Return) or _call(statement) is not None:
        return facts, block
    calls = [n for n in walk(statement) if isinstance(n, Call) and _reducing(facts, n, waits) is not None]
    maybe = [n for n in walk(statement) if isinstance(n, Choice | Lambda) or getattr(n, "operator", "") in {"&&", "||"}]
    if len(calls) != 1 or any(part is calls[0] for n in maybe for part in walk(n)):
        return facts, block
    name = fresh(f"{called(calls[0])}_made", facts.function.body)
    own = Declare((Variable(name, TypeName("auto"), value=calls[0], line=statement.line),), statement.line)
    rest = mapped(statement, lambda n: Name(name, line=n.line) if n is calls[0] else n)
    new = replace(block, statements=(*block.statements[:at], own, rest, *block.statements[at + 1 :]))
    body = mapped(facts.function.body, lambda n: new if n is block else n)
    return replace(facts, function=replace(facts.function, body=body)), new


def _told(facts: Facts, statement: Statement, waits: bool) -> tuple[tuple[Fold, ...], Given] | None:
    """Returns what a call leaves in variables, and the expressions it was given; None where it is no reduction of
    them.
    """
    found = _call(statement)
    function = _reducing(facts, found[1], waits) if found is not None else None
    if found is None or function is None:
        return None
    target, (call, given) = found[0], separate(facts, function, found[1])
    key = (function.file, function.head.span, waits, bool(target), facts.sizes, bare(call), known(facts, call, given))
    if key not in facts.told:
        facts.told[key] = _found_out(facts, function, _RESULT if target else "", call, given, waits=waits)
    folds: tuple[Fold, ...] | None = facts.told[key]  # type: ignore[assignment]
    named = (replace(f, target=target) if f.target == _RESULT else f for f in folds or ())
    return (tuple(named), given) if folds is not None else None


def _found_out(
    facts: Facts, function: FunctionTree, target: str, call: Call, given: Given, *, waits: bool
) -> tuple[Fold, ...] | None:
    sizes = (WARP,) if reach(facts.unit, function, facts.told).among_lanes else facts.sizes
    common: tuple[Fold, ...] | None = None
    for threads in sizes or facts.whole_warps:
        made = _run(facts, target, call, given, threads, waits=waits, of_all=not sizes)
        if made is None or (common is not None and len(made) != len(common)):
            return None
        both = made if common is None else [_common(a, b, threads) for a, b in zip(common, made, strict=True)]
        common = tuple(fold for fold in both if fold is not None)
        if len(common) < len(both):
            return None
    return common


def _common(one: Fold, other: Fold, threads: int) -> Fold | None:
    """Returns what smaller blocks and one of so many threads leave, if it is one; one warp may leave it to more
    threads.
    """
    full = threads == WARP * WARP and not other.constants and all(map(_is_real, one.constants))
    both = replace(one, everywhere=one.everywhere and other.everywhere, of_idle=full and bool(one.constants))
    as_one = replace(other, everywhere=both.everywhere, constants=one.constants, of_idle=both.of_idle)
    return both if as_one == both and (full or other.constants == one.constants) else None


def _is_real(constant: Expression) -> bool:
    return isinstance(constant, Literal) and isinstance(constant.value, float)


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


def _reducing(facts: Facts, call: Call, waits: bool) -> FunctionTree | None:
    """The function of the source that is called, if in it all threads wait for each other, or else lanes exchange."""
    function = templates.function(facts, call)
    if function is None:
        return None
    found = reach(facts.unit, function, facts.told)
    if waits or found.waits:
        return function if waits and found.waits else None
    return function if found.exchanges and any(p.type.pointers for p in function.parameters) else None


def _run(
    facts: Facts, target: str, call: Call, given: Given, threads: int, *, waits: bool, of_all: bool
) -> tuple[Fold, ...] | None:
    """Returns what the call leaves where the block has so many threads; `of_all`: only if others cannot be right."""
    machine, lanes = block_of(facts, threads), 0 if waits else WARP
    contributed = contribute(facts, machine, call, given)
    try:
        result = machine.together(call, tuple(range(threads)))
        folds = [_fold(target, result, threads, lanes)] if target else []
        folds += [_fold(name, values, threads, lanes) for name, values in changed(machine, contributed).items()]
    except UnclearError:
        return None
    told = folds and not _crossed(folds, given) and (machine.of_all or not of_all)
    return tuple(folds) if told else None


def _fold(target: str, values: dict[int, Held], threads: int, lanes: int) -> Fold:
    """The reduction over the block, or over at most so many lanes; raises `UnclearError` for anything else."""
    first = values.get(0)
    if not isinstance(first, Parts) or first.operation not in COUNTED:
        raise UnclearError
    size = width(first)
    has = [values.get(t) == further(first, t - t % size) for t in range(threads)] if size else []
    everywhere, firsts = all(has), has[:: lanes or threads]
    if size not in ({2, 4, 8, 16, 32} if lanes else {threads}) or not all(firsts):
        raise UnclearError
    if lanes and not everywhere and size != lanes:
        raise UnclearError
    return Fold(target, first.operation, first.source, first.constants, size if lanes else 0, everywhere)


def _crossed(folds: list[Fold], given: Given) -> bool:
    """Returns whether one of several reduces what one before it has set."""
    for k, fold in enumerate(folds):
        for name in (before.target for before in folds[:k]):
            if fold.source == name or mentions(given.get(fold.source), name.partition("[")[0]):
                return True
    return False


def _told_anew(facts: Facts, node: object) -> bool:
    """Returns whether what is evaluated later finds nothing in the arrays that was there before, but is a reduction
    itself.
    """
    return isinstance(node, Declare | Evaluate) and (_only_names(facts, node) or _told(facts, node, True) is not None)


def _only_names(facts: Facts, node: Declare | Evaluate) -> bool:
    """Returns whether a statement declares shared arrays or other names of them."""
    return isinstance(node, Declare) and all(v.name in facts.shared for v in node.variables)


def _arrays(facts: Facts, statement: Statement) -> frozenset[str]:
    """All names of the shared arrays of the function, if the statement has one of them."""
    names = frozenset(facts.shared)
    return names if any(mentions(statement, name) for name in names) else frozenset()


def _written(statement: Statement, fold: Fold, given: Given) -> Statement:
    """`target = reduction over the block`, or over lanes."""
    line = statement.line
    scope, width_ = ("warp", (Literal(fold.lanes, "int"),)) if fold.lanes else ("block", ())
    source = given.get(fold.source) or place(fold.source, line)
    value: Expression = intrinsic(f"{scope}_{fold.operation}", source, *width_, line=line)
    for constant in sorted(fold.constants, key=repr):
        limit = _of_idle(fold.operation, constant) if fold.of_idle else constant
        if not is_infinite(fold.operation, constant):
            value = Call(Name(fold.operation, line=line), (value, limit), line)
    if isinstance(statement, Declare) and statement.variables[0].name == fold.target:
        return Declare((replace(statement.variables[0], value=value),), line)
    return Evaluate(Assign("", place(fold.target, line), value, line), line)


def _of_idle(operation: str, constant: Expression) -> Expression:
    """A limit that there is in blocks of fewer than 32 warps."""
    none: Expression = Name("INFINITY")
    none = Unary("-", none) if operation == "max" else none
    return Choice(Binary("<", Member(Name("blockDim"), "x"), Literal(WARP * WARP, "int")), constant, none)
