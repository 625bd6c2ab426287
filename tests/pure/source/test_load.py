"""Files to sources, and what is refused with which words."""

import pytest

from porter.errors import InputError
from porter.source.load import load, read_sources
from porter.source.parse import parse
from porter.source.program import HostForm

KERNEL = "__global__ void k(float* x) { x[0] = 1; }\n"


def written(tmp_path, name, content):
    path = tmp_path / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content, encoding="utf-8", newline="")
    return path


@pytest.mark.parametrize("name", ["a.cu", "a.cuh", "a.cpp", "a.h", "a.hpp", "a.cc", "a.maca", "A.CU"])
def test_one_source_for_a_cuda_file(tmp_path, name):
    (source,) = read_sources(written(tmp_path, name, "\r\n" + KERNEL))
    assert source.text == "\r\n" + KERNEL
    assert source.first_line == 1


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.cu", "", "is empty"),
        ("a.cu", " \n\t\n", "is empty"),
        ("a.cu", b"\x7fELF\0\0", "binary"),
        ("a.cu", "Dear reader, this is a letter.", "no CUDA"),
        ("a.cpp", "int main() { return 0; }", "no CUDA"),
        ("a.py", "x = 1\n", "no string in it holds a CUDA kernel"),
        ("a.py", "def f(:\n", "not Python"),
        ("a.py", 'n = int(input())\ns = f"__global__ void k() {{ int x = {n}; }}"\n', "when the program runs"),
        ("a.txt", KERNEL, "not a source porter knows"),
    ],
)
def test_what_is_refused(tmp_path, name, content, message):
    with pytest.raises(InputError) as refusal:
        read_sources(written(tmp_path, name, content))
    assert message in refusal.value.message
    assert str(tmp_path / name) in refusal.value.message


def test_missing_files_and_folders_are_refused(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_sources(tmp_path / "none.cu")
    (tmp_path / "folder.cu").mkdir()
    with pytest.raises(InputError, match="is a folder"):
        read_sources(tmp_path / "folder.cu")


@pytest.mark.parametrize(
    "raw",
    [
        b"\xef\xbb\xbf" + KERNEL.encode(),
        ("// 你好\n" + KERNEL).encode("gb18030"),
        KERNEL.encode("utf-16"),
        b"// caf\xe9 \xff\n" + KERNEL.encode(),
    ],
)
def test_encodings(tmp_path, raw):
    (source,) = read_sources(written(tmp_path, "a.cu", raw))
    assert source.text.endswith(KERNEL)
    assert [k.name for k in parse(source).kernels] == ["k"]


PYTHON = '''
"""Mentions __global__ and <<<grid, block>>> only."""
from torch.utils.cpp_extension import load_inline
WIDTH = 128
names = ["relu", "other"]
head = "#include <torch/extension.h>\\n"
source = head + """
__global__ void relu_kernel(float* x) { x[0] = 1; }
torch::Tensor relu(torch::Tensor x) { relu_kernel<<<1, 1>>>(x.data_ptr<float>()); return x; }
"""
module = load_inline(name="m", cpp_sources="",
    cuda_sources=[source], functions=names)
constant = f"""
__global__ void wide(float* x) {{ x[{WIDTH}] = 1; }}
"""
joined = (
    "__global__ void joined(float* x) {\\n"
    "  x[0] = 1;\\n"
    "}\\n"
)
bad = "__global__ void k(float* x) {{ x[{}] = 1; }}".format(len(names))
'''


INLINE = '''from torch.utils.cpp_extension import load_inline
declared = """
#include <torch/extension.h>
torch::Tensor scale_cuda(torch::Tensor x);
{host}
"""
kernels = """
__global__ void scale(float* x) {{ x[0] = 1; }}
"""
launcher = """torch::Tensor scale_cuda(torch::Tensor x) {{
    scale<<<1, 1>>>(x.data_ptr<float>());
    return x;
}}
"""
load_inline("m", declared, [kernels, launcher], functions=["{function}"])
'''


@pytest.mark.parametrize(
    ("host", "function"),
    [
        ("", "scale_cuda"),
        ("torch::Tensor wrap(torch::Tensor x) {{ return scale_cuda(x); }}", "wrap"),
        ("torch::Tensor f(torch::Tensor x);\n", "scale_cuda"),
    ],
)
def test_what_load_inline_compiles_together_is_one_program(tmp_path, host, function):
    text = INLINE.format(host=host, function=function)
    (source,) = read_sources(written(tmp_path, "a.py", text))
    program = parse(source)
    assert source.text.startswith("#include <torch/types.h>\n")
    assert [(b.python_name, b.function) for b in program.bindings] == [("scale_cuda", "scale_cuda")]
    for defined in (*program.kernels, *program.host_functions):
        assert f" {defined.name}(" in text.splitlines()[defined.span.line - 1]


def test_cpp_that_launches_the_kernels_belongs_to_their_program(tmp_path):
    host = "torch::Tensor f(torch::Tensor x) {{ scale<<<1, 1>>>(x.data_ptr<float>()); return x; }}"
    (source,) = read_sources(written(tmp_path, "a.py", INLINE.format(host=host, function="f")))
    program = parse(source)
    assert [b.function for b in program.bindings] == ["f"]
    assert [k.name for k in program.kernels] == ["scale"]
    assert {launch.inside for launch in program.launches} == {"f", "scale_cuda"}


def test_python_strings(tmp_path):
    loaded = load(written(tmp_path, "a.py", PYTHON))
    programs = [parse(s) for s in loaded.sources]
    assert [[k.name for k in p.kernels] for p in programs] == [["relu_kernel"], ["wide"], ["joined"]]
    lines = PYTHON.split("\n")
    for p in programs[1:]:
        assert p.kernels[0].name in lines[p.kernels[0].span.line - 1]
    assert programs[0].form is HostForm.TORCH_EXTENSION
    assert [b.function for b in programs[0].bindings] == ["relu"]
    assert "x[128] = 1" in loaded.sources[1].text
    assert [(f.code, f.span.line) for f in loaded.findings if f.span] == [
        ("PORT2005", next(i for i, line in enumerate(lines, 1) if line.startswith("bad")))
    ]
