"""Variables of the device that only kernels know: tensors that the module makes once a device."""

from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source_text import Source
from porter_triton.port import port

COUNTED = """{declared}
__global__ void k(float* y) {{
  if (threadIdx.x == 0 && atomicAdd(&seen, 1) == gridDim.x - 1) {{ y[0] = 1; seen = 0; }}
}}
void f(float* y) {{ {before} k<<<8, 32>>>(y); }}
"""


def ported(declared: str, before: str = ""):
    return port(parse(Source(Path("op.cu"), COUNTED.format(declared=declared, before=before))), ())


@pytest.mark.parametrize(
    ("declared", "made"),
    [
        ("__device__ int seen;", "torch.zeros(1, dtype=torch.int32, device=device)"),
        ("static __device__ unsigned int seen = 0;", "torch.tensor([0], dtype=torch.uint32, device=device)"),
    ],
)
def test_a_counter_is_made_once_and_keeps_what_kernels_leave(declared, made):
    text = ported(declared).files[0].text
    assert "import functools\n" in text
    assert "@functools.cache\ndef seen_on(device):\n" in text
    assert f"    return {made}\n" in text
    assert "seen_on(y.device)" in text


def test_several_launches_share_it():
    text = ported("__device__ int seen;", "k<<<4, 32>>>(y);").files[0].text
    assert text.count("seen_on(y.device)") == 2
    assert text.count("def seen_on(") == 1


def test_one_that_host_code_has_the_address_of_is_refused():
    made = ported("__device__ int seen;", "void* place; cudaGetSymbolAddress(&place, seen);")
    assert any(finding.code == "PORT1801" for finding in made.findings)


def test_an_array_is_declared_with_all_its_values_or_none():
    kernel = "__device__ float w[4] = {GIVEN}; __global__ void k(float* y) { y[threadIdx.x] = w[threadIdx.x % 4]; }"
    texts = [
        port(
            parse(Source(Path("op.cu"), f"{kernel.replace('GIVEN', given)} void f(float* y) {{ k<<<1, 32>>>(y); }}")),
            (),
        )
        for given in ("1, 2, 3, 4", "1")
    ]
    assert "torch.tensor([1, 2, 3, 4], dtype=torch.float32, device=device)" in texts[0].files[0].text
    assert any("more or fewer values than it has elements" in finding.message for finding in texts[1].findings)
