"""8-bit floats are bytes, which become numbers by a cast and in no other way."""

from pathlib import Path

from porter.source.parse import parse
from porter.source_text import Source
from porter_triton.port import port

HEAD = "#include <cuda_fp8.h>\n"


def ported(kernel: str, host: str):
    return port(parse(Source(Path("op.cu"), f"{HEAD}{kernel}\n{host}")), ())


def text_of(kernel: str, host: str) -> str:
    made = ported(kernel, host)
    assert not made.findings, made.findings
    return made.files[0].text


def test_a_cast_saturates_and_the_launcher_passes_bytes():
    text = text_of(
        "__global__ void k(const float* x, __nv_fp8_e4m3* q) { q[threadIdx.x] = __nv_fp8_e4m3(x[threadIdx.x]); }",
        "void f(const float* x, __nv_fp8_e4m3* q) { k<<<1, 64>>>(x, q); }",
    )
    assert "tl.store(q + tid, " in text
    assert "k[(1,)](x, q.view(torch.uint8), BLOCK_SIZE=64, num_warps=1)" in text


def test_a_pointer_that_may_be_null_stays_so():
    text = text_of(
        "__global__ void k(float* y, const __nv_fp8_e5m2* q) { if (q) y[threadIdx.x] = float(q[threadIdx.x]); }",
        "void f(float* y, const __nv_fp8_e5m2* q) { k<<<1, 64>>>(y, q); }",
    )
    assert "None if q is None else q.view(torch.uint8)" in text


def test_bytes_and_a_kernel_without_a_launcher():
    text = text_of(
        "__global__ void k(const __nv_fp8_e4m3* q, unsigned char* y) { y[threadIdx.x] = q[threadIdx.x].__x; }", ""
    )
    assert "    value = tl.load(q + tid)\n    tl.store(y + tid, value)\n" in text
    assert "q.view(torch.uint8)" in text
