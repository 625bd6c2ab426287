"""Launches that are told their extents in a struct: `cudaLaunchKernelEx`."""

import pytest

from porter_triton.refusal import Refusal
from tests.pure.triton.host_sources import translated

KERNEL = """
template <int by> __global__ void grow(float* y, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = by * x[i];
}
"""


def launcher(statements):
    """The lines of `f(y, x, n, stream)` around `statements`."""
    head = "cudaError_t f(float* y, const float* x, int n, cudaStream_t stream) {\n"
    return translated(f"{KERNEL}{head}{statements}\n}}")


SET = """
    cudaLaunchConfig_t config;
    config.gridDim = dim3((n + 127) / 128);
    config.blockDim = 128;
    config.dynamicSmemBytes = 0;
    config.stream = stream;
    cudaLaunchAttribute attributes[1];
    attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[0].val.programmaticStreamSerializationAllowed = 1;
    config.attrs = attributes;
    config.numAttrs = 1;
"""
GIVEN = "cudaLaunchConfig_t config = {dim3((n + 127) / 128), dim3(128), 0, stream, nullptr, 0};"


@pytest.mark.parametrize("config", [SET, GIVEN], ids=["set", "given"])
@pytest.mark.parametrize("kernel", ["grow<2>", "&grow<2>"])
def test_extents_that_are_set_once_are_those_of_the_launch(config, kernel):
    found = launcher(f"{config} return cudaLaunchKernelEx(&config, {kernel}, y, x, n);")
    assert "grow[(triton.cdiv(n, 128),)](y, x, n, BLOCK_SIZE=128, num_warps=" in found
    assert "config" not in found
    assert "attributes" not in found


def test_extents_that_change_are_variables():
    more = "if (n > 1000) config.gridDim.x = 8;"
    found = launcher(f"{SET} {more} cudaLaunchKernelEx(&config, grow<2>, y, x, n); return cudaSuccess;")
    assert "config_gridDim_x = triton.cdiv(n, 128)" in found
    assert "config_gridDim_x = 8" in found
    assert "grow[(config_gridDim_x," in found
    assert "BLOCK_SIZE=128" in found


def test_a_configuration_of_another_function_is_refused():
    with pytest.raises(Refusal):
        translated(f"{KERNEL} void f(cudaLaunchConfig_t* c, float* y, const float* x, int n)"
                   " { cudaLaunchKernelEx(c, grow<2>, y, x, n); }")  # fmt: skip


@pytest.mark.parametrize(
    "config",
    [
        "cudaLaunchConfig_t config = configured(n);",
        "cudaLaunchConfig_t config{}; cudaLaunchConfig_t* told = &config; told->gridDim = dim3((n + 127) / 128);",
        "cudaLaunchConfig_t config = {.gridDim = dim3((n + 127) / 128), .blockDim = dim3(128)};",
    ],
    ids=["by a function", "through a pointer", "by names"],
)
def test_a_configuration_that_something_else_fills_is_refused_or_read(config):
    made = "cudaLaunchConfig_t configured(int n) { cudaLaunchConfig_t c{}; c.gridDim = dim3(n); return c; }"
    text = (
        f"{KERNEL}{made} void f(float* y, const float* x, int n) "
        f"{{ {config} cudaLaunchKernelEx(&config, grow<2>, y, x, n); }}"
    )
    try:
        found = translated(text)
    except Refusal:
        return
    assert "grow[(triton.cdiv(n, 128),)]" in found
