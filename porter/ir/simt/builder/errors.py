"""Constructs that the builder does not express."""

from __future__ import annotations

from porter.ir.simt.ops import Location


class NotExpressibleError(Exception):
    """The kernel has a construct that the SIMT IR, or its builder, does not express; `location` is where."""

    def __init__(self, construct: str, line: int = 0, file: str = "") -> None:
        super().__init__(construct)
        self.construct, self.location = construct, Location(line, file)

    def __str__(self) -> str:
        return f"line {self.location}: {self.construct}" if self.location.line else self.construct


_TEXTURES = "textures and surfaces are not ported: read the array through a pointer instead"
_RANDOM = "this generator is not ported: curandState and curandStatePhilox4_32_10_t give the same numbers everywhere"
_TENSOR_CORES = "tensor cores are not ported: write the product as sums over shared memory, or this kernel by hand"
_COMPLEX = "complex numbers of this class are not ported: use float2 or cuComplex"
_CLOCK = "what the clock of a device says is not ported: measure outside of the kernel"
_MEMORY = "memory that a kernel allocates is not ported: give it to the kernel as an argument"
_LAUNCHES = "what a kernel launches or waits for is not ported: launch it from the host"
_REASONS = {  # by what the names begin with, without namespaces
    **dict.fromkeys(("tex1D", "tex2D", "tex3D", "texCube", "surf1D", "surf2D", "surf3D", "texture"), _TEXTURES),
    **dict.fromkeys(("cudaTextureObject_t", "cudaSurfaceObject_t", "surface"), _TEXTURES),
    **dict.fromkeys(("curandState", "curand"), _RANDOM),
    **dict.fromkeys(("wmma", "fragment", "mma_sync", "load_matrix_sync", "store_matrix_sync"), _TENSOR_CORES),
    **dict.fromkeys(("clock", "globaltimer", "__clock"), _CLOCK),
    **dict.fromkeys(("malloc", "calloc", "realloc"), _MEMORY),
    **dict.fromkeys(("cudaDeviceSynchronize", "cudaStreamCreate", "cudaLaunch", "cudaMalloc"), _LAUNCHES),
    "complex": _COMPLEX,
}


def what_instead(name: str) -> str:
    """Returns why a function or type of CUDA's is not ported, and what to do; empty for one that nobody knows."""
    plain = name.rpartition("::")[2]
    return next((f": {reason}" for start, reason in _REASONS.items() if plain.startswith(start)), "")


def told_by_build(name: str) -> str:
    """Returns what may supply the name `name`, which nothing that was read declares; empty for a qualified one."""
    return f": if the build defines it, say so with --define {name}=VALUE" if name.isidentifier() else ""
