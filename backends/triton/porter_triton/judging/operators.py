"""Operators of torch that compute nothing: they allocate, view, copy, cast, fill, move or ask."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import torch

from porter.source.qualified import unqualified

# By the names of ATen, without overloads and leading underscores.
_NAMES = """
empty empty_strided empty_like empty_permuted new_empty new_empty_strided new_zeros new_ones new_full zeros zeros_like
ones ones_like full full_like arange linspace eye scalar_tensor tensor resize_ resize_as_ set_ efficientzerotensor
rand rand_like randn randn_like randint randint_like randperm normal normal_ uniform_ bernoulli bernoulli_ random_
exponential_ copy_ clone contiguous to_copy to lift lift_fresh lift_fresh_copy detach detach_ alias cat concat stack
hstack vstack fill fill_ zero zero_ constant_pad_nd pad index index_select gather take take_along_dim index_put
index_put_ index_copy index_copy_ index_fill index_fill_ scatter scatter_ masked_fill masked_fill_ masked_scatter
masked_select slice_scatter select_scatter diagonal_scatter as_strided_scatter flip fliplr flipud roll rot90 repeat
repeat_interleave tile tril tril_ triu triu_ unfold_copy expand_copy permute_copy view_copy transpose_copy t_copy
record_stream pin_memory is_same_size equal local_scalar_dense item is_nonzero assert_async assert_scalar unsafe_view
reshape_alias reshape storage_offset sym_size sym_stride sym_numel broadcast_tensors
"""
_FREE = frozenset(_NAMES.split())
_SOURCELESS = frozenset(("fill_", "zero_", "random_", "normal_", "uniform_", "bernoulli_", "exponential_"))


def plain_name(function: torch._ops.OpOverload) -> str:
    """`softmax` for `aten::_softmax.out`."""
    return unqualified(function._schema.name).lstrip("_")


def is_free(function: torch._ops.OpOverload) -> bool:
    """Whether the operator computes nothing of what it is given."""
    return plain_name(function) in _FREE or is_view(function)


def accumulates(function: torch._ops.OpOverload, given: Sequence[object], named: Mapping[str, object]) -> bool:
    """Whether this call adds up, or reduces otherwise, where the operator may also just put."""
    arguments = {a.name: value for a, value in zip(function._schema.arguments, given, strict=False)} | {**named}
    return bool(arguments.get("accumulate") or arguments.get("reduce"))


def tells_by_shape(function: torch._ops.OpOverload, given: Iterable[torch.Tensor]) -> bool:
    """Whether the shape of what comes of it depends on numbers, not on shapes alone."""
    masked = plain_name(function) == "index" and any(t.dtype is torch.bool for t in given)
    return masked or torch.Tag.dynamic_output_shape in function.tags


def takes_shape_alone(name: str) -> bool:
    """Whether an operator takes nothing but shape and type of the tensors it is given."""
    return name.endswith("_like") or name.startswith("new_")


def is_view(function: torch._ops.OpOverload) -> bool:
    """Whether what it returns is memory that it was given, which it leaves as it is."""
    aliases = [returned.alias_info for returned in function._schema.returns]
    return bool(aliases) and all(alias is not None and not alias.is_write for alias in aliases)


def overwrites(function: torch._ops.OpOverload) -> bool:
    """Whether nothing of what was in the memory it writes is left in it."""
    name = plain_name(function)
    return name == "copy_" or name in _SOURCELESS or name.endswith("_out") or "out" in function._schema.overload_name
