"""Several turns of a loop at a time: a tile with a row for each.

A thread of the source that loads one number a turn has little on its way; a lane of a device should have 16 bytes, in
one access where neighbours lie side by side. So where turns have nothing to do with each other but what they add to a
sum or compare with an extreme, the loop's counter becomes a column of several, `[turns, 1]`; what is computed from it
has a row for each turn, `[turns, threads]`, by Triton's own broadcasting; and each thread's parts of a sum are added
behind the loop. Sums of floats are added in another order, as between any two sizes of a block.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from porter_triton.lower import needless
from porter_triton.lower.ahead import loads_ahead
from porter_triton.lower.behind import After, Behind, Use
from porter_triton.lower.context import Context
from porter_triton.lower.emit import Branch, Comment, Line, Loop, Node, Steps, Suite, assigned, names_in, renamed
from porter_triton.lower.independent import BARRIER, Turns, independent, load_parts
from porter_triton.lower.naming import is_temporary
from porter_triton.lower.prune import live_around, live_before
from porter_triton.lower.ranges import tiled
from porter_triton.lower.types import Arithmetic
from porter_triton.lower.unrolled import written_out
from porter_triton.lower.values import AND, PRODUCT, SUM

_LANE_BITS = 128  # that a lane should have on their way
_MOST_TURNS = 8
_MOST_ELEMENTS = 2048  # of a tile
_MOST_THREADS = 1024  # of a block
_LARGEST_STEP = 4096  # of which several do not pass the counter's type, unless what it counts to nearly does


def together(cx: Context, suite: Suite) -> None:
    """Rewrite the loops of a function's body whose turns may be done together."""
    needless.leave_out(cx, suite)
    _within(cx, Behind.of(suite), suite, frozenset())


def _within(cx: Context, behind: Behind, suite: Suite, live: frozenset[str]) -> None:
    """The loops of a suite, behind which the names `live` are read."""
    nodes: list[Node] = []
    end = live
    for node in reversed(suite.nodes):
        before, made = live_before(Suite([node]), live), None
        if isinstance(node, Branch):
            _within(cx, behind, node.yes, live)
            _within(cx, behind, node.no, live)
        elif isinstance(node, Loop):
            made = _rewritten(cx, behind, node, live, After(nodes, end))
            if made is None:
                _within(cx, behind, node.body, live_around(node, live))
        elif isinstance(node, Comment) and nodes and isinstance(nodes[0], Line):
            node.turns = _turns_of(nodes)
        nodes[:0] = [node] if made is None else made
        live = before
    suite.nodes = nodes


def _rewritten(cx: Context, behind: Behind, loop: Loop, live: frozenset[str], after: After) -> list[Node] | None:
    """Returns what stands for the loop before what is `after` it; None where its turns stay one after another."""
    lines = [node for node in loop.body.nodes if isinstance(node, Line)]
    if loop.steps is None or any(not isinstance(node, Line | Comment) for node in loop.body.nodes):
        return None
    if names_in(loop.steps.end.text) & assigned(loop.body):
        return None
    carried = assigned(loop.body) & live_around(loop, live)
    found = independent(cx, loop, lines, carried)
    if found is None:
        return written_out(cx, loop, lines, carried) or loads_ahead(cx, loop, lines, carried)
    count = _count(cx, loop.steps, found) if _worth_it(loop.steps, found) else 1
    if count <= 1:
        return None
    body = {id(line) for line in lines}
    uses = {name: behind.use(name, operation, body, after) for name, (operation, _) in found.gathered.items()}
    return _Tile(cx, loop, found, count, uses).nodes()


def _worth_it(steps: Steps, found: Turns) -> bool:
    """Returns whether the counter stays within its type, and there may be several turns."""
    if steps.step.known_within(1, _LARGEST_STEP):
        return True
    wide = any(isinstance(s.type, Arithmetic) and s.type.bits == 64 for s in (steps.start, steps.end, steps.step))
    return wide and bool(found.gathered)


def _count(cx: Context, steps: Steps, found: Turns) -> int:
    """Returns how many turns make a tile."""
    count = min(_LANE_BITS // found.bits, _MOST_TURNS, _MOST_ELEMENTS // (cx.padded or _MOST_THREADS))
    return count if steps.turns is None else min(count, 1 << max(steps.turns - 1, 0).bit_length())


class _Tile:
    """One loop, rewritten for `count` turns at a time."""

    def __init__(self, cx: Context, loop: Loop, found: Turns, count: int, uses: Mapping[str, Use]) -> None:
        assert loop.steps is not None
        self._cx, self._loop, self._steps, self._found, self._count = cx, loop, loop.steps, found, count
        self._uses = uses
        own = assigned(loop.body) | {loop.variable}
        # Triton demands one shape of a name that a loop finds and assigns.
        self._names = {name: cx.names.temporary(name) for name in own if not is_temporary(name)}
        self._names |= {name: cx.names.temporary(f"{name.rstrip('_')}_turns") for name in found.gathered}
        self._rows = "" if loop.steps.masked or loop.steps.even else cx.names.temporary("going")

    def nodes(self) -> list[Node]:
        """The loop with what stands before and behind it; what it repeats alone where one tile has all turns."""
        steps, counter = self._steps, self._names[self._loop.variable]
        step, column = steps.step.within(PRODUCT), f"tl.arange(0, {self._count})[:, None]"
        if step != "1":
            column += f" * {step}"
        body = [self._node(node) for node in self._loop.body.nodes if not _waits(node)]
        if self._rows:
            body.insert(0, Line(f"{counter} < {steps.end.within(AND)}", self._rows))
        wait = [Line(BARRIER, effect=True)] if self._found.shared else []
        if steps.turns == self._count:
            begin = "" if steps.start.text == "0" else f"{steps.start.within(SUM)} + "
            return [*wait, *self._begin(), Line(begin + column, counter), *body, *self._end(), *wait]
        tile = self._cx.names.temporary(f"{self._loop.variable.removesuffix('_base')}_tile")
        ahead = self._cx.names.temporary("ahead")
        body.insert(0, Line(f"{tile} + {ahead}", counter))
        loop = Loop(tile, tiled(steps, self._count), Suite(body), turns=self._count)
        return [*wait, Line(column, ahead), *self._begin(), loop, *self._end(), *wait]

    def _begin(self) -> Iterable[Line]:
        shape = f"[{self._count}, {self._cx.block}]"
        for name, (operation, type_) in self._found.gathered.items():
            zeros = f"tl.zeros({shape}, {type_.triton})"
            yield Line(zeros if operation == "sum" else f"tl.broadcast_to({name}[None, :], {shape})", self._names[name])

    def _end(self) -> Iterable[Line]:
        for name, (operation, _) in self._found.gathered.items():
            use = self._uses[name]
            for line in use.wholes:
                line.text = f"tl.{operation}({self._names[name]})"
            if use.wholes:
                continue
            whole = f"tl.{operation}({self._names[name]}, axis=0)"
            parts = f"{name} + {whole}" if operation == "sum" else whole
            yield Line(f"{self._cx.helper('by_thread')}({parts})" if use.exchanged else parts, name)

    def _node(self, node: Node) -> Node:
        """A statement of the body, for all rows."""
        if not isinstance(node, Line):
            return node
        text, target = node.text, node.target
        if self._rows and (node.store is not None or node.pointer is not None):
            text = self._masked(node)
        elif self._rows and target in self._found.gathered:
            text = self._chosen(node)
        return replace(node, text=renamed(text, self._names), target=self._names.get(target, target))

    def _masked(self, line: Line) -> str:
        """An access of memory, in the rows of turns that there are."""
        if not line.reads & self._found.wide:
            return line.text
        function, arguments, mask, other = load_parts(line.text)
        mask = f"{mask} & {self._rows}" if mask.isidentifier() else f"({mask}) & {self._rows}" if mask else self._rows
        return f"{function}({', '.join([*arguments, f'mask={mask}', *other])})"

    def _chosen(self, line: Line) -> str:
        """Returns what is gathered, in the rows of turns that there are."""
        return f"tl.where({self._rows}, {line.text}, {line.target})"


def _waits(node: Node) -> bool:
    return isinstance(node, Line) and node.text == BARRIER


def _turns_of(nodes: list[Node]) -> int:
    """Returns how many turns at a time the loop does that a comment heads."""
    loop = next((node for node in nodes if not isinstance(node, Line)), None)
    return loop.turns if isinstance(loop, Loop) else 0
