"""Builds the graph of operations of an execution on symbols: each node is made once, numbers are folded exactly.

Folding rests on assumptions that floats do not obey in general (`0 * x` is 0); each assumption that was used is
recorded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from enum import StrEnum
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Node = int
Nodes = NDArray[np.int64]
Exact = Fraction | float  # a float is an infinity
Key = tuple[object, ...]

NUMBER, READ, GATHER, UNDEFINED = "number", "read", "gather", "undefined"
INFINITE = math.inf


class Assumption(StrEnum):
    """The assumptions that a lifted program rests on beside exact arithmetic."""

    FINITE = "inputs are finite"
    ORDERED = "no input is NaN"
    SENTINELS = "the largest number of a type stands for infinity"
    REFINED = "a value that the source leaves undefined is never used"
    ANY_ORDER = "atomic updates of one element may come in any order"
    CASTS = "roundings between float types are left out"


class NotLiftedError(Exception):
    """The operator cannot be read as a tensor program; the message says why."""


class NoTensorProgramError(NotLiftedError):
    """Data decide whether or where something is done, or the host takes part: no sizes can change that."""


class Graph:
    """Nodes by number. Node 0 is the value that the source leaves undefined.

    A node is its operation, the type of its value as `DType` names it, and its operands or, for a number, its value;
    for an element of an input the tensor and its place row by row.
    """

    def __init__(self) -> None:
        self._nodes: list[Key] = []
        self._numbers: dict[Key, Node] = {}
        self.assumptions: set[Assumption] = set()
        self.undefined = self._put((UNDEFINED, ""))

    def __len__(self) -> int:
        return len(self._nodes)

    def __getitem__(self, node: Node) -> Key:
        return self._nodes[node]

    def number(self, value: Exact | int, dtype: str) -> Node:
        """Returns the node of a number; a finite float has to come as the fraction that is meant."""
        exact = value if isinstance(value, float) else Fraction(value)
        if isinstance(exact, float) and not math.isinf(exact):
            raise NotLiftedError(f"the number {exact} is not exact")
        return self._put((NUMBER, dtype, exact))

    def read(self, tensor: str, at: int, dtype: str) -> Node:
        """Returns the node of element `at` of an input."""
        return self._put((READ, dtype, tensor, at))

    def gather(self, tensor: str, at: Node, dtype: str) -> Node:
        """Returns the node of that element of an input whose place is the value of `at`."""
        if at == self.undefined:
            return self.undefined
        place = self.value(at)
        return self.read(tensor, int(place), dtype) if place is not None else self._put((GATHER, dtype, tensor, at))

    def value(self, node: Node) -> Exact | None:
        """Returns the number that `node` is; None where it depends on data."""
        key = self._nodes[node]
        return key[2] if key[0] == NUMBER else None  # type: ignore[return-value]

    def type_of(self, node: Node) -> str:
        """Returns the type of its value."""
        return str(self._nodes[node][1])

    def operands(self, node: Node) -> tuple[Node, ...]:
        """Returns the nodes that it is computed from."""
        key = self._nodes[node]
        match key[0]:
            case "number" | "read" | "undefined":
                return ()
            case "gather":
                return (key[3],)  # type: ignore[return-value]
        return key[2:]  # type: ignore[return-value]

    def make(self, op: str, dtype: str, *operands: Node) -> Node:
        """Returns the node of `op` applied to `operands`, or a simpler one that is equal to it."""
        if self.undefined in operands and op != "select":
            return self.undefined
        folded = self._folded(op, dtype, operands)
        return self._put((op, dtype, *operands)) if folded is None else folded

    def apply(self, op: str, dtype: str, *operands: Nodes) -> Nodes:
        """Applies `make` to each place of arrays of nodes, which are broadcast; each distinct tuple is made once."""
        spread = np.broadcast_arrays(*operands)
        shape = spread[0].shape
        if not spread[0].size:
            return np.zeros(shape, np.int64)
        code = spread[0].ravel().astype(np.int64)
        for operand in spread[1:]:
            _, dense = np.unique(code, return_inverse=True)
            code = dense.ravel() * np.int64(len(self) + 1) + operand.ravel()
        _, first, back = np.unique(code, return_index=True, return_inverse=True)
        columns = [operand.ravel()[first].tolist() for operand in spread]
        made = [self.make(op, dtype, *row) for row in zip(*columns, strict=True)]
        return np.array(made, np.int64)[back.ravel()].reshape(shape)

    def _put(self, key: Key) -> Node:
        found = self._numbers.get(key)
        if found is None:
            found = self._numbers[key] = len(self._nodes)
            self._nodes.append(key)
        return found

    def _folded(self, op: str, dtype: str, operands: tuple[Node, ...]) -> Node | None:
        if op == "select":
            return self._chosen_truth(*operands) if dtype == "bool" else self._selected(*operands)
        values = [self.value(operand) for operand in operands]
        if None not in values and op in _EXACT:
            told = _EXACT[op](*values)
            if told is not None:
                return self.number(told, dtype)
        match op:
            case "add" | "subtract":
                return self._sum(op, dtype, operands, values)
            case "multiply" | "divide":
                return self._product(op, dtype, operands, values)
            case "maximum" | "minimum":
                return self._extreme(op, operands, values)
            case "less" | "equal":
                return self._compared(op, dtype, operands, values)
            case "and" | "or":
                return self._joined(op, operands, values)
            case "cast" if self.type_of(operands[0]) == dtype:
                return operands[0]
        return None

    def _assumed(self, assumption: Assumption, node: Node) -> Node:
        self.assumptions.add(assumption)
        return node

    def _sum(self, op: str, dtype: str, operands: tuple[Node, ...], values: list[Exact | None]) -> Node | None:
        (a, b), (x, y) = operands, values
        if y == 0:
            return a
        if x == 0 and op == "add":
            return b
        if a == b and op == "subtract":
            return self._assumed(Assumption.FINITE, self.number(0, dtype))
        if isinstance(x, float):
            return self._assumed(Assumption.FINITE, a)
        if isinstance(y, float):
            return self._assumed(Assumption.FINITE, self.number(y if op == "add" else -y, dtype))
        return None

    def _product(self, op: str, dtype: str, operands: tuple[Node, ...], values: list[Exact | None]) -> Node | None:
        (a, b), (x, y) = operands, values
        if y == 1:
            return a
        if x == 1 and op == "multiply":
            return b
        if (
            (x == 0 and not (y == 0 and op == "divide"))
            or (y == 0 and op == "multiply")
            or (isinstance(y, float) and op == "divide")
        ):
            return self._assumed(Assumption.FINITE, self.number(0, dtype))
        return None

    def _extreme(self, op: str, operands: tuple[Node, ...], values: list[Exact | None]) -> Node | None:
        (a, b), (x, y) = operands, values
        if a == b:
            return a
        for value, other in ((x, b), (y, a)):
            if value is not None and (value < 0) == (op == "maximum") and is_sentinel(value):
                if not isinstance(value, float):
                    self.assumptions.add(Assumption.SENTINELS)
                return other
        return None

    def _compared(self, op: str, dtype: str, operands: tuple[Node, ...], values: list[Exact | None]) -> Node | None:
        (a, b), (x, y) = operands, values
        if a == b:
            return self._assumed(Assumption.ORDERED, self.number(int(op == "equal"), dtype))
        for value, is_left in ((x, True), (y, False)):
            if isinstance(value, float):
                holds = op == "less" and (value < 0) == is_left
                return self._assumed(Assumption.FINITE, self.number(int(holds), dtype))
            if value is not None and is_sentinel(value) and self.type_of(a) in _FLOATING:
                holds = op == "less" and (value < 0) == is_left
                return self._assumed(Assumption.SENTINELS, self.number(int(holds), dtype))
        return None

    def _joined(self, op: str, operands: tuple[Node, ...], values: list[Exact | None]) -> Node | None:
        (a, b), (x, y) = operands, values
        for value, own, other in ((x, a, b), (y, b, a)):
            if value is not None:
                return other if bool(value) == (op == "and") else own
        return a if a == b else None

    def _chosen_truth(self, condition: Node, then: Node, otherwise: Node) -> Node | None:
        """Returns a or b for `a || b` where b is only asked if a does not hold, however that was spelled."""
        if self.undefined in (condition, then, otherwise):
            return self._selected(condition, then, otherwise)
        told, other = self.value(then), self.value(otherwise)
        if told is not None and told != 0:
            return self.make("or", "bool", condition, otherwise)
        if other == 0:
            return self.make("and", "bool", condition, then)
        if told == 0:
            return self.make("and", "bool", self.make("not", "bool", condition), otherwise)
        if other is not None:
            return self.make("or", "bool", self.make("not", "bool", condition), then)
        return self._selected(condition, then, otherwise)

    def _selected(self, condition: Node, then: Node, otherwise: Node) -> Node | None:
        decided = self.value(condition)
        if decided is not None:
            return then if decided else otherwise
        if condition == self.undefined:
            return self.undefined
        if then == otherwise:
            return then
        if self.undefined in (then, otherwise):
            return self._assumed(Assumption.REFINED, otherwise if then == self.undefined else then)
        key = self._nodes[condition]
        if key[0] == "not":
            return self.make("select", self.type_of(then), key[2], otherwise, then)  # type: ignore[arg-type]
        inner, outer = self._nodes[then], self._nodes[otherwise]
        first = inner[3] if inner[0] == "select" and inner[2] == condition else then
        second = outer[4] if outer[0] == "select" and outer[2] == condition else otherwise
        if (first, second) != (then, otherwise):
            return self.make("select", self.type_of(then), condition, first, second)  # type: ignore[arg-type]
        return None


def is_sentinel(value: Exact) -> bool:
    """Returns whether a number is an infinity, or the largest of a type that stands for one."""
    size = max(value, -value)
    return size >= _LEAST_SENTINEL or size in _LARGEST_INTEGERS


def exact(value: float) -> Exact:
    """Returns the fraction meant by a float that was written in few digits; an infinity as it is.

    Raises `NotLiftedError` for NaN.
    """
    if math.isnan(value):
        raise NotLiftedError("it computes with NaN")
    return value if math.isinf(value) else Fraction(repr(float(value)))


_FLOATING = frozenset({"float64", "float32", "float16", "bfloat16"})
_LEAST_SENTINEL = 10**30  # of floats: infinity is often written as 1e30, 1e38 or FLT_MAX
_LARGEST_INTEGERS = frozenset({2**31 - 1, 2**31, 2**63 - 1, 2**63})


def _quotient(a: Exact, b: Exact) -> Exact | None:
    if b == 0 or (isinstance(a, float) and isinstance(b, float)):
        return None
    return Fraction(0) if isinstance(b, float) else a / b


def _finite(of: Callable[..., Exact]) -> Callable[..., Exact | None]:
    def told(*values: Exact) -> Exact | None:
        result = of(*values)
        return None if isinstance(result, float) and math.isnan(result) else result

    return told


def _exponential(a: Exact) -> Exact | None:
    if a == -INFINITE:
        return Fraction(0)
    return Fraction(1) if a == 0 else None


def _root(a: Exact) -> Exact | None:
    return a if a in (0, 1) else None  # a root of a size is a number at some sizes only, and stays a root at all


def _times(a: Exact, b: Exact) -> Exact:
    return Fraction(0) if a == 0 or b == 0 else a * b


# Numbers of numbers; None where the result is not a fraction, and the operation stays.
_EXACT: Mapping[str, Callable[..., Exact | None]] = {
    "add": _finite(lambda a, b: a + b),
    "subtract": _finite(lambda a, b: a - b),
    "multiply": _times,
    "divide": _quotient,
    "negate": lambda a: -a,
    "absolute": abs,
    "maximum": max,
    "minimum": min,
    "less": lambda a, b: Fraction(a < b),
    "equal": lambda a, b: Fraction(a == b),
    "and": lambda a, b: Fraction(bool(a) and bool(b)),
    "or": lambda a, b: Fraction(bool(a) or bool(b)),
    "not": lambda a: Fraction(not a),
    "floor": lambda a: a if isinstance(a, float) else Fraction(math.floor(a)),
    "ceil": lambda a: a if isinstance(a, float) else Fraction(math.ceil(a)),
    "cast": lambda a: a,
    "exp": _exponential,
    "log": lambda a: Fraction(0) if a == 1 else (-INFINITE if a == 0 else None),
    "sqrt": _root,
    "rsqrt": lambda a: _quotient(Fraction(1), root) if (root := _root(a)) is not None else None,
    "tanh": lambda a: Fraction(0) if a == 0 else None,
    "erf": lambda a: Fraction(0) if a == 0 else None,
}
