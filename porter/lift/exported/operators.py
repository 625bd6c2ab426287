"""Defines the table from ATen operators to the tensor IR. An operator that is not in the table is refused by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from porter.lift.exported import elementwise, layouts, norms, reductions, windows
from porter.lift.exported.calls import Call, Results
from porter.lift.exported.pointwise import BITWISE, POINTWISE, WEIGHTED

Rule = Callable[[Call], Results]

_ROWS: tuple[tuple[Rule, str], ...] = (
    (elementwise.copied, "_to_copy alias clone contiguous detach lift_fresh_copy"),
    (elementwise.clamped, "clamp clamp_max clamp_min"),
    (elementwise.divide, "div floor_divide"),
    (elementwise.reversed_subtract, "rsub"),
    (elementwise.truncated, "trunc"),
    (layouts.asserted, "_assert_scalar _assert_tensor_metadata"),
    (layouts.concatenated, "cat"),
    (layouts.counted, "arange iota"),
    (layouts.expanded, "expand"),
    (layouts.filled, "empty empty_like empty_permuted full full_like ones ones_like scalar_tensor zeros zeros_like"),
    (layouts.flipped, "flip"),
    (layouts.gathered, "gather"),
    (layouts.indexed, "index index_select"),
    (layouts.padded, "constant_pad_nd"),
    (layouts.permuted, "permute t transpose"),
    (layouts.repeated, "repeat"),
    (layouts.selected, "select"),
    (layouts.sliced, "slice"),
    (layouts.split, "split split_with_sizes"),
    (layouts.squeezed, "squeeze unsqueeze"),
    (layouts.unbound, "unbind"),
    (layouts.view, "_unsafe_view reshape view"),
    (norms.group_norm, "native_group_norm"),
    (reductions.deviation, "var var_mean"),
    (reductions.extreme, "amax amin"),
    (reductions.extreme_along, "max min"),
    (reductions.log_sum_exp, "logsumexp"),
    (reductions.matrix_product, "bmm dot mm mv"),
    (reductions.multiplied, "prod"),
    (reductions.place_of_extreme, "argmax argmin"),
    (reductions.running, "cummax cummin cumprod cumsum"),
    (reductions.some_or_all, "all any"),
    (reductions.summed, "mean sum"),
    (reductions.vector_norm, "linalg_vector_norm"),
    (windows.average_pool, "avg_pool1d avg_pool2d avg_pool3d"),
    (windows.convolved, "convolution"),
    (windows.largest_pool, "max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices"),
    (elementwise.weighted, " ".join(WEIGHTED)),
    (elementwise.pointwise, " ".join((*POINTWISE, *BITWISE))),
)
OPERATORS: Mapping[str, Rule] = {word: rule for rule, words in _ROWS for word in words.split()}
