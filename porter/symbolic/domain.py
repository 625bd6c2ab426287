"""Operations on nodes, in the graph's own words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np

from porter.ir.simt.interpret.domain import Data, ExecutionError, Mask, is_symbolic
from porter.ir.simt.types import Scalar
from porter.lift.nodes import Assumption, Graph, Nodes, NoTensorProgramError, NotLiftedError
from porter.symbolic.keys import Keys, is_bits
from porter.symbolic.values import Values, dtype_of, meant, symbols, written

# What graphs call otherwise than the IR does. Functions that are in neither table are kept by their own name.
_WORDS: Mapping[str, str] = {
    "sub": "subtract", "mul": "multiply", "div": "divide", "neg": "negate", "abs": "absolute", "min": "minimum",
    "max": "maximum", "pow": "power", "trunc": "truncate", "rint": "round", "round": "round_away", "mulhi": "",
    "shl": "", "shr": "", "popc": "", "clz": "", "brev": "", "xor": "",
}  # fmt: skip
_COMPARED = {  # less or equal, operands the other way round, and turned into its opposite
    "lt": ("less", False, False), "gt": ("less", True, False), "le": ("less", True, True), "ge": ("less", False, True),
    "eq": ("equal", False, False), "ne": ("equal", False, True),
}  # fmt: skip
_OR_EQUAL = {"le": "lt", "ge": "gt"}
_OF_INTEGERS = frozenset("add sub mul neg abs min max".split())  # noqa: SIM905 - reads as words
PLACED = np.dtype(
    [("base", np.int64), ("place", np.int64), ("bytes", np.int64)]
)  # a node of elements behind an address


class Symbolic:
    """Nodes of a graph. Whatever data decide that has to be known raises `NotLiftedError`."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.values = Values(graph)
        self.keys = Keys(graph)

    def number(self, value: float, type: Scalar) -> Data:
        """Returns a float that the function names."""
        return symbols(np.array(self.graph.number(written(value, type), dtype_of(type)), np.int64))

    def passed(self, value: float, type: Scalar) -> Data:
        """Returns a float that a host has passed, and may have computed."""
        return symbols(np.array(self.graph.number(meant(value, type), dtype_of(type)), np.int64))

    def undefined(self, type: Scalar) -> Data:  # noqa: ARG002 - of all types alike
        """Returns the value that the source leaves undefined."""
        return symbols(np.array(self.graph.undefined, np.int64))

    def apply(self, kind: str, type: Scalar, given: Sequence[Scalar], operands: Sequence[Data]) -> Data:
        """Returns the operation `kind` with a result of `type` on operands of the types `given`."""
        nodes = [self.values.nodes(data, type_) for data, type_ in zip(operands, given, strict=True)]
        return self.values.data(self._made(kind, type, given, nodes), type)

    def _made(self, kind: str, type_: Scalar, given: Sequence[Scalar], nodes: Sequence[Nodes]) -> Nodes:
        of, dtype = self.graph.apply, dtype_of(type_)
        if kind in _COMPARED:
            if kind in _OR_EQUAL and given[0].is_float:  # with NaN neither a comparison nor its opposite holds
                parts = (self._made(part, type_, given, nodes) for part in (_OR_EQUAL[kind], "eq"))
                return of("or", "bool", *parts)
            word, turned, opposite = _COMPARED[kind]
            told = self.keys.simplified(of(word, "bool", *(nodes[::-1] if turned else nodes)))
            return of("not", "bool", told) if opposite else told
        match kind:
            case "cast":
                return self._cast(nodes[0], given[0], type_)
            case "fma":
                return of("add", dtype, of("multiply", dtype, nodes[0], nodes[1]), nodes[2])
            case "isnan" | "isinf":
                self.graph.assumptions.add(Assumption.ORDERED if kind == "isnan" else Assumption.FINITE)
                return np.full(nodes[0].shape, self.graph.number(0, "bool"), np.int64)
            case "bitcast":
                return self.keys.taken_for(nodes[0], type_)
            case "copysign":
                zero = np.array(self.graph.number(0, dtype), np.int64)
                size = of("absolute", dtype, nodes[0])
                return of("select", dtype, of("less", "bool", nodes[1], zero), of("negate", dtype, size), size)
        if kind == "xor" and all(is_bits(self.graph, node) for node in np.unique(nodes[0]).tolist()):
            return of("xor", dtype, *nodes)
        if not (type_.is_float or type_ is Scalar.BOOL or kind in _OF_INTEGERS):
            raise NotLiftedError(f"it computes '{kind}' of integers that data decide")
        if not (word := _WORDS.get(kind, kind)):
            raise NotLiftedError(f"it computes '{kind}' of values that data decide")
        return self.keys.simplified(of(word, dtype, *nodes))

    def _cast(self, nodes: Nodes, source: Scalar, target: Scalar) -> Nodes:
        if source.is_float and target.is_float:
            if target.bits < source.bits:
                known = [self.graph.value(node) is not None for node in np.unique(nodes).tolist()]
                self.graph.assumptions.update(() if all(known) else (Assumption.CASTS,))
            return nodes
        if target is Scalar.BOOL:
            zero = np.array(self.graph.number(0, dtype_of(source)), np.int64)
            return self.graph.apply("not", "bool", self.graph.apply("equal", "bool", nodes, zero))
        if source.is_float:
            return self.graph.apply("truncate", dtype_of(target), nodes)
        if not target.is_float and _holds(source, target):
            return nodes
        return self.graph.apply("cast", dtype_of(target), nodes)

    def select(self, condition: Data, yes: Data, no: Data, type: Scalar) -> Data:
        """Returns `yes` where `condition` is true, else `no`."""
        nodes = self.values.nodes(yes, type), self.values.nodes(no, type)
        if not is_symbolic(condition):
            return self.values.data(np.where(condition, *nodes), type)
        chosen = self.graph.apply("select", dtype_of(type), condition["node"], *nodes)
        return self.values.data(self.keys.simplified(chosen), type)

    def decided(self, value: Data, type: Scalar, mask: Mask) -> Data:
        """Returns a value as numbers. Raises `NotLiftedError` where data decide it in a lane of `mask`."""
        nodes = self.values.nodes(value, type)
        zero = self.graph.number(0, dtype_of(type))
        found = self.values.data(np.where(mask, nodes, zero), type) if np.ndim(nodes) else self.values.data(nodes, type)
        if is_symbolic(found):
            raise NoTensorProgramError("a value of the data decides what is executed")
        return found

    def certain(self, condition: Data) -> tuple[Mask, Mask]:
        """Returns the lanes in which `condition` is true whatever the data are, and those in which it is false."""
        held, back = np.unique(condition["node"], return_inverse=True)
        told = [self.graph.value(node) for node in held.tolist()]
        if self.graph.undefined in held.tolist():
            told = [Fraction(0) if n == self.graph.undefined else v for n, v in zip(held.tolist(), told, strict=True)]
        shape = np.shape(condition)
        true, false = (np.array([v is not None and bool(v) is way for v in told]) for way in (True, False))
        return true[back.ravel()].reshape(shape), false[back.ravel()].reshape(shape)

    def found(self, each: Sequence[Data], type: Scalar, contested: Mask) -> Data:
        """Returns what atomics found. Numbers stay what they are: the call is executed in another order, too."""
        nodes = np.concatenate([self.values.nodes(one, type) for one in each])
        contested &= np.array([self.graph.value(node) is None for node in nodes.tolist()])
        named = self.graph.apply("outcome", dtype_of(type), nodes)
        return self.values.data(np.where(contested, named, nodes), type)

    def moved(self, base: Data, index: Data, size_bytes: int, mask: Mask) -> Data:
        """Returns addresses further on; one whose index data decide is an address and a node."""
        if base.dtype == PLACED or is_symbolic(base):
            if base.dtype == PLACED and not is_symbolic(index):
                further = np.broadcast_to(base, mask.shape).copy()
                further["base"] += index.astype(np.int64) * size_bytes
                return further
            raise NotLiftedError("a value of the data decides an address")
        if not is_symbolic(index):
            moved: Data = base + index.astype(np.int64) * size_bytes
            return moved
        try:
            return self.moved(base, self.decided(index, Scalar.I64, mask), size_bytes, mask)
        except NotLiftedError:
            placed = np.zeros(mask.shape, PLACED)
            placed["base"], placed["place"], placed["bytes"] = base, index["node"], size_bytes
            return placed


def _holds(source: Scalar, target: Scalar) -> bool:
    """Returns whether every integer of one type is one of the other."""
    if source is Scalar.BOOL:
        return True
    if source.is_signed == target.is_signed:
        return source.bits <= target.bits
    return not source.is_signed and source.bits < target.bits


def refused(error: ExecutionError) -> NotLiftedError:
    """An error of the interpreter as a reason why nothing is lifted."""
    return NotLiftedError(str(error))
