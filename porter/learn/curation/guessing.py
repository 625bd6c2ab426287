"""First guesses at how a class is built and called, from names, annotations and defaults: no model is asked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from porter.learn.curation.records import Call, Contents, Given, Layer, Parameter, Setting, Signature

# Sizes that differ, so that an error which names one says which axis it is about.
BATCH, CHANNELS, LENGTH, SIDE = 2, 32, 64, 16
_IMAGE = 32
_HEADS, _VOCABULARY, _CLASSES = 4, 128, 10
# What a parameter of a constructor is given by its name; the first that matches counts.
_NAMED: tuple[tuple[str, str], ...] = (
    (r"(num|n)_?_?heads?$|^heads?$|nhead|head_num|num_attention_heads", str(_HEADS)),
    (r"head_dim|dim_head|d_head|^d_[kvq]$|key_dim|head_size|dim_per_head", "8"),
    (r"img_size|image_size|input_resolution|input_size_hw|feat_size|feature_size|^resolution", f"({_IMAGE}, {_IMAGE})"),
    (r"patch_size|^patch$", "4"),
    (r"window|^ws$", "4"),
    (r"kernel_sizes|kernels$|dilations$", "[3, 5]"),
    (r"kernel|^ks?$|^k_size", "3"),
    (r"stride|dilation|groups?$|^num_groups", "1"),
    (r"padding|^pad$", "1"),
    (r"reduction|squeeze|^ratio$|^r$|^rd$|bottleneck|scale_factor|factor$|expansion|expand|mult$|ratio", "4"),
    (r"num_classes|n_classes|^classes|num_labels|nclass", str(_CLASSES)),
    (r"vocab|num_embeddings|num_tokens|n_tokens|ntoken", str(_VOCABULARY)),
    (r"seq_len|max_len|length|n_ctx|context|num_patches|n_patches|num_points|seq_size|pred_len|label_len", str(LENGTH)),
    (r"^(h|w|height|width|size)$|spatial_size|grid_size", str(SIDE)),
    (r"depths$|layers$|blocks$", "2"),
    (r"depth|num_layers|n_layers|num_blocks|n_blocks|repeats?$|^n$|num_convs|stages?$|levels?$", "2"),
    (r"drop|dropout|^p$|prob", "0.0"),
    (r"eps|epsilon", "1e-5"),
    (r"alpha|beta|gamma|temperature|^tau|sigma|scale$|momentum|weight$|slope|smoothing|margin|threshold", "0.5"),
    (r"norm_layer|norm_cls|norm_func", "torch.nn.BatchNorm2d"),
    (r"act_layer|activation_layer|act_cls|nonlinearity|non_linearity|act_fn|activation|^act", "torch.nn.ReLU"),
    (r"conv_layer|conv_op", "torch.nn.Conv2d"),
    (r"channels_?list|in_channels_list|dims$|hidden_sizes|channels_per|widths", f"[{CHANNELS}, {CHANNELS}]"),
    (r"dim|chan|plane|feature|hidden|width|size|d_model|d_ff|embed|filters|^c\d?$|^ch|^in_|^out_|inp|oup|units|ch(ns)?$",
     str(CHANNELS)),
    (r"^(fn|layer|block|module|net|model|func|attention|attn|body|backbone|encoder|mlp|ffn)$",
     f"torch.nn.Linear({CHANNELS}, {CHANNELS})"),
    (r"^(use|is|has|with|if|do|enable)_|bias|causal|inplace|bool|affine|training|learnable", "False"),
    (r"mode|type|name", "'same'"),
)  # fmt: skip
_ANNOTATED: tuple[tuple[str, str], ...] = (
    (r"^bool", "False"),
    (r"^float", "0.5"),
    (r"^(Optional\[)?int", str(CHANNELS)),
    (r"^str", "'relu'"),
    (r"[Ll]ist\[int|Sequence\[int|Iterable\[int|[Tt]uple\[int", f"[{CHANNELS}, {CHANNELS}]"),
    (r"Type\[|Callable", "torch.nn.ReLU"),
    (r"nn\.Module|^Module", f"torch.nn.Linear({CHANNELS}, {CHANNELS})"),
    (r"Tensor", f"torch.ones({CHANNELS})"),
)
_IMAGE_NAME = re.compile(r"im(g|age)s?$|pixel|frames?$")
_INDEX_NAME = re.compile(r"(input_)?ids?$|ind(ex|ices)$|tokens$|labels?$")
_OPTIONAL_NAME = re.compile(r"mask|pos(ition)?|hidden|state|bias|lengths?$|cache|pad")
_NUMBERS = {"h": SIDE, "w": SIDE, "height": SIDE, "width": SIDE, "t": 8, "b": BATCH, "n": LENGTH}
SHAPES: tuple[tuple[int, ...], ...] = (
    (BATCH, CHANNELS, SIDE, SIDE),
    (BATCH, LENGTH, CHANNELS),
    (BATCH, CHANNELS, LENGTH),
    (BATCH, CHANNELS),
    (BATCH, _HEADS, LENGTH, CHANNELS),
    (BATCH, CHANNELS, 8, SIDE, SIDE),
    (BATCH, SIDE, SIDE, CHANNELS),
    (LENGTH, CHANNELS),
    (BATCH, 3, _IMAGE, _IMAGE),
    (BATCH, LENGTH),
    (BATCH, 1, LENGTH),
    (BATCH, LENGTH, SIDE, CHANNELS),
    (CHANNELS,),
)


def first_call(signature: Signature) -> Call:
    """Returns the first guess: what has no default, and sizes of images, which defaults make large."""
    settings = [one for parameter in signature.constructor if (one := _setting(parameter)) is not None]
    sided = any(re.search(r"img_size|image_size", one.name) for one in settings)
    shape = (BATCH, 3, _IMAGE, _IMAGE) if sided else SHAPES[0]
    return Call(tuple(settings), tuple(_given(one, shape) for one in _needed(signature.forward)))


def _needed(parameters: Sequence[Parameter]) -> Iterator[Parameter]:
    required = [one for one in parameters if one.default is None]
    yield from required or parameters[:1]


def _setting(parameter: Parameter) -> Setting | None:
    if parameter.default is not None:
        is_image = re.search(r"img_size|image_size", parameter.name) and parameter.default != "None"
        return Setting(parameter.name, f"({_IMAGE}, {_IMAGE})") if is_image else None
    return Setting(parameter.name, value_of(parameter))


def value_of(parameter: Parameter) -> str:
    """Returns the first guess at an argument, an expression."""
    name, annotation = parameter.name.lower(), parameter.annotation.strip("'\"")
    by_name = next((value for pattern, value in _NAMED if re.search(pattern, name)), "")
    by_type = next((value for pattern, value in _ANNOTATED if re.search(pattern, annotation)), "")
    if by_name and (not by_type or _agree(by_name, annotation)):
        return by_name
    return by_type or by_name or str(CHANNELS)


def _agree(value: str, annotation: str) -> bool:
    """Returns whether a value found by its name is of the type that is written there."""
    is_number = value.lstrip("-").isdigit()
    if annotation.startswith(("int", "Optional[int")):
        return is_number
    if annotation.startswith("float"):
        return value.replace(".", "").replace("e-", "").isdigit()
    if annotation.startswith(("bool", "str", "Callable", "Type")):
        return (value in ("True", "False")) == annotation.startswith("bool") and (
            value.startswith("'") == annotation.startswith("str")
        )
    if re.match(r"[Ll]ist|Sequence|[Tt]uple", annotation):
        return value.startswith(("[", "("))
    return True


def _given(parameter: Parameter, shape: tuple[int, ...]) -> Given:
    name, annotation = parameter.name.lower(), parameter.annotation
    if name in _NUMBERS and "Tensor" not in annotation:
        return Given(parameter.name, Contents.LITERAL, text=str(_NUMBERS[name]))
    if re.match(r"'?(int|float|bool)", annotation):
        return Given(parameter.name, Contents.LITERAL, text=value_of(parameter))
    if _INDEX_NAME.search(name):
        return Given(parameter.name, Contents.INDICES, (BATCH, LENGTH), _CLASSES)
    if re.match(r"'?([Ll]ist|Sequence|[Tt]uple)\[(torch\.)?Tensor", annotation):
        return Given(parameter.name, Contents.SEVERAL, shape)
    if _IMAGE_NAME.search(name):
        return Given(parameter.name, Contents.NORMAL, (BATCH, 3, _IMAGE, _IMAGE))
    return Given(parameter.name, Contents.NORMAL, shape)


def shapes_for(layers: Sequence[Layer]) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yields shapes that the first layers take, and below what their numbers have to be: 0 for floats."""
    if not layers:
        return
    first = layers[0]
    if first.kind == "Embedding":
        yield (BATCH, LENGTH), first.size
    for layer in (first, next((one for one in layers if "Conv" in one.kind), first)):
        yield from ((shape, 0) for shape in _shapes(layer))


def _shapes(layer: Layer) -> Iterator[tuple[int, ...]]:
    size = layer.size
    if "3d" in layer.kind:
        yield (BATCH, size, 8, SIDE, SIDE)
    elif "1d" in layer.kind:
        yield (BATCH, size, LENGTH)
        yield (BATCH, LENGTH, size)
    elif "2d" in layer.kind or layer.kind == "GroupNorm":
        yield (BATCH, size, SIDE, SIDE)
        yield (BATCH, size, _IMAGE, _IMAGE)
        yield (BATCH, SIDE, SIDE, size)
        yield (BATCH, LENGTH, size)
    else:
        yield (BATCH, LENGTH, size)
        yield (BATCH, size)
        yield (BATCH, SIDE, SIDE, size)
        yield (BATCH, size, SIDE, SIDE)
        yield (BATCH, size, LENGTH)


def optional_parts(signature: Signature) -> Sequence[str]:
    """Returns which of what `forward` needs may be None, as names have it."""
    return [one.name for one in _needed(signature.forward) if _OPTIONAL_NAME.search(one.name.lower())]


def all_of(shape: tuple[int, ...], call: Call) -> Call:
    """Returns `call` with every input of floats in one shape."""
    inputs = (
        Given(one.name, one.contents, shape) if one.contents in (Contents.NORMAL, Contents.SEVERAL) else one
        for one in call.inputs
    )
    return Call(call.settings, tuple(inputs))
