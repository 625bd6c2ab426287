"""`x.data_ptr<float>()` raises for a tensor of another type; so does its launcher in Python."""

from pathlib import Path
from textwrap import dedent

from porter.source.parse import parse
from porter.source_text import Source
from porter.syntax.read import read_unit
from porter_triton.host import Hosts
from porter_triton.kernels import Kernels

KERNEL = """
template <typename T> __global__ void scale(T* y, const T* x, const T* w, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = w ? x[i] * w[i] : x[i];
}
"""
CHECKED = """\
if x.dtype != torch.float32:
    raise RuntimeError(f"expected torch.float32 but found {x.dtype}")
"""


def body(text):
    """The body of `f(x, w, y)` without head and comment."""
    head = "torch::Tensor f(torch::Tensor x, torch::Tensor w, torch::Tensor y) {\n"
    program = parse(Source(Path("op.cu"), f"{KERNEL}{head}{text}\nreturn y;\n}}"))
    unit = read_unit(program)
    hosts = Hosts(program, unit, Kernels(unit))
    hosts.named("f")
    lines = hosts.texts()[-1].split("\n")
    return dedent("\n".join(lines[2:-1])) + "\n"


def launch(*pointers):
    return f"scale<<<1, 32>>>({', '.join(pointers)}, 32);"


def test_tensors_of_one_launch_are_checked_together():
    found = body(launch("y.data_ptr<float>()", "x.data_ptr<float>()", "w.data_ptr<float>()"))
    assert found.startswith(
        dedent("""\
        for tensor in (y, x, w):
            if tensor.dtype != torch.float32:
                raise RuntimeError(f"expected torch.float32 but found {tensor.dtype}")
    """)
    )


def test_a_tensor_is_checked_once():
    call = launch("x.data_ptr<float>()", "x.data_ptr<float>()", "x.data_ptr<float>()")
    found = body(call + call)
    assert found.count("dtype") == 2
    assert found.startswith(CHECKED)


def test_what_the_source_has_checked_or_made_is_not_checked_again():
    found = body(
        "TORCH_CHECK(x.scalar_type() == torch::kFloat32);\n"
        "auto out = torch::empty_like(x);\n"
        "auto z = torch::zeros({32}, torch::kFloat32);\n"
        + launch("out.data_ptr<float>()", "x.data_ptr<float>()", "z.data_ptr<float>()")
    )
    assert found.count(".dtype !=") == 1


def test_a_check_that_holds_only_in_a_branch_says_nothing_behind_it():
    call = launch("x.data_ptr<float>()", "x.data_ptr<float>()", "x.data_ptr<float>()")
    found = body(f"if (x.size(0) > 3) {{ {call} }}\n{call}")
    assert found.count("if x.dtype != torch.float32:") == 2


def test_an_optional_tensor_is_checked_where_it_is_there():
    found = body(launch("x.data_ptr<float>()", "x.data_ptr<float>()", "w.defined() ? w.data_ptr<float>() : nullptr"))
    assert "if w is not None and w.dtype != torch.float32:\n" in found


def test_a_tensor_that_is_set_to_another_is_checked_again():
    call = launch("x.data_ptr<float>()", "x.data_ptr<float>()", "x.data_ptr<float>()")
    assert body(f"{call}\nx = w;\n{call}").count("if x.dtype != torch.float32:") == 2
    assert body(f"{call}\nx = x.contiguous();\n{call}").count("if x.dtype != torch.float32:") == 1


def test_in_a_dispatch_the_others_have_the_type_of_the_one_that_chooses():
    found = body(
        'AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "f", [&] {'
        + launch("y.data_ptr<scalar_t>()", "x.data_ptr<scalar_t>()", "x.data_ptr<scalar_t>()")
        + "});"
    )
    assert "if y.dtype != x.dtype:" in found
    assert "x.dtype != x.dtype" not in found
