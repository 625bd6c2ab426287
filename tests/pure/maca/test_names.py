"""Renaming, rule by rule: what changes and what is left alone."""

from pathlib import Path

import pytest

from porter.backend import PortedFile
from porter.diagnostics.findings import Severity
from porter.rules.original import NO_CODE
from porter.source.parse import parse
from porter.source_text import Source
from porter_maca import MacaBackend
from porter_maca.api import api_table
from porter_maca.lint import lint

BACKEND = MacaBackend()


def port(text, *headers, name="op.cu"):
    program = parse(Source(Path("src") / name, text))
    return BACKEND.port(program, headers, BACKEND.targets()[0])


def body(text):
    """The port of `text` without the lines porter puts in front."""
    return port("#include <cuda_runtime.h>\n" + text).files[0].text.split("#include <mc_runtime.h>\n", 1)[1]


@pytest.mark.parametrize(
    "line",
    [
        "// cudaMalloc frees nothing\n",
        "/* cudaError_t */ int x;\n",
        'const char* s = "cudaMalloc failed";\n',
        'const char* s = R"(cudaMalloc)";\n',
        '#error "cudaMalloc"\n',
        "int cudaIndex = 3; int y = cudaIndex + 1;\n",
        "struct cudaThing { int cudaMallocCalls; };\n",
        "int f(Thing* t) { return t->cudaMalloc + t->inner.cudaFree(); }\n",
        "auto s = at::cuda::getCurrentCUDAStream();\n",
        "c10::cuda::CUDAGuard guard(device);\n",
        "void g() { Driver::cudaMalloc(3); other::space::cudaFree(4); }\n",
        "using cudaSize = int; cudaSize n = 4;\n",
        "C10_CUDA_CHECK(error); CUDA_CHECK(error);\n",
        "float hcValue = 1.0f; auto v = hcFunction(hcValue);\n",
        "__global__ void k(float* __restrict__ x) { x[threadIdx.x] = __expf(atomicAdd(x, 1.0f)); }\n",
        "dim3 grid(1); k<<<grid, 64>>>(x);\n",
    ],
)
def test_left_alone(line):
    assert body(line) == line


@pytest.mark.parametrize(
    ("cuda", "maca"),
    [
        ("cudaError_t e = ::cudaMalloc(&p, 4);\n", "mcError_t e = ::mcMalloc(&p, 4);\n"),
        ("struct cudaDeviceProp p;\n", "mcDeviceProp_t p;\n"),
        ("enum cudaMemcpyKind k;\n", "enum mcMemcpyKind k;\n"),
        (
            "auto f = [&](int n) -> cudaError_t { return cudaSuccess; };\n",
            "auto f = [&](int n) -> mcError_t { return mcSuccess; };\n",
        ),
        ("#define CHECK(x) if ((x) != cudaSuccess) exit(1)\n", "#define CHECK(x) if ((x) != mcSuccess) exit(1)\n"),
        (
            "#define TRY(x)  \\\n    cudaFree(x);    \\\n    x = 0\n",
            "#define TRY(x)  \\\n    mcFree(x);      \\\n    x = 0\n",
        ),
        ("cuda::std::pair<int, int> p;\n", "mc::std::pair<int, int> p;\n"),
        ("void k(const __grid_constant__ int n);\n", "void k(const int n);\n"),
        ("void CUDART_CB said(void* data);\n", "void said(void* data);\n"),
        ("#ifdef __CUDA_ARCH__\n#endif\n", "#ifdef __MACA_ARCH__\n#endif\n"),
        (
            "#if defined(__CUDACC__) || defined __NVCC__\n#endif\n",
            "#if defined(__MACACC__) || defined __MXCC__\n#endif\n",
        ),
        ("#if __CUDA_ARCH__ < 600\n#endif\n", "#if (__MACA_ARCH__ ? 800 : 0) < 600\n#endif\n"),
        (
            "#define CUDA_SUCCESS(x) ((x) == cudaSuccess)\nint f() { return CUDA_SUCCESS(cudaFree(0)); }\n",
            "#define CUDA_SUCCESS(x) ((x) == mcSuccess)\nint f() { return CUDA_SUCCESS(mcFree(0)); }\n",
        ),
        (
            "#ifdef OLD\n#define cudaMalloc(p, n) take(p, n)\n#endif\nint f() { return cudaMalloc(0, 0); }\n",
            "#ifdef OLD\n#define mcMalloc(p, n) take(p, n)\n#endif\nint f() { return mcMalloc(0, 0); }\n",
        ),
        ("#define UNROLL #pragma unroll\n", '#define UNROLL _Pragma("unroll")\n'),
        (
            "int f(void* x, void* y) { return cudaMemcpy(x, y, 4, cudaMemcpyKind::cudaMemcpyHostToDevice); }\n",
            "int f(void* x, void* y) { return mcMemcpy(x, y, 4, mcMemcpyKind::mcMemcpyHostToDevice); }\n",
        ),
        ("using namespace nvcuda;\n", "using namespace mxmaca;\n"),
    ],
)
def test_renamed(cuda, maca):
    assert body(cuda) == maca


def test_a_name_nobody_declares_is_left_and_noted():
    ported = port("#include <cuda_runtime.h>\nvoid f() { cudaHelper(1); }\n")
    assert "cudaHelper(1)" in ported.files[0].text
    assert [(f.code, f.span.line) for f in ported.findings] == [("PORT1120", 2)]


def test_lint_finds_each_name_left_behind():
    text = "#include <cuda_fp16.h>\nmcStream_t s;\ncudaMalloc(&p, 4); // cudaFree\n"
    found = list(lint([Source(Path("x.maca.cpp"), text)], api_table()))
    assert [(f.span.line, f.message, f.hint) for f in found] == [
        (1, "cuda_fp16.h is CUDA's name", "on MACA it is maca_fp16.h"),
        (3, "cudaMalloc is CUDA's name", "on MACA it is mcMalloc"),
    ]


def left_behind(*texts):
    """The names that the candidate with these files is refused for."""
    files = tuple(PortedFile(f"file{i}.h", text, Source(Path(f"file{i}.h"), text)) for i, text in enumerate(texts))
    return [f.message.split()[0] for f in BACKEND.lint(files, NO_CODE) if f.code == "PORT1191"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("#include <cuda_runtime.h>\n", "cuda_runtime.h"),
        ("#include <cuda/barrier>\n", "cuda/barrier"),
        ("void f(float* x, cudaStream_t stream);\n", "cudaStream_t"),
        ("int f() { return ::cudaDeviceSynchronize(); }\n", "cudaDeviceSynchronize"),
        ("using ::cudaMalloc;\n", "cudaMalloc"),
        ("#define ALLOCATE(p, n) cudaMalloc(&p, n)\n", "cudaMalloc"),
        ("#ifdef __MACACC__\nvoid f() { cudaGetLastError(); }\n#endif\n", "cudaGetLastError"),
        ("#ifdef __CUDACC__\n#else\n#include <cuda_fp16.h>\n#endif\n", "cuda_fp16.h"),
        ("#ifdef __CUDACC__\n#define cudaFree mcFree\n#endif\nvoid f() { cudaFree(0); }\n", "cudaFree"),
        ("__device__ __nv_bfloat16 one;\n", "__nv_bfloat16"),
        ("texture<float, 2> image; __device__ float f() { return tex2D(image, 0, 0); }\n", "tex2D"),
    ],
)
def test_a_candidate_with_a_name_of_cuda_is_refused(text, name):
    assert name in left_behind(text)


@pytest.mark.parametrize(
    "text",
    [
        "// cudaMalloc and <cuda_runtime.h>\n/* cudaStream_t */\n",
        'const char* said = "cudaMalloc failed"; const char* raw = R"(cudaFree)";\n',
        "float cudaScale(float x) { return x; }\nfloat f(float x) { return cudaScale(x); }\n",
        "enum Mode { cudaMemoryless, cudaMemoryful = 2 };\nint f() { return cudaMemoryless; }\n",
        "template <int cudaDeviceRows> int g(float *cudaEventBuffer, int n = cudaDeviceRows);\n",
        "#define cudaCheckAll(x) x\nint f() { return cudaCheckAll(3); }\n",
        "#ifdef __CUDACC__\n#include <cuda_runtime.h>\n#define m cudaMalloc\n#else\n#include <mc_runtime.h>\n#endif\n",
        "#if defined(__CUDACC__) || defined(__CUDA_ARCH__)\nvoid f() { cudaMalloc(0, 0); }\n#endif\n",
        "auto s = at::cuda::getCurrentCUDAStream();\n#include <c10/cuda/CUDAGuard.h>\n",
        "int f(Buffer& b) { return b.cudaMalloc() + Driver::cudaFree(); }\n",
    ],
)
def test_a_candidate_with_names_that_only_look_like_cuda_is_not_refused(text):
    assert left_behind(text) == []


def test_what_one_file_of_a_candidate_declares_another_may_use():
    assert left_behind("int cudaMallocCount(int);\n", "int f() { return cudaMallocCount(1); }\n") == []


@pytest.mark.parametrize("source", sorted((Path(__file__).parent / "golden").glob("*.cu")), ids=lambda p: p.stem)
def test_lint_has_nothing_to_say_about_our_own_ports(source):
    ported = port(source.read_text("utf-8"), name=source.name)
    if any(f.severity is Severity.ERROR for f in ported.findings):
        return  # it is not whole: what MACA lacks stands in it
    files = [Source(Path(file.name), file.text) for file in ported.files]
    assert list(lint(files, api_table())) == []


def test_a_stamped_file_is_left_as_it_is():
    ported = port("// op.cu ported to MACA xcore1000 by porter 0.1.0, source 0123456789abcdef\ncudaMalloc(&p, 4);\n")
    assert ported.files[0].text.endswith("cudaMalloc(&p, 4);\n")
    assert [f.code for f in ported.findings] == ["PORT1190"]


PASTED = """#include <mc_runtime.h>
#define JOINED(a, b) a##b
#define OF_MACA(name) mc##name
void f(float** p) { %s }
"""


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("JOINED(cuda, Malloc)(p, 4);", "PORT1191"),
        ("JOINED(sys, tem)(0);", "PORT1194"),
        ("JOINED(por, ter)::simt::chance();", "PORT1195"),
        ('JOINED(__as, m__)("rdtsc");', "PORT1194"),
        ("OF_MACA(Malloc)(p, 4);", None),
        ("int JOINED(row_, count) = 3;", None),
    ],
)
def test_a_name_that_macros_make_of_parts_is_a_name(call, code):
    source = Source(Path("k.cpp"), PASTED % call)
    found = BACKEND.lint((PortedFile("k.cpp", source.text, source),), NO_CODE)
    assert {f.code for f in found} == ({code} if code else set())
    assert all(f.span.line == 2 for f in found)
