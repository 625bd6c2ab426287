"""Trees in a shared array, told by doing them: the first element ends with what each thread stored in it once."""

from __future__ import annotations

from dataclasses import replace

from porter.syntax.nodes import Assign, Block, Declare, Evaluate, Member, Name, Statement, Subscript, TypeName, Variable
from porter.syntax.terms import mentions
from porter.syntax.walk import walk
from porter_triton.lift.after import readers
from porter_triton.lift.blocks import Tree, fresh, lifted_tree, stores_all
from porter_triton.lift.facts import Facts
from porter_triton.lift.lockstep import block_of
from porter_triton.lift.parts import Parts, UnclearError, is_whole, single
from porter_triton.lift.slices import slice_of
from porter_triton.lift.trees import called, is_barrier
from porter_triton.lower.assigned import assigned_names
from porter_triton.lower.types import BUILT_IN, Arithmetic

_MOST_STATEMENTS = 24


def folding_tree(facts: Facts, block: Block, at: int) -> tuple[int, Block] | None:
    """Returns what combines the elements of all threads in a shared array into its first."""
    stored, threads = _stored_before(facts, block, at), facts.threads
    array = stored or _reached_behind(facts, block, at)
    held = slice_of(facts, array) if array else None
    if held is None or threads is None or not facts.leaves_together:
        return None
    kind = BUILT_IN.get(held.element.name)
    element = kind if isinstance(kind, Arithmetic) else None
    if element is not None and element.is_narrow:  # whose sums round at each step
        return None
    machine = block_of(facts, threads)
    machine.arrays[array] = {t: single(array, t, element) for t in range(threads)}
    for count, statement in enumerate(block.statements[at : at + _MOST_STATEMENTS], start=1):
        try:
            machine.run((statement,), tuple(range(threads)))
        except UnclearError:
            return None
        first = machine.arrays[array].get(0)
        if isinstance(first, Parts) and is_whole(first, array, threads) and not first.constants:
            taken = block.statements[at : at + count]
            tree = Tree(((array, first.operation),), Member(Name("threadIdx"), "x"), taken[0].line)
            if not (_is_together(facts, block, taken) and _forgotten(facts, taken, array)):
                return None
            if not stored:
                return lifted_tree(facts, block, at, count, tree)
            return lifted_tree(facts, _by_name(facts, block, at - 1, array), at + 1, count, tree)
    return None


def _stored_before(facts: Facts, block: Block, at: int) -> str:
    """The shared array of which each thread has stored its element right before `at`; empty where there is none."""
    made = block.statements[at - 1] if at else None
    target = made.expression.target if isinstance(made, Evaluate) and isinstance(made.expression, Assign) else None
    owner = target.owner if isinstance(target, Subscript) else None
    if not isinstance(owner, Name) or made is None or not stores_all(facts, made, owner.name):
        return ""
    return owner.name


def _reached_behind(facts: Facts, block: Block, at: int) -> str:
    """The one shared array that the statement behind the barrier `at` has; empty where there is none."""
    if called(block.statements[at]) != "__syncthreads":
        return ""
    following = next((s for s in block.statements[at:] if not is_barrier(s)), None)
    names = [name for name in facts.shared if following is not None and mentions(following, name)]
    return names[0] if len(names) == 1 else ""


def _by_name(facts: Facts, block: Block, at: int, array: str) -> Block:
    """`block` with a name for what the statement `at` stores in the array, which need not be read again then."""
    store = block.statements[at]
    assert isinstance(store, Evaluate)
    assert isinstance(store.expression, Assign)
    name, line = fresh(f"{array}_own", facts.function.body), store.line
    own = Declare((Variable(name, TypeName("auto"), value=store.expression.value, line=line),), line)
    stored = replace(store, expression=replace(store.expression, value=Name(name, line=line)))
    return replace(block, statements=(*block.statements[:at], own, stored, *block.statements[at + 1 :]))


def _is_together(facts: Facts, block: Block, taken: tuple[Statement, ...]) -> bool:
    """Returns whether all threads come to the statements: these wait for all, or stand under no condition."""
    return block is facts.function.body or any(called(n) == "__syncthreads" for n in walk(taken))


def _forgotten(facts: Facts, taken: tuple[Statement, ...], array: str) -> bool:
    """Returns whether nothing but the array tells later what the statements did."""
    names = assigned_names(facts.unit, taken) | _declared(taken) | facts.shared.keys()
    later = readers(facts.function.body, taken[-1], lambda _: False)
    inside = {id(n) for n in walk(taken)}
    return not any(mentions(r.node, n) for r in later if id(r.node) not in inside for n in names - {array})


def _declared(statements: tuple[Statement, ...]) -> frozenset[str]:
    return frozenset(v.name for s in statements if isinstance(s, Declare) for v in s.variables)
