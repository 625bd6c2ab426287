"""Local headers are ported beside the program, and found there."""

from pathlib import Path

from porter.source.parse import parse
from porter.source_text import Source
from porter_maca import MacaBackend
from porter_maca.frame import after_includes

BACKEND = MacaBackend()
CHECK = "#pragma once\n#include <cuda_runtime.h>\ninline void cudaCheck(cudaError_t e) { (void)e; }\n"


def port(text, **headers):
    sources = tuple(Source(Path(path), header) for path, header in headers.items())
    program = parse(Source(Path("project/src/op.cu"), text))
    return {f.name: f.text for f in BACKEND.port(program, sources, BACKEND.targets()[0]).files}


def test_a_header_beside_the_source_keeps_its_name():
    files = port(
        '#include "check.h"\nvoid f() { cudaCheck(cudaDeviceSynchronize()); }\n', **{"project/src/check.h": CHECK}
    )
    assert list(files) == ["op.maca.cpp", "check.h"]
    assert '#include "check.h"\n' in files["op.maca.cpp"]
    assert "cudaCheck(mcDeviceSynchronize())" in files["op.maca.cpp"]
    assert "inline void cudaCheck(mcError_t e)" in files["check.h"]


def test_headers_below_the_source_keep_their_folder_and_find_each_other():
    headers = {"project/src/lib/check.h": CHECK, "project/src/lib/all.h": '#include "check.h"\n'}
    files = port('#include "lib/all.h"\n', **headers)
    assert list(files) == ["op.maca.cpp", "lib/check.h", "lib/all.h"]
    assert '#include "lib/all.h"\n' in files["op.maca.cpp"]
    assert files["lib/all.h"].endswith('#include "check.h"\n')


def test_a_header_outside_the_sources_folder_comes_in_and_is_included_from_there():
    files = port(
        '#include "../include/check.h"\n#include <other/more.h>\n',
        **{
            "project/include/check.h": CHECK,
            "project/include/other/more.h": '#include "../check.h"\n',
        },
    )
    assert list(files) == ["op.maca.cpp", "check.h", "more.h"]
    assert '#include "check.h"\n#include "more.h"\n' in files["op.maca.cpp"]
    assert files["more.h"].endswith('#include "check.h"\n')


def test_the_runtimes_header_is_added_where_nothing_includes_it():
    assert "#include <mc_runtime.h>\n" in port("__global__ void k() {}\n")["op.maca.cpp"]
    files = port('#include "check.h"\n__global__ void k() {}\n', **{"project/src/check.h": CHECK})
    assert "mc_runtime.h" not in files["op.maca.cpp"]


def test_two_headers_of_one_name_stay_two():
    files = port(
        '#include "../a/x.h"\n#include "../b/x.h"\n', **{"project/a/x.h": "#define A\n", "project/b/x.h": "#define B\n"}
    )
    assert list(files) == ["op.maca.cpp", "x.h", "b/x.h"]
    assert '#include "x.h"\n#include "b/x.h"\n' in files["op.maca.cpp"]


def test_an_extension_stays_a_cu_file_and_a_header_a_header():
    extension = "#include <torch/extension.h>\ntorch::Tensor f(torch::Tensor x) { k<<<1, 1>>>(); return x; }\n"
    assert list(port(extension)) == ["op.maca.cu"]
    program = parse(Source(Path("kernels.cuh"), "__global__ void k() {}\n"))
    assert BACKEND.port(program, (), BACKEND.targets()[0]).files[0].name == "kernels.maca.cuh"


def test_a_header_given_twice_is_ported_once():
    files = port('#include "check.h"\n', **{"project/src/check.h": CHECK, "project/src/lib/../check.h": CHECK})
    assert list(files) == ["op.maca.cpp", "check.h"]


def test_helpers_stand_before_the_code_of_a_header_that_is_all_of_one_platform():
    text = "#pragma once\n#if defined(WITH_CUDA)\n#include <cuda.h>\nnamespace a { int f(); }\n#endif\n"
    assert text[after_includes(text) :].startswith("namespace a")
    other = "#ifdef WITH_CUDA\n#include <cuda.h>\n#else\nint g();\n#endif\nint f() { return 0; }\n"
    assert other[after_includes(other) :] == "int f() { return 0; }\n"
