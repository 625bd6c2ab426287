"""The `Contract`: how an operator is called and what a right answer is. Read from and written to TOML by `toml.py`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from porter.contract.model.dtype import DType


class Role(StrEnum):
    """The operator's use of a tensor: it reads it, writes it, or does both."""

    IN = "in"
    OUT = "out"
    INOUT = "inout"


class EntryKind(StrEnum):
    """The kinds of entries that are called."""

    TORCH = "torch"  # a host function on torch::Tensor
    POINTER = "pointer"  # a host function on raw device pointers
    KERNEL = "kernel"  # a bare kernel with the contract's own launch
    PROGRAM = "program"  # main()


@dataclass(frozen=True, slots=True)
class LaunchShape:
    """Launch of a bare kernel: three expressions over the symbols each, and the dynamic shared memory in bytes."""

    grid: tuple[str, str, str]
    block: tuple[str, str, str]
    shared_bytes: str = "0"


@dataclass(frozen=True, slots=True)
class Entry:
    """The function under contract, with the template arguments it is instantiated with."""

    kind: EntryKind
    name: str
    template: tuple[str, ...] = ()
    launch: LaunchShape | None = None


class Values(StrEnum):
    """The ways of filling an input."""

    NORMAL = "normal"  # signed, unit variance, times the workload's scale
    POSITIVE = "positive"  # |normal| + 0.1
    WHOLE = "whole"  # signed whole numbers without zero, which sums of any precision keep exact
    PROBABILITY = "probability"  # uniform in (0, 1)
    INDEX = "index"  # integers in [0, bound); in a float tensor fractions, too, that end up as such
    SORTED = "sorted"  # non-decreasing integers from 0 to bound
    BOOLEAN = "boolean"  # 0 or 1
    ZEROS = "zeros"
    ONES = "ones"
    NULL = "null"  # not at all: a null pointer


class Distribution(StrEnum):
    """The ways in which a workload changes its inputs, as far as their `Values` allow.

    None makes a number negative that may not be, except indices that a source is seen to compare.
    """

    DECLARED = "declared"  # as the contract fills them
    UNIFORM = "uniform"  # in [0, 1): sums grow, and what adds them up in too few bits shows
    CONSTANT_ROWS = "constant rows"  # no variance
    TIES = "ties"  # three values
    ROUND = "round numbers"  # as sources name them: comparisons with one then meet equal numbers
    SORTED = "sorted"  # rows that never fall
    OUTLIER = "outlier"  # one element of a row a thousand times as large
    LARGE_MEAN = "large mean"  # of small spread: a variance that is a difference of large numbers shows
    WIDE = "wide"  # the largest of a row far apart: exp(x - m) overflows where m is not the largest of all
    NEAR_ONE = "near one"  # products of thousands neither vanish nor overflow, and each factor shows
    SURE = "sure"  # a third of the probabilities is 0 or 1, those of all tensors at the same places
    AT_BOUND = "at the bound"  # indices that equal their bound: beyond the indexed tensor, for sources that check
    BELOW_ZERO = "below zero"  # indices of -1, as for padding
    REPEATED = "repeated indices"  # each second one is that of its neighbour: what two threads add to shows
    ENDS = "ends"  # the last of each axis eight times as large: a maximum or a sum without them shows
    ZEROS = "zeros"
    NEGATIVE_ZEROS = "negative zeros"  # whose bits are those of the least integer
    DENORMAL = "denormal"
    LOWEST = "near the lowest"  # rows of which each number is: a maximum that begins at -1e20 is larger than all
    INFINITE = "infinite"  # rows with one infinity, and rows without
    MASKED = "masked"  # rows of minus infinity alone, and rows without
    NAN = "nan"  # rows with one NaN, and rows without
    SPECIALS = "specials"  # NaN and infinities among the numbers, for sources that ask


class Layout(StrEnum):
    """The places of an input's elements in memory, where it is a view of a larger tensor."""

    STEPS = "steps"  # every second element of its last axis
    ROWS_APART = "rows apart"  # the first columns of a wider tensor
    OFFSET = "offset"  # dense, from the second element of a tensor on: at no multiple of 16 bytes


@dataclass(frozen=True, slots=True)
class Field:
    """A number in each struct of an array of structs: `at` bytes from the struct's start, filled as a tensor is."""

    name: str
    dtype: DType
    at: int
    values: Values = Values.NORMAL
    bound: str = ""
    told: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class TensorArg:
    """A tensor or pointer. `shape` holds expressions over the symbols, `bound` one for INDEX and SORTED.

    `elements` are expressions, too: the values, in order, of an array of sizes that host code reads. Where a call does
    not use all elements, such as those of a lookup table, `used` says how many it reads and writes. One that is
    `optional` may be a null pointer: workloads give it as the scalar 0. Elements of structs and vectors come in groups
    of `group`: callers never pass a part of one. Structs of numbers of several types are groups of bytes with `fields`,
    which are filled and compared each by itself; bytes between them mean nothing. Of NORMAL whole numbers half are
    among those `told`, which the source tells from all others.
    """

    name: str
    role: Role
    dtype: DType
    shape: tuple[str, ...]
    values: Values = Values.NORMAL
    bound: str = ""
    elements: tuple[str, ...] = ()
    used: str = ""
    optional: bool = False
    group: int = 1
    fields: tuple[Field, ...] = ()
    told: tuple[int, ...] = ()

    @property
    def parts(self) -> tuple[TensorArg, ...]:
        """The tensors that it is filled and compared as: one for each of its fields, else itself."""
        return tuple(self._part(field) for field in self.fields) or (self,)

    def with_parts(self, parts: Sequence[TensorArg]) -> TensorArg:
        """Returns the tensor with the values of these parts, which are its own, changed."""
        if not self.fields:
            return parts[0]
        pairs = zip(self.fields, parts, strict=True)
        return replace(self, fields=tuple(replace(f, values=part.values, bound=part.bound) for f, part in pairs))

    def _part(self, field: Field) -> TensorArg:
        """Returns the numbers of a field, one for each struct."""
        (bytes_,) = self.shape or ("0",)
        product = re.fullmatch(rf"{self.group} \* ([\w *]+)", bytes_)
        whole = product[1] if product else f"cdiv({bytes_}, {self.group})"
        return TensorArg(
            f"{self.name}.{field.name}", self.role, field.dtype, (whole,), field.values, field.bound,
            optional=self.optional, told=field.told,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class ScalarArg:
    """A scalar passed by value: `value` is a literal or an expression over the symbols.

    `choices` are the values that the source distinguishes, if it only selects by them, including `value`.
    """

    name: str
    type: str
    value: str
    choices: tuple[str, ...] = ()


Argument = TensorArg | ScalarArg


@dataclass(frozen=True, slots=True)
class Workload:
    """One set of sizes and inputs. `scale` multiplies NORMAL values; `seed` starts the only random stream.

    `scalars` are arguments that have another value in it than in the contract, 0 for an optional tensor that is null;
    `dtypes` are tensors that have another element type in it; `distribution` is that of the inputs; `takes` is the side
    of a branch that it was drafted for. `layouts` are inputs that are given as views, to the executor and the
    interpreter. Each input of a Python reference has `axes` more axes than the contract says, or fewer where that is
    negative. A workload that is `device_only` is too large for the CPU: it is neither made nor run without a device.
    One that `is_drawn` belongs to a single judgement, and is no part of the contract.
    """

    name: str
    sizes: Mapping[str, int]
    seed: int
    scale: float = 1.0
    scalars: Mapping[str, float] = field(default_factory=dict)
    distribution: Distribution = Distribution.DECLARED
    device_only: bool = False
    dtypes: Mapping[str, DType] = field(default_factory=dict)
    takes: str = ""
    layouts: Mapping[str, Layout] = field(default_factory=dict)
    axes: int = 0
    is_drawn: bool = False


@dataclass(frozen=True, slots=True)
class Tolerance:
    """`|got - want| <= atol + rtol * |want|`, on top of the error that the original itself is seen to make."""

    rtol: float
    atol: float


@dataclass(frozen=True, slots=True)
class Question:
    """Something the source does not say. `about` names the symbol or argument, `flag` the way to answer it."""

    about: str
    text: str
    flag: str


@dataclass(frozen=True)
class Contract:
    """One operator.

    `conditions` are expressions over the symbols that every workload must satisfy (`n % 4 == 0`), `branches` those by
    which host code chooses what it launches (`n > 1024`), `shares` those by which divisions of sizes come out even
    (`channels % groups == 0`), which only hold where the original needs them.

    `tolerance` maps each float dtype among the tensors to its bound; integers compare exactly. An argument list is in
    call order; that of a PROGRAM has numbers, the words behind its name. `reference` is the file with the right
    answers, relative to the contract's own.
    """

    name: str
    category: str
    entry: Entry
    arguments: tuple[Argument, ...]
    symbols: tuple[str, ...]
    conditions: tuple[str, ...]
    workloads: tuple[Workload, ...]
    tolerance: Mapping[DType, Tolerance]
    questions: tuple[Question, ...] = ()
    reference: str = ""
    branches: tuple[str, ...] = ()
    shares: tuple[str, ...] = ()

    @property
    def tensors(self) -> tuple[TensorArg, ...]:
        """The tensor arguments, in call order."""
        return tuple(a for a in self.arguments if isinstance(a, TensorArg))

    @property
    def parts(self) -> tuple[TensorArg, ...]:
        """The tensor arguments as they are compared: in place of an array of structs each of its fields."""
        return tuple(part for tensor in self.tensors for part in tensor.parts)


def with_parts(arguments: Sequence[Argument], change: Callable[[TensorArg], TensorArg]) -> tuple[Argument, ...]:
    """Returns `arguments` with `change` made in each tensor, or in each field of an array of structs."""
    return tuple(a.with_parts([change(p) for p in a.parts]) if isinstance(a, TensorArg) else a for a in arguments)
