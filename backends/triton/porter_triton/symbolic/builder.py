"""The primitive operations of Triton's interpreter on tiles that hold nodes.

What is whole numbers throughout is left to the interpreter. The tables say which operation of a graph each is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import triton.language as tl
from numpy.typing import NDArray
from triton._C.libtriton import ir
from triton.runtime.interpreter import InterpreterBuilder, TensorHandle

from porter.lift.nodes import Assumption, Graph, Nodes, NotLiftedError
from porter_triton.symbolic import whole_numbers
from porter_triton.symbolic.casts import cast
from porter_triton.symbolic.keys import bits_of, float_of
from porter_triton.symbolic.library import device_function
from porter_triton.symbolic.memory import Memory
from porter_triton.symbolic.values import (
    ADDRESS,
    Values,
    distinct,
    is_float,
    is_symbolic,
    numpy_type,
    tile,
    type_name,
)

_FLOAT_BINARY = {
    "fadd": "add", "fsub": "subtract", "fmul": "multiply", "fdiv": "divide", "precise_divf": "divide", "frem": "fmod",
    "minimumf": "minimum", "minnumf": "minimum", "maximumf": "maximum", "maxnumf": "maximum",
}  # fmt: skip
_FLOAT_UNARY = {
    "exp": "exp", "exp2": "exp2", "log": "log", "log2": "log2", "sqrt": "sqrt", "precise_sqrt": "sqrt",
    "rsqrt": "rsqrt", "sin": "sin", "cos": "cos", "erf": "erf", "floor": "floor", "ceil": "ceil", "fabs": "absolute",
}  # fmt: skip
_WHOLE_BINARY = {
    "add": "add", "sub": "subtract", "mul": "multiply", "sdiv": "quotient", "udiv": "quotient", "srem": "remainder",
    "urem": "remainder", "minsi": "minimum", "minui": "minimum", "maxsi": "maximum", "maxui": "maximum",
    "shl": "shift_left", "lshr": "shift_right", "ashr": "shift_right", "xor": "xor",
}  # fmt: skip
_ON_BITS = {"and": "bit_and", "or": "bit_or"}  # of truth values the names are those of the builder
# The node, whether its operands change places, and whether it is denied.
_COMPARISONS = {
    "LT": ("less", False, False), "GT": ("less", True, False), "LE": ("less", True, True), "GE": ("less", False, True),
    "EQ": ("equal", False, False), "NE": ("equal", False, True),
}  # fmt: skip
_ACQUIRING = (ir.MEM_SEMANTIC.ACQUIRE_RELEASE, ir.MEM_SEMANTIC.ACQUIRE)
_ATOMIC = {
    ir.ATOMIC_OP.ADD: "add", ir.ATOMIC_OP.FADD: "add", ir.ATOMIC_OP.MAX: "maximum", ir.ATOMIC_OP.UMAX: "maximum",
    ir.ATOMIC_OP.MIN: "minimum", ir.ATOMIC_OP.UMIN: "minimum", ir.ATOMIC_OP.AND: "bit_and", ir.ATOMIC_OP.OR: "bit_or",
    ir.ATOMIC_OP.XOR: "xor",
}  # fmt: skip
_Method = Callable[..., TensorHandle]


class SymbolicBuilder(InterpreterBuilder):  # type: ignore[misc]
    """Triton's builder, of which `begin` has to be called for each execution."""

    values: Values
    memory: Memory

    def begin(self, values: Values, memory: Memory) -> None:
        """From here on tiles are made of `values`, and addresses are those of `memory`."""
        self.values, self.memory = values, memory

    @property
    def graph(self) -> Graph:
        """The graph that nodes are of."""
        return self.values.graph

    def make(self, op: str, type_: tl.dtype, *operands: Nodes) -> TensorHandle:
        """Returns a tile of `op` of the operands at each place; its elements have the type `type_`."""
        return self.values.handle(self.made(op, type_, *operands), type_)

    def made(self, op: str, type_: tl.dtype, *operands: Nodes) -> Nodes:
        """The nodes of `make`."""
        dtype = type_name(type_)
        one = self.graph.make if is_float(dtype) else partial(whole_numbers.make, self.graph)
        return distinct(partial(one, op, dtype), *operands)

    def apply(self, op: str, type_: tl.dtype, *operands: TensorHandle) -> TensorHandle:
        """`make` of the nodes of tiles."""
        return self.make(op, type_, *map(self.values.nodes, operands))

    # What the interpreter would do with a tile of nodes beside what is below.

    def binary_op(self, lhs: TensorHandle, rhs: TensorHandle, op: Callable[..., Any]) -> TensorHandle:
        """The interpreter's, of whole numbers."""
        self._refuse(op, lhs, rhs)
        return super().binary_op(lhs, rhs, op)

    def unary_op(self, arg: TensorHandle, op: Callable[..., Any]) -> TensorHandle:
        """The interpreter's, of whole numbers."""
        self._refuse(op, arg)
        return super().unary_op(arg, op)

    @staticmethod
    def _refuse(op: Callable[..., Any], *given: TensorHandle) -> None:
        if any(map(is_symbolic, given)):
            raise NotLiftedError(f"it computes `{getattr(op, '__name__', op)}` of data")

    # Constants

    def get_fp16(self, value: float) -> TensorHandle:
        """A number in a text."""
        return self.values.scalar(value, tl.float16)

    def get_bf16(self, value: float) -> TensorHandle:
        """A number in a text."""
        return self.values.scalar(value, tl.bfloat16)

    def get_fp32(self, value: float) -> TensorHandle:
        """A number in a text."""
        return self.values.scalar(value, tl.float32)

    def get_fp64(self, value: float) -> TensorHandle:
        """A number in a text."""
        return self.values.scalar(value, tl.float64)

    def get_null_value(self, type: tl.dtype) -> TensorHandle:
        """Zero."""
        scalar = type.scalar
        return self.values.scalar(0.0, scalar) if scalar.is_floating() else super().get_null_value(scalar)

    def get_all_ones_value(self, type: tl.dtype) -> TensorHandle:
        """An integer with all bits set."""
        stored = np.array([True]) if type.scalar == tl.int1 else np.array([-1]).astype(numpy_type(type))
        return TensorHandle(stored, type.scalar)

    # Choices, and moves within a tile

    def create_select(self, cond: TensorHandle, lhs: TensorHandle, rhs: TensorHandle) -> TensorHandle:
        """One of two values."""
        type_ = lhs.dtype.scalar
        if not is_symbolic(cond):
            if is_symbolic(lhs) or is_symbolic(rhs):
                return self.values.handle(np.where(cond.data, self.values.nodes(lhs), self.values.nodes(rhs)), type_)
            return TensorHandle(np.where(cond.data, lhs.data, rhs.data), _held(lhs))
        if type_.is_ptr():
            raise NotLiftedError("a value of the data decides which tensor is used")
        return self.apply("select", _held(lhs), cond, lhs, rhs)

    def create_splat(self, ret_ty: tl.block_type, arg: TensorHandle) -> TensorHandle:
        """A tile of one value."""
        value = arg.data.reshape(-1)[0]
        made = np.empty(tuple(map(int, ret_ty.shape)), arg.data.dtype)
        made[...] = value
        return TensorHandle(made, _held(arg))

    def create_unsplat(self, arg: TensorHandle) -> TensorHandle:
        """The value of a tile with one element."""
        return TensorHandle(arg.data.reshape(-1)[:1].copy(), _held(arg))

    def create_gather(self, src: TensorHandle, indices: TensorHandle, axis: int) -> TensorHandle:
        """Elements along an axis."""
        if is_symbolic(indices):
            raise NotLiftedError("a value of the data decides which element of a tile is used")
        places = indices.data.astype(np.int64)
        if places.size and (places.min() < 0 or places.max() >= src.data.shape[axis]):
            raise NotLiftedError(f"it gathers an element outside of a tile of {src.data.shape}")
        return TensorHandle(np.take_along_axis(src.data, places, axis=axis), _held(src))

    def create_join(self, lhs: TensorHandle, rhs: TensorHandle) -> TensorHandle:
        """Two tiles along a new last axis."""
        return TensorHandle(np.stack(self._alike(lhs, rhs), axis=-1), _held(lhs))

    def create_cat(self, lhs: TensorHandle, rhs: TensorHandle) -> TensorHandle:
        """Two tiles, one behind the other."""
        return TensorHandle(np.concatenate(self._alike(lhs, rhs)), _held(lhs))

    def _alike(self, lhs: TensorHandle, rhs: TensorHandle) -> list[NDArray[Any]]:
        if is_symbolic(lhs) == is_symbolic(rhs):
            return [lhs.data, rhs.data]
        return [tile(self.values.nodes(lhs)), tile(self.values.nodes(rhs))]

    # Arithmetic

    def create_clampf(self, arg: TensorHandle, lo: TensorHandle, hi: TensorHandle, _nans: object) -> TensorHandle:
        """A value within bounds."""
        return self.apply("minimum", arg.dtype, self.apply("maximum", arg.dtype, arg, lo), hi)

    def create_fma(self, x: TensorHandle, y: TensorHandle, z: TensorHandle) -> TensorHandle:
        """A product and a sum, rounded once."""
        return self.apply("add", z.dtype, self.apply("multiply", z.dtype, x, y), z)

    def create_iabs(self, arg: TensorHandle) -> TensorHandle:
        """The magnitude of an integer."""
        return self.apply("absolute", arg.dtype, arg) if is_symbolic(arg) else super().create_iabs(arg)

    def create_umulhi(self, lhs: TensorHandle, rhs: TensorHandle) -> TensorHandle:
        """The upper half of a product of whole numbers."""
        self._refuse(self.create_umulhi, lhs, rhs)
        return super().create_umulhi(lhs, rhs)

    def create_histogram(self, data: TensorHandle, bins: int, mask: TensorHandle | None) -> TensorHandle:
        """Counts of whole numbers."""
        if is_symbolic(data) or (mask is not None and is_symbolic(mask)):
            raise NotLiftedError("a value of the data decides what is counted")
        return super().create_histogram(data, bins, mask)

    def create_dot(
        self, a: TensorHandle, b: TensorHandle, d: TensorHandle, input_precision: object, _most: object
    ) -> TensorHandle:
        """A product of matrices, as the sum of products that it is."""
        if input_precision == ir.INPUT_PRECISION.TF32 and a.dtype.scalar == tl.float32:
            self.graph.assumptions.add(Assumption.CASTS)
        left, right = self.values.nodes(a), self.values.nodes(b)
        total = d
        for k in range(left.shape[-1]):
            product = self.make("multiply", d.dtype, left[..., :, k, None], right[..., None, k, :])
            total = self.apply("add", d.dtype, total, product)
        return total

    def create_extern_elementwise(
        self, _library: str, _path: str, symbol: str, given: Sequence[TensorHandle], type_: tl.dtype, _pure: bool
    ) -> TensorHandle:
        """A function of CUDA's libdevice."""
        return device_function(self, symbol, given, type_)

    def create_inline_asm(self, *_given: object) -> TensorHandle:
        """Nothing here knows what an assembler means."""
        raise NotLiftedError("it has instructions of an assembler")

    def create_assert(self, condition: TensorHandle, message: str) -> None:
        """Leaves assertions about data to executions on numbers."""
        if not is_symbolic(condition) and not condition.data.all():
            raise NotLiftedError(f"an assertion does not hold: {message}")

    def create_assume(self, condition: TensorHandle) -> None:
        """As an assertion."""
        self.create_assert(condition, "assume")

    def create_print(self, *_given: object) -> None:
        """Nobody reads it."""

    # Conversions

    def cast_impl(self, src: TensorHandle, dst_type: tl.dtype) -> TensorHandle:
        """A value of another type."""
        target = dst_type.scalar
        takes, gives = type_name(_held(src)), type_name(target)
        if not is_symbolic(src) and not is_float(gives):
            return TensorHandle(src.data.astype(numpy_type(target)), target)
        return self.values.handle(cast(self.graph, self.values.nodes(src), takes, gives), target)

    def create_int_cast(self, src: TensorHandle, dst_type: tl.dtype, _is_signed: bool) -> TensorHandle:
        """An integer of another type."""
        return self.cast_impl(src, dst_type)

    def create_fp_to_fp(self, src: TensorHandle, dst_type: tl.dtype, _rounding: object) -> TensorHandle:
        """A float of another type."""
        return self.cast_impl(src, dst_type)

    def create_bitcast(self, src: TensorHandle, dst_type: tl.dtype) -> TensorHandle:
        """The bits of a value, or an address of other elements."""
        source, target = src.dtype.scalar, dst_type.scalar
        if target.is_ptr():
            if src.data.dtype == ADDRESS and _width(source) != _width(target):
                raise NotLiftedError("it computes with an address")
            return TensorHandle(src.data, target)
        takes, gives = type_name(_held(src)), type_name(target)
        if is_float(takes) == is_float(gives):
            if is_symbolic(src):
                return TensorHandle(src.data, target)
            return TensorHandle(src.data.view(numpy_type(target)), target)
        nodes = self.values.nodes(src)
        if is_float(gives):
            return self.values.handle(distinct(lambda node: float_of(self.graph, node, gives), nodes), target)
        return self.values.handle(distinct(lambda node: bits_of(self.graph, node, takes, gives), nodes), target)

    def create_ptr_to_int(self, _src: TensorHandle, _type: tl.dtype) -> TensorHandle:
        """An address says nothing that a tensor program has."""
        raise NotLiftedError("it computes with an address")

    def create_int_to_ptr(self, _src: TensorHandle, _type: tl.dtype) -> TensorHandle:
        """An address that was computed is none."""
        raise NotLiftedError("it computes with an address")

    # Memory

    def create_addptr(self, ptr: TensorHandle, offset: TensorHandle) -> TensorHandle:
        """The address `offset` elements further on."""
        width = np.uint64(_width(ptr.dtype))
        if ptr.data.dtype != ADDRESS and not is_symbolic(offset):
            return TensorHandle(ptr.data + width * offset.data.astype(np.uint64), ptr.dtype)
        shape = np.broadcast_shapes(ptr.data.shape, offset.data.shape)
        made = np.zeros(shape, ADDRESS)
        if ptr.data.dtype != ADDRESS:
            made["base"], made["place"] = ptr.data, self.values.nodes(offset)
        elif not is_symbolic(offset):
            made["base"] = ptr.data["base"] + width * offset.data.astype(np.uint64)
            made["place"] = ptr.data["place"]
        else:
            made["base"] = ptr.data["base"]
            add = partial(whole_numbers.make, self.graph, "add", "int64")
            made["place"] = distinct(add, ptr.data["place"], self.values.nodes(offset))
        return TensorHandle(made, ptr.dtype)

    def create_masked_load(
        self, ptrs: TensorHandle, mask: TensorHandle, other: TensorHandle | None, *_hints: object
    ) -> TensorHandle:
        """Elements of a buffer."""
        element = ptrs.get_element_ty()
        otherwise = None if other is None else self.values.nodes(other)
        return self.values.handle(self.memory.load(ptrs.data, self._mask(mask), otherwise, type_name(element)), element)

    def create_masked_store(self, ptrs: TensorHandle, value: TensorHandle, mask: TensorHandle, *_hints: object) -> None:
        """Elements of a buffer become others."""
        self.memory.store(ptrs.data, self.values.nodes(value), self._mask(mask), type_name(ptrs.get_element_ty()))

    def create_atomic_rmw(
        self, operation: object, ptr: TensorHandle, val: TensorHandle, mask: TensorHandle, sem: object, _scope: object
    ) -> TensorHandle:
        """Elements of a buffer are updated, one program after the other."""
        if operation not in _ATOMIC:
            raise NotLiftedError("it exchanges elements atomically, in an order that nobody knows")
        element = val.dtype.scalar
        dtype = type_name(element)
        op = partial(
            self.graph.make if is_float(dtype) else partial(whole_numbers.make, self.graph), _ATOMIC[operation]
        )
        if sem in _ACQUIRING:
            self.memory.acquire()
        found = self.memory.update(op, ptr.data, self.values.nodes(val), self._mask(mask), dtype)
        return self.values.handle(found, element)

    def create_atomic_cas(
        self, ptr: TensorHandle, cmp: TensorHandle, val: TensorHandle, sem: object, _scope: object
    ) -> TensorHandle:
        """A number in a buffer becomes another where it is `cmp`."""
        if sem in _ACQUIRING:
            self.memory.acquire()
        wanted, new = self.values.nodes(cmp), self.values.nodes(val)
        return self.values.handle(self.memory.exchange(ptr.data, wanted, new, type_name(val.dtype)), val.dtype.scalar)

    def create_tensor_pointer_load(
        self,
        ptr: Any,  # noqa: ANN401
        boundary_check: Sequence[int],
        padding_option: object,
        *_hints: object,
    ) -> TensorHandle:
        """A block of a tensor."""
        pointers, inside = ptr.materialize_pointers(boundary_check)
        return self._block(pointers, inside, padding_option)

    def create_descriptor_load(self, desc: Any, indices: Sequence[TensorHandle], *_hints: object) -> TensorHandle:  # noqa: ANN401
        """A block of a tensor."""
        pointers, inside = desc.materialize_pointers(indices)
        return self._block(pointers, inside, desc.padding)

    def _block(self, pointers: TensorHandle, inside: NDArray[np.bool_], padding: object) -> TensorHandle:
        if padding == ir.PADDING_OPTION.PAD_NAN:
            raise NotLiftedError("it computes with NaN")
        other = None if padding is None else self.create_splat(inside, self.get_null_value(pointers.get_element_ty()))
        return self.create_masked_load(pointers, TensorHandle(inside, tl.int1), other)

    def create_tensor_pointer_store(
        self,
        ptr: Any,  # noqa: ANN401
        value: TensorHandle,
        boundary_check: Sequence[int],
        *_hints: object,
    ) -> None:
        """A block of a tensor becomes another."""
        pointers, inside = ptr.materialize_pointers(boundary_check)
        self.create_masked_store(pointers, value, TensorHandle(inside, tl.int1))

    def create_descriptor_store(self, desc: Any, value: TensorHandle, indices: Sequence[TensorHandle]) -> None:  # noqa: ANN401
        """A block of a tensor becomes another."""
        pointers, inside = desc.materialize_pointers(indices)
        self.create_masked_store(pointers, value, TensorHandle(inside, tl.int1))

    def create_barrier(self) -> None:
        """A tile is computed as a whole."""

    def _mask(self, mask: TensorHandle) -> NDArray[Any]:
        """Truth values, or the nodes of some."""
        return self.values.nodes(mask) if is_symbolic(mask) else mask.data.astype(np.bool_)


def _held(handle: TensorHandle) -> tl.dtype:
    """The type of a tile's elements: Triton says that of what was compared, where the result is a truth value."""
    return tl.int1 if handle.data.dtype == np.bool_ else handle.dtype.scalar


def _width(pointer: tl.dtype) -> int:
    """The bytes of what a pointer points to."""
    return max(1, int(pointer.scalar.element_ty.primitive_bitwidth) // 8)


def complete() -> None:
    """Gives the builder the operations of the tables, once for the life of a process."""
    for name, op in _FLOAT_BINARY.items():
        setattr(SymbolicBuilder, f"create_{name}", _of_floats(op))
    for name, op in _FLOAT_UNARY.items():
        setattr(SymbolicBuilder, f"create_{name}", _of_floats(op))
    for name, op in _WHOLE_BINARY.items():
        setattr(SymbolicBuilder, f"create_{name}", _of_integers(name, op, op))
    for name, op in _ON_BITS.items():
        setattr(SymbolicBuilder, f"create_{name}", _of_integers(name, op, name))
    for name, how in _COMPARISONS.items():
        for prefix in ("icmpS", "icmpU", "fcmpO", "fcmpU", "icmp"):
            if hasattr(InterpreterBuilder, f"create_{prefix}{name}"):
                setattr(SymbolicBuilder, f"create_{prefix}{name}", _comparison(f"create_{prefix}{name}", *how))
    for name in ("si_to_fp", "ui_to_fp", "fp_to_si", "fp_to_ui", "fp_ext", "fp_trunc"):
        setattr(SymbolicBuilder, f"create_{name}", SymbolicBuilder.cast_impl)


def _of_floats(op: str) -> _Method:
    return lambda self, *given: self.apply(op, given[0].dtype, *given)


def _of_integers(name: str, op: str, of_truth: str) -> _Method:
    concrete: _Method = getattr(InterpreterBuilder, f"create_{name}")

    def method(self: SymbolicBuilder, lhs: TensorHandle, rhs: TensorHandle) -> TensorHandle:
        if not is_symbolic(lhs) and not is_symbolic(rhs):
            found = concrete(self, lhs, rhs)
            return TensorHandle(found.data, _held(found))
        type_ = _held(lhs)
        return self.apply(of_truth if type_ == tl.int1 else op, type_, lhs, rhs)

    return method


def _comparison(name: str, op: str, turned: bool, denied: bool) -> _Method:
    concrete: _Method = getattr(InterpreterBuilder, name)

    def method(self: SymbolicBuilder, lhs: TensorHandle, rhs: TensorHandle) -> TensorHandle:
        if not is_symbolic(lhs) and not is_symbolic(rhs):
            return TensorHandle(concrete(self, lhs, rhs).data, tl.int1)
        made = self.apply(op, tl.int1, *((rhs, lhs) if turned else (lhs, rhs)))
        return self.apply("not", tl.int1, made) if denied else made

    return method
