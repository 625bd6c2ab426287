"""Splits the outputs of a program into nests that one pass over rows and their columns can compute.

A nest has rows, which are independent of each other, and columns, over which all of its reductions run. Where a
reduction runs over values that are themselves reductions (a loss over a softmax of every row), or over other columns
than the rest, its values become a tensor of their own, in an earlier nest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import partial

from porter.contract.model.dtype import DType
from porter.ir.tensor.expressions import Combine
from porter.ir.tensor.program import TensorProgram
from porter.schedule.flatten import flattened
from porter.schedule.linear import Linear
from porter.schedule.loops import (
    Apply,
    ArgReduce,
    Folding,
    Loop,
    Node,
    Number,
    Read,
    Reduce,
    Result,
    Scan,
    children,
    free,
    is_fold,
    renamed,
    rewritten,
    walk,
)
from porter.schedule.means import with_means
from porter.schedule.merge import merged, without_single_points
from porter.schedule.polynomial import NotSchedulableError, Polynomial, product


@dataclass(frozen=True, slots=True)
class Nest:
    """Results over `rows` and, where a result has them, `columns`; all of their reductions run over `columns`.

    Windows are not such reductions: they are a few elements around a point, added up where they are used.
    """

    rows: tuple[Loop, ...]
    columns: tuple[Loop, ...]
    results: tuple[Result, ...]

    @property
    def folds(self) -> tuple[Folding, ...]:
        """Returns the reductions over all columns, each once, before those that use them."""
        found = (node for result in self.results for node in walk(result.body))
        return tuple(dict.fromkeys(node for node in found if is_fold(node)))

    @property
    def scans(self) -> tuple[Scan, ...]:
        """Returns the running reductions, each once, before those that use them."""
        found = (node for result in self.results for node in walk(result.body))
        return tuple(dict.fromkeys(node for node in found if isinstance(node, Scan)))

    @property
    def reads(self) -> tuple[Read, ...]:
        """Returns what is read, each place once."""
        found = (node for result in self.results for node in walk(result.body))
        return tuple(dict.fromkeys(node for node in found if isinstance(node, Read)))

    @property
    def fits_a_tile(self) -> bool:
        """Returns whether all columns of a row can lie in one tile, along its axes."""
        return len(self.columns) in (1, 2) and not self.scans

    @property
    def element_bytes(self) -> int:
        """Returns the bytes of the largest elements of which each point has its own."""
        last = (self.columns or self.rows)[-1:]
        names = frozenset(loop.name for loop in last)
        read = [one.dtype.bytes for one in self.reads if names <= one.place.variables]
        return max([*read, *(one.dtype.bytes for one in self.results if names <= one.place.variables)], default=4)


def nests(program: TensorProgram) -> tuple[Nest, ...]:
    """Returns the nests of a program, each after those whose results it reads. Raises `NotSchedulableError`."""
    given = {one.name for one in program.inputs}
    splitting = _Splitting(set(given))
    for result in flattened(program):
        splitting.add(result)
    found = [_closed(one) for one in _by_rows(splitting.found)]
    return tuple(map(_with_means, _fused(found, given)))


def _with_means(nest: Nest) -> Nest:
    bodies = with_means([result.body for result in nest.results])
    return replace(nest, results=tuple(replace(r, body=body) for r, body in zip(nest.results, bodies, strict=True)))


@dataclass(frozen=True, slots=True)
class _Open:
    """A result over `rows` and `columns`, whose loops are still those of the program."""

    rows: tuple[Loop, ...]
    columns: tuple[Loop, ...]
    result: Result

    @property
    def stores_columns(self) -> bool:
        """Returns whether it has a value for each column of each row."""
        return set(self.result.loops) == {*self.rows, *self.columns} and bool(self.columns)


def _by_rows(found: Sequence[_Open]) -> Iterator[_Open]:
    """Yields results; a result for each point is taken row by row where that lets it share a nest.

    That is so where another result has as many rows and columns.
    """
    shapes = [(len(one.rows), _extents(one)) for one in found if one.stores_columns]
    for one in found:
        rows = next((rows for rows, extents in shapes if not one.columns and extents == _extents(one)), None)
        yield one if rows is None else _Open(one.rows[:rows], one.rows[rows:], one.result)


def _extents(one: _Open) -> list[Polynomial]:
    return [loop.extent for loop in (*one.rows, *one.columns)]


def _closed(one: _Open) -> Nest:
    """Returns the nest of a result; loops that run through memory one after the other are one."""
    groups = [tuple(loop.name for loop in loops) for loops in (one.rows, one.columns)]
    (joined,) = merged([one.result], groups)
    extents = {loop.name: loop for loop in joined.loops}
    for node in walk(joined.body):
        if is_fold(node):
            extents |= {loop.name: loop for loop in node.loops}
    own = [tuple(extents[name] for name in group if name in extents) for group in groups]
    return _canonical(Nest(own[0], own[1], (joined,)))


class _Splitting:
    """The results so far; added tensors are called `part`, numbered."""

    def __init__(self, taken: set[str]) -> None:
        self.found: list[_Open] = []
        self._taken = taken
        self._parts: dict[Node, str] = {}

    def add(self, result: Result) -> None:
        """Adds the nest of `result`, after those of its parts. A loop over one point is neither a row nor a column."""
        result = without_single_points(result)
        extents = {loop.name: loop for loop in result.loops}
        result = replace(result, body=self._without_nested(result.body, extents))
        folds = [node for node in walk(result.body) if is_fold(node)]
        scans = [node for node in walk(result.body) if isinstance(node, Scan)]
        fixed = frozenset[str]().union(*map(free, folds), *(free(scan) - {scan.along} for scan in scans))
        rows = tuple(loop for loop in result.loops if loop.name in fixed or not (folds or scans))
        columns = tuple(loop for loop in result.loops if loop not in rows)
        if not columns and folds:
            columns = folds[0].loops
        if scans and (len({scan.along for scan in scans}) > 1 or folds):
            raise NotSchedulableError("running reductions run along several axes, or beside reductions")
        other = [fold for fold in folds if not _alike(fold.loops, columns)]
        if other:
            self.add(replace(result, body=self._with_parts(result.body, other, extents)))
            return
        body = _over(result.body, columns)
        self.found.append(_Open(rows, columns, replace(result, body=body)))

    def _without_nested(self, node: Node, extents: dict[str, Loop]) -> Node:
        """Returns `node` with tensors in place of what is reduced for each point of another reduction, inside out."""
        if _around_others(node):
            node = _with_joined_sums(node)
        while outers := _around_others(node):
            loops = {loop.name: loop for one in walk(node) if is_fold(one) for loop in one.loops}
            node = rewritten(node, partial(self._with_part, outers, {**extents, **loops}))
        return node

    def _with_part(self, outers: AbstractSet[Node], extents: dict[str, Loop], one: Node) -> Node:
        """Returns one of `outers`, over a tensor that holds its reductions; anything else as it is."""
        if not isinstance(one, Reduce) or one not in outers:
            return one
        return replace(one, body=self._part(one.body, one.loops, extents))

    def _with_parts(self, node: Node, others: Sequence[Folding], extents: dict[str, Loop]) -> Node:
        """Returns `node` with tensors in place of reductions over other columns."""

        def rule(one: Node) -> Node:
            return self._part(one, (), extents) if one in others else one

        return rewritten(node, rule)

    def _part(self, node: Node, loops: tuple[Loop, ...], extents: dict[str, Loop]) -> Read:
        """Returns a read of a tensor that holds `node` for each point of what it depends on."""
        inner = {loop.name: loop for loop in loops}
        needed = free(node)
        own = tuple(loop for name, loop in {**extents, **inner}.items() if name in needed)
        place = Linear()
        for axis, loop in enumerate(own):
            place += Linear.variable(loop.name).times(product(later.extent for later in own[axis + 1 :]))
        dtype = _dtype(node)
        if node not in self._parts:
            name = next(name for number in range(1, 1 << 16) if (name := f"part_{number}") not in self._taken)
            self._taken.add(name)
            self._parts[node] = name
            self.add(Result(name, dtype, own, place, node))
        return Read(self._parts[node], dtype, place)


def _with_joined_sums(node: Node) -> Node:
    """Returns `node`, with added sums over the same points joined to one, each with the number before it.

    The result is what a row adds to a loss: one number, where its parts have several sums.
    """

    def rule(one: Node) -> Node:
        if not isinstance(one, Apply) or one.op != "add":
            return one
        terms = [(operand, _sum_of(operand)) for operand in one.operands]
        sums = [found for _, found in terms if found is not None]
        alike = [found for found in sums if _alike(found.loops, sums[0].loops)]
        if len(alike) < 2:
            return one
        depth = max(map(_depth, alike))  # no loop within has a name of this depth
        loops = tuple(replace(loop, name=f"sum_{depth}_{n}") for n, loop in enumerate(alike[0].loops))
        bodies = [renamed(found.body, _names(found.loops, loops)) for found in alike]
        joined = replace(alike[0], loops=loops, body=Apply("add", tuple(bodies)))
        rest = tuple(operand for operand, found in terms if found not in alike)
        return Apply("add", (*rest, joined)) if rest else joined

    return rewritten(node, rule)


def _names(own: Sequence[Loop], others: Sequence[Loop]) -> dict[str, str]:
    return {loop.name: other.name for loop, other in zip(own, others, strict=True)}


def _sum_of(node: Node) -> Reduce | None:
    """Returns a sum, or a number times one as the sum of the products; None for anything else."""
    match node:
        case Reduce(combine=Combine.SUM, guards=()):
            return node
        case Apply("multiply", (Number() as number, Reduce(combine=Combine.SUM, guards=()) as total)):
            return replace(total, body=Apply("multiply", (number, total.body)))
    return None


def _around_others(node: Node) -> set[Reduce]:
    """Returns the reductions that have another one within them, for each of their points."""
    return {
        outer
        for outer in walk(node)
        if is_fold(outer) and isinstance(outer, Reduce)
        for inner in walk(outer.body)
        if is_fold(inner) and free(inner) & {loop.name for loop in outer.loops}
    }


def _dtype(node: Node) -> DType:
    """Returns in what type the values of a part are kept."""
    precisions = [one.precision for one in walk(node) if isinstance(one, Reduce | Scan)]
    if isinstance(node, ArgReduce):
        return DType.INT64
    return precisions[-1] if precisions else DType.FLOAT32


def _alike(loops: Sequence[Loop], others: Sequence[Loop]) -> bool:
    return [loop.extent for loop in loops] == [loop.extent for loop in others]


def _over(node: Node, columns: tuple[Loop, ...]) -> Node:
    """Returns `node` with all of its reductions over the very loops `columns`."""

    def rule(one: Node) -> Node:
        if not is_fold(one):
            return one
        return renamed(one, _names(one.loops, columns))

    return rewritten(node, rule)


def _canonical(nest: Nest) -> Nest:
    """Returns a nest whose loops are called by their number, so that equal ones are equal."""
    names = {loop.name: f"row_{number}" for number, loop in enumerate(nest.rows)}
    names |= {loop.name: f"column_{number}" for number, loop in enumerate(nest.columns)}

    def loops(own: tuple[Loop, ...]) -> tuple[Loop, ...]:
        return tuple(replace(loop, name=names[loop.name]) for loop in own)

    results = tuple(
        replace(
            result,
            loops=loops(result.loops),
            place=result.place.renamed(names),
            body=_windows_by_number(renamed(result.body, names)),
        )
        for result in nest.results
    )
    return Nest(loops(nest.rows), loops(nest.columns), results)


def _windows_by_number(node: Node) -> Node:
    """Returns `node` with the same names for equal loops of windows: they are named by their depth."""

    def rule(one: Node) -> Node:
        if not isinstance(one, Reduce) or is_fold(one):
            return one
        depth = _depth(one.body)
        names = {loop.name: f"step_{depth}_{number}" for number, loop in enumerate(one.loops)}
        return renamed(one, names)

    return rewritten(node, rule)


def _depth(node: Node) -> int:
    own = 1 if isinstance(node, Reduce) else 0
    return own + max(map(_depth, children(node)), default=0)


def _fused(found: Sequence[Nest], given: AbstractSet[str]) -> Iterator[Nest]:
    """Yields the nests; neighbours over the same loops that do not need each other's results are one.

    A result that reads a tensor that was `given` needs its old contents, whichever result writes it.
    """
    current: Nest | None = None
    for nest in found:
        if current is not None and _go_together(current, nest, given):
            current = replace(current, results=(*current.results, *nest.results))
        else:
            if current is not None:
                yield current
            current = nest
    if current is not None:
        yield current


def _go_together(first: Nest, second: Nest, given: AbstractSet[str]) -> bool:
    made = {result.name for result in first.results} - given
    return (
        (first.rows, first.columns) == (second.rows, second.columns)
        and bool(first.columns) == bool(second.columns)
        and made.isdisjoint(read.tensor for read in second.reads)
    )
