"""Numbers and nodes: floats are always nodes, for nothing is rounded; integers are numbers until data decide them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from porter.contract.model.dtype import DType
from porter.ir.simt.interpret.domain import SYMBOL, Data, is_symbolic, numpy_type
from porter.ir.simt.types import Scalar
from porter.lift.nodes import Exact, Graph, Nodes, NotLiftedError, exact

_DTYPES = {
    Scalar.BOOL: "bool", Scalar.I8: "int8", Scalar.I16: "int16", Scalar.I32: "int32", Scalar.I64: "int64",
    Scalar.U8: "uint8", Scalar.U16: "uint16", Scalar.U32: "uint32", Scalar.U64: "uint64", Scalar.F16: "float16",
    Scalar.BF16: "bfloat16", Scalar.F32: "float32", Scalar.F64: "float64",
}  # fmt: skip
# What numerator times denominator of a quotient may be that a host is taken to have computed, in single and in double
# precision: by chance a number is as near to such a quotient once in a thousand times at most.
_SIMPLE = {True: 10**4, False: 10**12}
_MOST = 10**6  # of a denominator


def dtype_of(type_: Scalar) -> str:
    """Returns what `DType` calls a type."""
    return _DTYPES[type_]


def scalar_of(dtype: DType) -> Scalar | None:
    """Returns the type that `DType` calls so; None where the IR has none."""
    return next((type_ for type_, name in _DTYPES.items() if name == dtype.value), None)


def symbols(nodes: Nodes) -> Data:
    """Returns `nodes` as a value of the interpreter."""
    made = np.zeros(np.shape(nodes), SYMBOL)
    made["node"] = nodes
    return made


def written(value: float, type_: Scalar) -> Exact:
    """Returns the decimal that a float of a text stands for, the shortest that rounds to it; infinities as they are."""
    is_single = type_ is not Scalar.F64 and np.isfinite(value)
    return exact(float(str(np.float32(value)))) if is_single else exact(value)


def meant(value: float, type_: Scalar) -> Exact:
    """Returns what a host's float stands for: a quotient of small numbers that rounds to it, else a decimal."""
    decimal = written(value, type_)
    if isinstance(decimal, float):
        return decimal
    is_single = type_ is not Scalar.F64
    kind = np.float32 if is_single else np.float64
    for most in (10, 100, 1000, 10_000, 100_000, _MOST):
        simple = Fraction(value).limit_denominator(most)
        if kind(float(simple)) == kind(value):
            is_few = abs(simple.numerator) * simple.denominator <= _SIMPLE[is_single]
            return simple if is_few and simple.denominator < decimal.denominator else decimal
    return decimal


class Values:
    """The values of one execution, which are nodes of `graph`."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def nodes(self, data: Data, type_: Scalar) -> Nodes:
        """Returns the nodes of a value: those of its numbers where it has some."""
        if is_symbolic(data):
            return data["node"]
        held, back = np.unique(np.asarray(data), return_inverse=True)
        made = [self.graph.number(int(value), dtype_of(type_)) for value in held.tolist()]
        return np.array(made, np.int64)[back.ravel()].reshape(np.shape(data))

    def data(self, nodes: Nodes, type_: Scalar) -> Data:
        """Returns a value of `nodes`: as numbers where it has no floats, and nothing in it depends on data."""
        if type_.is_float:
            return symbols(nodes)
        held, back = np.unique(nodes, return_inverse=True)
        told = [self.graph.value(node) for node in held.tolist()]
        if any(value is None for value in told):
            return symbols(nodes)
        numbers = [wrapped(value, type_) for value in told]
        return np.array(numbers, numpy_type(type_))[back.ravel()].reshape(np.shape(nodes))


def wrapped(value: Exact | None, type_: Scalar) -> int:
    """Returns a whole number as `type_` holds it."""
    if not isinstance(value, Fraction) or value.denominator != 1:
        raise NotLiftedError("an integer that is not whole")
    if type_ is Scalar.BOOL:
        return int(bool(value))
    number = int(value) % (1 << type_.bits)
    return number - (1 << type_.bits) if type_.is_signed and number >> type_.bits - 1 else number
