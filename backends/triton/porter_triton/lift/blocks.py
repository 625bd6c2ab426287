"""Trees over a block in shared memory: `for (s = n / 2; s; s >>= 1) if (t < s) a[t] += a[t + s]`, all spellings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from porter.syntax.nodes import (
    Assign,
    Binary,
    Block,
    Cast,
    Declare,
    Evaluate,
    Expression,
    For,
    If,
    Literal,
    Member,
    Name,
    Statement,
    Subscript,
    TypeName,
    Unary,
    Variable,
)
from porter.syntax.terms import mentions
from porter.syntax.walk import walk
from porter_triton.lift.after import Reader, following, readers
from porter_triton.lift.aliases import expanded, unaliased
from porter_triton.lift.combining import FIELDS
from porter_triton.lift.facts import WARP, Facts
from porter_triton.lift.loops import Steps, combine, inlined, steps
from porter_triton.lift.slices import Slice, apart, private, slice_of
from porter_triton.lift.trees import bare, called, flat, intrinsic, is_barrier, is_name, mapped, number
from porter_triton.lift.tuples import joint_tree
from porter_triton.lower.assigned import changes

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Tree:
    """What a tree reduces: `operation` of each array, over as many elements as the block has threads.

    `joint`: that one operation takes an element of each.
    """

    operations: tuple[tuple[str, str], ...]  # (array, operation)
    thread: Expression
    line: int
    joint: bool = False


def shared_tree(facts: Facts, block: Block, at: int) -> tuple[int, Block] | None:
    """The tree that begins at the statement `at` of `block`: how many statements it has, and the block without them.

    The loop leaves partial results in the array, so it is lifted only where
    nothing but the element 0 is read before the next thread-by-thread store.
    """
    loop = block.statements[at]
    found = steps(loop)
    if (
        found is None
        or not isinstance(loop, For)
        or facts.value(found.extent) != facts.threads
        or facts.threads is None
    ):
        return None
    if not facts.leaves_together or facts.threads & (facts.threads - 1):
        return None
    if not any(called(s) == "__syncthreads" for s in flat(loop.body)):
        return None
    tree = _tree(facts, loop, found)
    if tree is None:
        return None
    count = 1 if found.least == 1 else 1 + _tail(facts, block.statements[at + 1 :], tree, found.least)
    if found.least > 1 and count == 1:
        return None
    return lifted_tree(facts, block, at, count, tree)


def _tree(facts: Facts, loop: For, found: Steps) -> Tree | None:
    """The body `if (t < s) a[t] = a[t] op a[t + s]`."""
    body = inlined(tuple(s for s in flat(loop.body) if not is_barrier(s)))
    if len(body) != 1 or not isinstance(body[0], If) or body[0].no is not None:
        return None
    place = _guard(facts, bare(body[0].condition), found)
    if place is None:
        return None
    taken = tuple(s for s in flat(body[0].yes) if not is_barrier(s))
    pairs = [_pair(facts, s, Name(found.name), place) for s in inlined(taken)]
    operations = tuple(pair for pair in pairs if pair is not None)
    joint = len(operations) < len(pairs)
    if joint:
        operations = joint_tree(facts, taken, place, found.name)
    arrays = {array for array, _ in operations}
    thread = next((n for n in walk(place) if isinstance(n, Name | Member) and facts.is_thread(n)), None)
    if thread is None or not operations or len(arrays) < len(operations):
        return None
    return Tree(operations, thread, loop.line, joint)


def _guard(facts: Facts, condition: Expression, found: Steps) -> Expression | None:
    """Returns where the threads add that take part: t if `t < s`; of a rising loop if `t % (2 * s) == 0`; or `2 * s
    * t`.
    """
    if not isinstance(condition, Binary):
        return None
    left, right = condition.left, condition.right
    if condition.operator == ">":
        left, right = right, left
    if not found.rising:
        return left if condition.operator in "<>" and facts.is_thread(left) and is_name(right, found.name) else None
    if condition.operator in "<>":
        spread = _factors(left)
        threads = [f for f in spread if facts.is_thread(f)]
        others = sorted((f for f in spread if f not in threads), key=repr)
        whole = len(threads) == 1 and others == sorted((Literal(2, "int"), Name(found.name)), key=repr)
        return left if whole and facts.value(right) == facts.threads else None
    if condition.operator != "==" or number(right) != 0 or not isinstance(left, Binary) or left.operator != "%":
        return None
    doubled = (Binary("*", Literal(2, "int"), Name(found.name)), Binary("*", Name(found.name), Literal(2, "int")))
    return left.left if left.right in doubled and facts.is_thread(left.left) else None


def _factors(node: Expression) -> list[Expression]:
    if isinstance(node, Binary) and node.operator == "*":
        return _factors(node.left) + _factors(node.right)
    return [node]


def _pair(facts: Facts, statement: Statement, step: Expression, place: Expression) -> tuple[str, str] | None:
    """The array and operation of `a[place] = a[place] op a[place + step]`; threads may be spelt in several ways."""
    found = combine(statement)
    if found is None or not isinstance(found.target, Subscript) or not isinstance(found.other, Subscript):
        return None
    array, index, other = found.target.owner, found.target.index, found.other.index

    def here(node: Expression) -> bool:
        return node == place or (facts.is_thread(node) and facts.is_thread(place))

    if not isinstance(array, Name) or found.other.owner != array or not here(index):
        return None
    if not isinstance(other, Binary) or other.operator != "+":
        return None
    ends = (other.left, other.right)
    if not any(here(a) and b == step for a, b in (ends, ends[::-1])):
        return None
    return array.name, found.operation


def _tail(facts: Facts, rest: tuple[Statement, ...], tree: Tree, least: int) -> int:
    """Returns how many statements reduce the last warp without a loop, after one that stops at steps of `least`; or
    0.
    """
    count = next((i for i, s in enumerate(rest) if not is_barrier(s)), len(rest))
    statement = rest[count] if count < len(rest) else None
    if (
        least != 2 * WARP
        or tree.joint
        or len(tree.operations) != 1
        or not isinstance(statement, If)
        or statement.no is not None
    ):
        return 0
    condition = bare(statement.condition)
    if not isinstance(condition, Binary) or condition.operator != "<" or facts.value(condition.right) != WARP:
        return 0
    if not facts.is_thread(condition.left):
        return 0
    expected = WARP
    for inner in unaliased(expanded(facts, flat(statement.yes)), tree.operations[0][0]):
        if is_barrier(inner):
            continue
        if expected == 0 or _pair(facts, inner, Literal(expected, "int"), tree.thread) != tree.operations[0]:
            return 0
        expected //= 2
    return count + 1 if expected == 0 else 0


def lifted_tree(facts: Facts, block: Block, at: int, count: int, tree: Tree) -> tuple[int, Block] | None:
    """`block` with a word for `count` statements from `at` on, which are the tree; None where somebody misses them."""
    body = facts.function.body
    new: list[Statement] = []
    rest = block.statements[at + count :]
    slices = [slice_of(facts, array) for array, _ in tree.operations]
    known = [s for s in slices if s is not None]
    if len(known) < len(slices) or facts.threads is None:
        return None
    before = block.statements[:at]
    held = [_held(facts, before, s) or Subscript(Name(s.name), tree.thread, tree.line) for s in known]
    values = _values(tree, held, new)
    for (array, operation), slice_, value in zip(tree.operations, known, values, strict=True):
        if not private(facts, slice_, block.statements[at : at + count]):
            return None

        def ends(statement: Statement, array: str = array) -> bool:
            return stores_all(facts, statement, array)

        everything = readers(body, block.statements[at + count - 1], ends)
        later = [r for r in everything if mentions(r.node, array)]
        if not all(_first_only(r, array) for r in later):
            return None
        if not all(apart(facts, slice_, facts.threads, r.node) for r in everything):
            return None
        reduced = fresh(f"{array}_{operation}", body)
        new.append(Declare((Variable(reduced, TypeName("auto"), value=value, line=tree.line),), tree.line))
        reach, near = following(rest, ends)
        if len([r for r in near if mentions(r.node, array)]) == len(later):
            rest = tuple(_first_as(s, array, reduced) for s in rest[:reach]) + rest[reach:]
        else:
            new.append(_stored(tree, array, reduced))
    return count, Block(block.statements[:at] + tuple(new) + rest, block.line)


def fresh(name: str, body: Block) -> str:
    """`name`, with a number if something in the function has it."""
    taken = {getattr(n, "name", "") for n in walk(body)}
    return next(new for new in (name, *(f"{name}_{k}" for k in range(2, 99))) if new not in taken)


def _values(tree: Tree, held: list[Expression], new: list[Statement]) -> list[Expression]:
    """Returns what becomes of each array's elements; what they become together is declared in `new` first."""
    line, (array, operation) = tree.line, tree.operations[0]
    if not tree.joint:
        pairs = zip(tree.operations, held, strict=True)
        return [intrinsic(f"block_{operation}", value, line=line) for (_, operation), value in pairs]
    name = f"{array}_{operation}_parts"
    value = intrinsic(f"block_{operation}", *held, line=line)
    new.append(Declare((Variable(name, TypeName("auto"), value=value, line=line),), line))
    return [Member(Name(name, line=line), field, line=line) for field in FIELDS[: len(held)]]


def _held(facts: Facts, before: tuple[Statement, ...], array: Slice) -> Expression | None:
    """Returns what each thread has just stored in its element, converted to the array's type, if it can be said
    again.
    """
    for statement in reversed(before):
        if stores_all(facts, statement, array.name):
            assert isinstance(statement, Evaluate)
            assert isinstance(statement.expression, Assign)
            value = statement.expression.value
            return Cast("c", array.element, value, statement.line) if _is_said_again(facts, value) else None
        is_store = isinstance(statement, Evaluate) and isinstance(statement.expression, Assign)
        target = statement.expression.target if is_store else None  # type: ignore[union-attr]
        if not is_barrier(statement) and not isinstance(target, Subscript):
            return None
    return None


def _is_said_again(facts: Facts, value: Expression) -> bool:
    """Returns whether an expression has no effect and reads no memory, which stores after it may change."""
    reads = any(isinstance(n, Subscript) or (isinstance(n, Unary) and n.operator in "*&") for n in walk(value))
    return not reads and not changes(facts.unit, value)


def stores_all(facts: Facts, statement: Statement, array: str) -> bool:
    """Returns whether each thread stores its element, and nothing of the array is read for it."""
    if not isinstance(statement, Evaluate) or not isinstance(statement.expression, Assign):
        return False
    made = bare(statement.expression)
    target = made.target
    if made.operator or not isinstance(target, Subscript) or not is_name(target.owner, array):
        return False
    return facts.is_thread(target.index) and not mentions(made.value, array)


def _first_only(reader: Reader, array: str) -> bool:
    """Returns whether an expression reads the element 0 and neither writes the array nor takes its address."""
    replaced = _first_as(reader.node, array, "")
    written = (n for n in walk(reader.node) if isinstance(n, Assign))
    return not mentions(replaced, array) and not any(mentions(n.target, array) for n in written)


def _first_as(node: _T, array: str, name: str) -> _T:
    """`node` with `name` for `array[0]`."""

    def change(n: object) -> object:
        first = isinstance(n, Subscript) and is_name(n.owner, array) and number(n.index) == 0
        return Name(name) if first else n

    return mapped(node, change)


def _stored(tree: Tree, array: str, reduced: str) -> Statement:
    zero = Literal(0, "int", tree.line)
    assign = Assign("", Subscript(Name(array), zero, tree.line), Name(reduced, line=tree.line), tree.line)
    condition = Binary("==", tree.thread, zero, tree.line)
    return If(condition, Block((Evaluate(assign, tree.line),), tree.line), None, line=tree.line)
