"""The twenty families of tasks, told by the operators that a task calls: the first rule that holds names it."""

from __future__ import annotations

from collections.abc import Sequence

from porter.learn.curation.records import Operation

_GEMM = ("mm", "addmm", "linear", "mkldnn_linear")
_BATCHED = ("bmm", "baddbmm", "einsum")
_NORMS = ("native_layer_norm", "native_group_norm", "native_batch_norm", "_native_batch_norm_legit",
          "_native_batch_norm_legit_no_training", "cudnn_batch_norm", "rms_norm", "_fused_rms_norm")  # fmt: skip
_ACTIVATIONS = ("relu", "relu_", "gelu", "silu", "silu_", "sigmoid", "sigmoid_", "tanh", "tanh_", "hardtanh",
                "hardtanh_", "hardswish", "hardswish_", "hardsigmoid", "hardsigmoid_", "leaky_relu", "leaky_relu_",
                "elu", "elu_", "softplus", "mish", "mish_", "_prelu_kernel", "celu", "log_sigmoid_forward")  # fmt: skip
_REDUCTIONS = ("sum", "mean", "amax", "amin", "var", "std", "var_mean", "linalg_vector_norm", "logsumexp", "max", "min",
               "prod", "norm")  # fmt: skip
# The name of a family, the operators of which it needs one each, and those that it may not have.
_Rule = tuple[str, tuple[Sequence[str], ...], Sequence[str]]
_SOFTMAX = ("_softmax", "_log_softmax", "_safe_softmax")
_CONVOLUTION = ("convolution", "_convolution", "mkldnn_convolution", "convolution_overrideable")
_RULES: tuple[_Rule, ...] = (
    ("attention", (("scaled_dot_product_attention", "_native_multi_head_attention"),), ()),
    ("attention", (_SOFTMAX, (*_BATCHED, *_GEMM)), _CONVOLUTION),
    ("attention", (_SOFTMAX, _BATCHED), ()),
    ("scan and recurrence", (("cumsum", "cumprod", "cummax", "logcumsumexp", "lstm", "gru", "rnn_tanh",
                              "_thnn_fused_lstm_cell", "mkldnn_rnn_layer", "lstm_cell"),), ()),
    ("Fourier transform", (("_fft_r2c", "_fft_c2c", "_fft_c2r", "stft"),), ()),
    ("convolution, norm and activation", (_CONVOLUTION, _NORMS, _ACTIVATIONS), ()),
    ("convolution and activation", (_CONVOLUTION, _ACTIVATIONS), ()),
    ("convolution", (_CONVOLUTION,), ()),
    ("products of batches of matrices", (_BATCHED,), ()),
    ("gated products", (_GEMM, _ACTIVATIONS, ("mul", "mul_")), ()),
    ("products and norm", (_GEMM, _NORMS), ()),
    ("products and activation", (_GEMM, _ACTIVATIONS), ()),
    ("products of matrices", (_GEMM,), ()),
    ("softmax", (_SOFTMAX,), ()),
    ("normalisation", (_NORMS,), ()),
    ("normalisation", (_REDUCTIONS, ("rsqrt", "sqrt", "div")), ()),
    ("sorting and search", (("sort", "topk", "argmax", "argmin", "kthvalue", "median"),), ()),
    ("embedding and indexing", (("embedding", "gather", "index", "index_select", "scatter", "scatter_add", "index_put",
                                 "index_put_", "unfold", "im2col", "col2im", "grid_sampler_2d"),), ()),
    ("pooling and resizing", (("max_pool2d_with_indices", "avg_pool2d", "_adaptive_avg_pool2d", "avg_pool1d",
                               "upsample_nearest2d", "upsample_bilinear2d", "upsample_bicubic2d", "avg_pool3d",
                               "max_pool3d_with_indices", "adaptive_max_pool2d", "_upsample_bilinear2d_aa"),), ()),
    ("reduction", (_REDUCTIONS,), ()),
    ("activation", (_ACTIVATIONS,), ()),
)  # fmt: skip
ELEMENTWISE, LAYOUT = "elementwise arithmetic", "layout"
_MOVES = ("clone", "copy", "copy_", "cat", "_to_copy", "stack", "roll", "constant_pad_nd", "repeat", "flip", "pad",
          "_unsafe_view", "reflection_pad2d", "replication_pad2d", "pixel_shuffle", "reflection_pad1d")  # fmt: skip
FAMILIES = tuple(dict.fromkeys([*(name for name, _, _ in _RULES), ELEMENTWISE, LAYOUT]))


def family_of(operations: Sequence[Operation]) -> str:
    """Returns the family of what calls these operators."""
    called = {one.operator for one in operations if not one.is_view}
    for name, needed, barred in _RULES:
        if all(called & set(group) for group in needed) and not called & set(barred):
            return name
    return LAYOUT if called <= set(_MOVES) else ELEMENTWISE
