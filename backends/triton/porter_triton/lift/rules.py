"""Lifting: what a kernel spells out thread by thread and Triton has a word for, said in that word.

A rule that is not certain does not apply: then the literal text is lowered.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from porter.syntax.nodes import Block, Call, Statement
from porter.syntax.unit import FunctionTree, Unit
from porter.syntax.walk import walk
from porter_triton.lift.blocks import shared_tree
from porter_triton.lift.bounded import bounded
from porter_triton.lift.counters import own_counter
from porter_triton.lift.decided import without_branches
from porter_triton.lift.facts import Facts
from porter_triton.lift.fold_trees import folding_tree
from porter_triton.lift.folds import exchanging_call, folding_call
from porter_triton.lift.groups import without_groups
from porter_triton.lift.monotonic import going_on
from porter_triton.lift.scan_trees import tree_scan
from porter_triton.lift.scans import block_scan, warp_scan
from porter_triton.lift.single import shared_number
from porter_triton.lift.sliced import named_parts
from porter_triton.lift.stages import two_stages
from porter_triton.lift.templates import Numbers, agreed, bound, function
from porter_triton.lift.trees import called, mapped, suites
from porter_triton.lift.tuples import tuple_exchanges
from porter_triton.lift.two_rows import two_row_scan
from porter_triton.lift.warps import butterfly, unrolled

Match = tuple[int, Block]
"""How many statements were taken, and the block without them."""


@dataclass(frozen=True, slots=True)
class Rule:
    """`apply(facts, block, at)` tries the statements of a block from `at` on; a `late` one where no other does."""

    name: str
    apply: Callable[[Facts, Block, int], Match | None]
    late: bool = False


@dataclass(frozen=True, slots=True)
class Applied:
    """A rule that was applied in `function`, to what stood from line `first` to line `last`."""

    rule: str
    function: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Lifted:
    """The unit and its kernel after all rules, and what was done; `left` in functions that the kernel still calls."""

    unit: Unit
    kernel: FunctionTree
    applied: tuple[Applied, ...]
    left: tuple[Applied, ...]


def lift(  # noqa: PLR0917 - what is known of a launch
    unit: Unit,
    kernel: FunctionTree,
    block: tuple[int | None, int | None, int | None],
    template: tuple[tuple[str, int], ...] = (),
    sizes: tuple[int, ...] = (),
    told: dict[object, object] | None = None,
) -> Lifted:
    """`kernel` and the device functions it calls for launches with blocks of these extents (None: unknown).

    `sizes` are all that the first extent may be where it is unknown, as far as that is known; `told` keeps what running
    statements has told from one kernel of the unit to the next.
    """
    whole = Facts(unit, kernel, block, template, sizes, {} if told is None else told)
    reached = _reached(whole)
    numbers = agreed(unit, kernel, {unit.functions[i].head.name for i in reached}, block, template)
    applied: list[tuple[int | None, Applied]] = []
    at = next((i for i, f in enumerate(unit.functions) if f is kernel), None)
    for late in (False, True):
        functions = list(unit.functions)
        for position in sorted(reached if at is None else {*reached, at}):
            tree, done = unit.functions[position], list[Applied]()
            given = template if position == at else numbers.get(tree.head.name, ())
            facts = replace(whole, unit=unit, function=tree, template=given)
            if not late:
                facts = replace(facts, function=without_groups(facts))
                facts = replace(facts, function=without_branches(facts))
            functions[position] = _lifted(facts, done, late)
            applied += [(position, a) for a in done]
        unit = replace(unit, functions=tuple(functions))
    kernel = kernel if at is None else unit.functions[at]
    still = {at, *_reached(replace(whole, unit=unit, function=kernel))} if applied else set()
    return Lifted(unit, kernel, tuple(a for _, a in applied), tuple(a for position, a in applied if position in still))


def _reached(facts: Facts) -> set[int]:
    """The positions in the unit of the functions that are called from that of `facts`, however deep."""
    positions = {id(f): i for i, f in enumerate(facts.unit.functions)}
    waiting, seen = [facts], set[tuple[int, Numbers]]()
    while waiting:
        inside = waiting.pop()
        for node in walk(inside.function.body):
            if not isinstance(node, Call):
                continue
            meant = function(inside, node)
            for callee in facts.unit.named(called(node)) if meant is None else (meant,):
                key = positions[id(callee)], bound(inside, node, callee) if meant else ()
                if key not in seen:
                    seen.add(key)
                    waiting.append(replace(facts, function=callee, template=key[1]))
    return {position for position, _ in seen}


def _lifted(facts: Facts, applied: list[Applied], late: bool) -> FunctionTree:
    """One function, until no rule applies any more, of the late ones or of the others."""
    rules = tuple(rule for rule in RULES if rule.late == late)
    while (step := _step(facts, applied, rules)) is not None:
        facts = replace(facts, function=replace(facts.function, body=step))
    return facts.function


def _step(facts: Facts, applied: list[Applied], rules: tuple[Rule, ...]) -> Block | None:
    for block in suites(facts.function.body):
        for at in range(len(block.statements)):
            for rule in rules:
                found = rule.apply(facts, block, at)
                if found is not None:
                    count, new = found
                    first, last = block.statements[at].line, _last_line(block.statements[at + count - 1])
                    applied.append(Applied(rule.name, facts.function.head.name, first, last))
                    return mapped(facts.function.body, lambda n: new if n is block else n)  # noqa: B023
    return None


def _last_line(statement: Statement) -> int:
    return max(getattr(node, "line", 0) for node in walk(statement))


def _one(change: Callable[[Facts, Statement], Statement | None]) -> Callable[[Facts, Block, int], Match | None]:
    """A rule that puts one statement in the place of one."""

    def apply(facts: Facts, block: Block, at: int) -> Match | None:
        new = change(facts, block.statements[at])
        statements = block.statements
        return None if new is None else (1, replace(block, statements=(*statements[:at], new, *statements[at + 1 :])))

    return apply


def _several(
    change: Callable[[Facts, Statement], tuple[Statement, ...] | None],
) -> Callable[[Facts, Block, int], Match | None]:
    """A rule that puts several statements in the place of one."""

    def apply(facts: Facts, block: Block, at: int) -> Match | None:
        new = change(facts, block.statements[at])
        if new is None:
            return None
        return 1, replace(block, statements=(*block.statements[:at], *new, *block.statements[at + 1 :]))

    return apply


def _unrolled(facts: Facts, block: Block, at: int) -> Match | None:
    found = unrolled(facts, block.statements[at:])
    if found is None:
        return None
    count, new = found
    return count, replace(block, statements=(*block.statements[:at], new, *block.statements[at + count :]))


RULES = (
    Rule("two-stage block reduction", two_stages),
    Rule("warp reduction", _several(butterfly)),
    Rule("warp reduction of several values", _several(tuple_exchanges)),
    Rule("unrolled warp reduction", _unrolled),
    Rule("warp reduction told by doing it", exchanging_call),
    Rule("shared array in parts", named_parts),
    Rule("shared tree", shared_tree),
    Rule("warp scan", _one(warp_scan)),
    Rule("shared scan", _one(block_scan)),
    Rule("scan as a tree", tree_scan),
    Rule("scan of two rows in turns", two_row_scan),
    Rule("loop with a bound and a test", _one(bounded)),
    Rule("loop that ends at a bound", going_on),
    Rule("loop with a counter of its own", own_counter),
    Rule("block reduction told by doing it", folding_call, late=True),
    Rule("tree told by doing it", folding_tree, late=True),
    Rule("shared array of one number", shared_number, late=True),
)
