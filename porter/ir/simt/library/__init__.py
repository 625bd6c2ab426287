"""Functions of CUDA's libraries and PyTorch's, as CUDA text that the builder inlines like the source's own."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

from porter.source.parse import parse
from porter.source_text import Source
from porter.syntax.nodes import Name, TypeName
from porter.syntax.read import read_unit
from porter.syntax.unit import Unit
from porter.syntax.walk import walk

_ACCESSORS = ("PackedTensorAccessor", "TensorAccessor", "GenericPackedTensorAccessor")
_MADE_OF_OTHERS = (
    "rcbrt", "rhypot", "fdim", "norm3d", "norm4d", "rnorm", "sinpi", "cospi", "sincospi", "normcdf", "erfinv",
    "erfcinv", "erfcx", "tgamma", "signbit", "ldexp", "scalbn", "frexp", "logb", "ilogb", "modf", "remainder",
    "__tanhf", "scalbln", "isnormal", "nextafter", "__hiloint2double", "__double2", "__dp2a",
    *(f"__{number}2float_r{mode}" for number in ("int", "uint", "double") for mode in "zdu"),
    "__rhadd", "__uhadd", "__urhadd", "__sad", "__usad", "__byte_perm", "__funnelshift_", "__dp4a",
)  # fmt: skip
_OF_HALVES = (
    *(f"__{place}2{pair}" for place in ("low", "high", "lows", "highs") for pair in ("half2", "bfloat162")),
    *(f"__h{word}{end}" for word in ("add", "sub", "mul", "fma", "max", "min")
      for end in ("_sat", "_nan", "_relu", "2_sat", "2_nan", "2_relu")),
    "__lowhigh2highlow", "__hbeq2", "__hbne2", "__hblt2", "__hble2", "__hbgt2", "__hbge2", "h2",
)  # fmt: skip
_OF_TORCH = (
    "THCCeilDiv",
    "THCRoundUp",
    "ATenCeilDiv",
    "at::cuda::ATenCeilDiv",
    "at::ceil_div",
    "at::round_up",
    "at::_is",
)
_OF_CMATH = ("cuda::ceil_div", "cuda::round_up", "cuda::round_down", "cuda::is_power_of_two")
_LIBRARIES = {  # by what the names begin with that are theirs; one with a blank behind it is a whole name
    "cub.cuh": ("cub::",),
    "cuda.cuh": ("cuda::",),
    "cuda_cmath.cuh": _OF_CMATH,
    "constants.cuh": ("std::integral_constant", "std::bool_constant", "std::true_type", "std::false_type"),
    "complex.cuh": (
        "cuC",
        "cufftComplex",
        "cufftDoubleComplex",
        "cufftReal",
        "cufftDoubleReal",
        "cuFloatComplex",
        "cuDoubleComplex",
        "make_cu",
    ),
    "cooperative_groups.cuh": ("cooperative_groups::",),
    "block_votes.cuh": ("__syncthreads_",),
    "warp_functions.cuh": ("WARP_", "__match_all_"),
    "halves.cuh": _OF_HALVES,
    "torch_functions.cuh": _OF_TORCH,
    "warp_reductions.cuh": ("__reduce_",),
    "standard_arrays.cuh": ("std::array", "cuda::std::array"),
    "pipelines.cuh": ("__pipeline_", "__cvta_generic_to_shared"),
    "shuffles.cuh": ("__shfl", "cooperative_groups::"),
    "philox.cuh": ("curandStatePhilox4_32_10",),
    "xorwow.cuh": ("curandStateXORWOW", "curandState ", "curandState_t "),
    "mathematics.cuh": _MADE_OF_OTHERS,
    "float8.cuh": ("__nv_fp8", "__nv_cvt_"),
    "accessors.cuh": tuple(f"{space}{name}" for space in ("", "at::", "torch::", "c10::") for name in _ACCESSORS),
}

_OF_HOSTS = {
    "cuda_cmath.cuh": _OF_CMATH,
    "apply_grid.cuh": tuple(f"{space}getApply" for space in ("", "cuda::", "at::cuda::", "torch::cuda::")),
    **{file: _LIBRARIES[file] for file in ("philox.cuh", "xorwow.cuh")},  # whose states hosts allocate
}


def with_libraries(unit: Unit) -> Unit:
    """Returns `unit` with what its kernels may call of the libraries that it mentions."""
    return _with(unit, _LIBRARIES)


def with_host_libraries(unit: Unit) -> Unit:
    """Returns `unit` with what its host code may call of the libraries that it mentions."""
    return _with(unit, _OF_HOSTS)


def _with(unit: Unit, libraries: Mapping[str, tuple[str, ...]]) -> Unit:
    names = _names(unit)
    for file, prefixes in libraries.items():
        if any(f"{name} ".startswith(prefixes) for name in names):
            found = _library(file)
            names |= _names(found)
            own = {function.head.qualified for function in unit.functions}  # a source may have a `remainder` of its own
            unit = Unit(
                (*(function for function in found.functions if function.head.qualified not in own), *unit.functions),
                (*found.structs, *unit.structs),
                (*found.aliases, *unit.aliases),
                (*found.variables, *unit.variables),
                unit.unread,
            )
    return unit


@cache
def _library(file: str) -> Unit:
    text = files(__name__).joinpath(file).read_text("utf-8")
    return read_unit(parse(Source(Path(file), text)))


def _names(unit: Unit) -> frozenset[str]:
    """Returns the names that a unit mentions."""
    trees = (*unit.functions, *(method for struct in unit.structs for method in struct.methods), *unit.aliases)
    return frozenset(n.name for tree in trees for n in walk(tree) if isinstance(n, TypeName | Name))
