"""Splits a nest that reduces rows and stores something for each column into two: one reduces, the other stores.

The second then has a value for each point, and needs no other points: small programs without a loop store it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from porter.contract.model.dtype import DType
from porter.schedule.host_values import Names
from porter.schedule.linear import Linear
from porter.schedule.loops import Node, Read, Result, children, free, is_fold, walk, with_children
from porter.schedule.nests import Nest
from porter.schedule.polynomial import NotSchedulableError, product


@dataclass(frozen=True, slots=True)
class Apart:
    """The nest that reduces rows, and the one without columns that reads the results."""

    reducing: Nest
    storing: Nest


def apart(nest: Nest, names: Names, precision: DType) -> Apart:
    """Returns the two nests; one hands tensors of `precision`, named by `names`, to the other.

    Raises `NotSchedulableError` where nothing is stored for each column, or a running reduction is.
    """
    columns = frozenset(loop.name for loop in nest.columns)
    whole = tuple(result for result in nest.results if any(loop.name in columns for loop in result.loops))
    if not whole or nest.scans:
        raise NotSchedulableError("nothing is stored for each column behind the reductions")
    handing = _Handing(nest, columns, names, precision)
    stored = tuple(replace(result, body=handing.without_folds(result.body)) for result in whole)
    plain = tuple(result for result in nest.results if result not in whole)
    reducing = replace(nest, results=(*handing.results, *plain))
    return Apart(reducing, Nest((*nest.rows, *nest.columns), (), stored))


class _Handing:
    """The values handed on so far: one for each row."""

    def __init__(self, nest: Nest, columns: frozenset[str], names: Names, precision: DType) -> None:
        self.results: list[Result] = []
        self._rows = nest.rows
        self._columns = columns
        self._names = names
        self._precision = precision
        self._known: dict[Node, Read] = {}
        self._place = Linear()
        for axis, loop in enumerate(nest.rows):
            self._place += Linear.variable(loop.name).times(product(later.extent for later in nest.rows[axis + 1 :]))

    def without_folds(self, node: Node) -> Node:
        """Returns `node` with a read in place of each part that is the same for a row and needs a reduction."""
        if not any(map(is_fold, walk(node))):
            return node
        if free(node) & self._columns:
            return with_children(node, tuple(map(self.without_folds, children(node))))
        if node not in self._known:
            name = self._names.fresh("part_of_row")
            self.results.append(Result(name, self._precision, self._rows, self._place, node))
            self._known[node] = Read(name, self._precision, self._place)
        return self._known[node]
