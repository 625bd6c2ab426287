"""Properties of the port on any text whatever: it never raises, and what it wrote it leaves alone."""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from porter.source.parse import parse
from porter.source_text import Source
from porter_maca import MacaBackend

BACKEND = MacaBackend()
FRAGMENTS = [
    *(
        "cudaMalloc(&p, 4);",
        "cudaError_t e",
        "struct cudaDeviceProp p;",
        "at::cuda::x",
        "p->cudaFree",
        "::",
        "->",
        "(",
        ")",
        "{",
        "}",
    ),
    *(
        "#define F(x) cudaFree(x)  \\\n",
        "#define U #pragma unroll\n",
        "#if __CUDA_ARCH__ >= 700\n",
        "#ifdef __CUDACC__\n",
        "#endif\n",
    ),
    *(
        "#include <cuda_fp16.h>\n",
        '#include "x.h"\n',
        "// cuda\n",
        '"cudaMalloc"',
        "'c'",
        '"',
        "/*",
        "*/",
        "\\\n",
        "\n",
        " ",
        "\r\n",
    ),
    *(
        "__nv_bfloat16* b;",
        "atomicAdd(b, v);",
        "htanh(h)",
        "k<<<1, 32>>>(p);",
        "<<<",
        ">>>",
        "<",
        ">",
        ";",
        ",",
        "é",
        "\0",
    ),
    *(
        'asm("mov.u32 %0, 1;" : "=r"(x));',
        'asm volatile("cp.async.wait_all;");',
        'asm("',
        "texture<float> t;",
        "using namespace nvcuda;",
    ),
    *(
        "__global__ void k(float* p)",
        "__shared__ float s[32];",
        "cudaFuncSetAttribute(k, a, 70000);",
        "cudaMystery",
        "hcMalloc",
    ),
    *(
        "__shfl_down_sync(0xffffffff, v, 16)",
        "__shfl(v, 0)",
        "__ballot_sync(m, p)",
        "int w = warpSize;",
        "threadIdx.x % 32",
    ),
]
TEXT = st.lists(st.sampled_from(FRAGMENTS), max_size=25).map(" ".join)


def port(name, text):
    (file,) = BACKEND.port(parse(Source(Path(name), text)), (), BACKEND.targets()[0]).files
    return file


@settings(max_examples=150)
@given(TEXT)
def test_a_port_is_left_as_it_is_with_and_without_porters_line(text):
    first = port("op.cu", text)
    assert port(first.name, first.text).text == first.text
    body = first.text.partition("\n")[2]
    assert port("op.cu", body).text.partition("\n")[2] == body
