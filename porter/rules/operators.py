"""Operators of torch that are a network's work, whatever they are given: calling one is calling the library.

Sums, casts and arithmetic are not here: they may be about a handful of numbers for a launch. Nor are sorting and
counting, which may be about the indices that kernels take. What they were about is for the run to tell.
"""

from __future__ import annotations

from collections.abc import Mapping

_SPACES = ("torch", "torch.nn.functional", "torch.special", "torch.nn", "torch.ops.aten", "torch.linalg")
_WHOLE_SPACES = ("torch.fft.", "torch.linalg.", "torch.sparse.", "torch.nn.init.")
_WORK = """
matmul mm bmm addmm addmv addbmm baddbmm mv einsum tensordot chain_matmul inner outer kron linear bilinear
conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d conv_tbc convolution
softmax log_softmax softmin gumbel_softmax logsumexp softplus softsign softshrink hardshrink tanhshrink
relu relu6 relu_ leaky_relu prelu rrelu elu selu celu gelu silu mish hardswish hardsigmoid hardtanh sigmoid
logsigmoid tanh threshold glu
layer_norm native_layer_norm batch_norm native_batch_norm group_norm native_group_norm instance_norm rms_norm
local_response_norm normalize dropout alpha_dropout
max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d
adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d lp_pool1d lp_pool2d max_unpool2d
cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss huber_loss kl_div binary_cross_entropy cosine_similarity
binary_cross_entropy_with_logits triplet_margin_loss hinge_embedding_loss ctc_loss pairwise_distance cdist pdist
scaled_dot_product_attention multi_head_attention_forward interpolate grid_sample pixel_shuffle fold unfold
embedding_bag erf erfc erfinv lgamma digamma exp2 expm1 log1p rsqrt
topk kthvalue median histc cumprod logcumsumexp cummax cummin trapz
MultiheadAttention Linear Conv1d Conv2d Conv3d ConvTranspose2d LayerNorm BatchNorm2d GroupNorm RMSNorm Softmax GELU
ReLU SiLU Sigmoid Tanh MaxPool2d AvgPool2d Embedding CrossEntropyLoss MSELoss LSTM GRU RNN Transformer
"""
_PLAIN = """
sum mean prod amax amin max min std var norm abs square sqrt exp log pow neg reciprocal cumsum dot any all argmax argmin
clamp clamp_min clamp_max where sin cos sign floor ceil round trunc add sub mul div addcmul addcdiv lerp maximum minimum
"""
_METHODS = "softmax log_softmax matmul mm bmm addmm relu relu_ sigmoid logsumexp topk"
_NAMES = frozenset(_WORK.split())
METHODS = frozenset(_METHODS.split())
# What indices are put in order with: where a run tells what they are made of, that decides.
OF_INDICES = frozenset(("sort", "argsort", "unique", "bincount", "searchsorted"))
# By their plain names, whatever they are about: what computes, rather than allocates, views, moves or asks.
COMPUTING = _NAMES | METHODS | OF_INDICES | frozenset(_PLAIN.split())


# The steps that an operator has in C++ (simt/runtime/torch), where it is not one by its own name.
_STEPS: Mapping[str, str] = {
    "linear": "bmm add", "matmul": "bmm", "mm": "bmm", "mv": "bmm", "dot": "bmm", "addmm": "bmm mul add",
    "baddbmm": "bmm mul add", "std": "var sqrt", "max": "amax argmax maximum", "min": "amin argmin minimum",
    "clamp": "maximum minimum", "clamp_min": "maximum", "clamp_max": "minimum", "add": "mul", "sub": "mul",
    "addcmul": "mul add", "addcdiv": "div add", "div": "div_floor div_trunc", "floor_divide": "div_floor",
    "masked_fill": "where", "masked_select": "nonzero index", "index": "nonzero", "index_put": "nonzero",
    "index_select": "index", "index_fill": "index_put", "index_add": "mul", "flip": "index", "argsort": "sort",
    "sort": "gather", "topk": "sort gather", "tril": "where", "triu": "where", "bitwise_not": "logical_not neg sub",
    "unique_dim": "unique index", "_unique": "unique index", "_unique2": "unique index", "equal": "eq all",
    "allclose": "eq sub abs le mul add logical_and logical_or isfinite isnan all", "copy": "to", "type_as": "to",
    "_to_copy": "to", "toType": "to",
}  # fmt: skip


def with_steps(operators: frozenset[str]) -> frozenset[str]:
    """The operators, and the steps that plans of C++ have for them."""
    return operators.union(*(_STEPS.get(name.rstrip("_"), "").split() for name in operators))


def library_operator(dotted: str) -> str:
    """The plain name of the operator that `dotted` is; empty for what is none, or may be about numbers of a launch."""
    space, _, name = dotted.rpartition(".")
    if dotted.startswith("torch.ops.aten."):
        space, name = "torch.ops.aten", dotted.split(".")[3]
    if any(dotted.startswith(whole) for whole in _WHOLE_SPACES):
        return name
    return name if space in _SPACES and name in _NAMES else ""
