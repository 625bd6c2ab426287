"""Null pointers that a launcher passes: None where the kernel asks for it, else a tensor without elements."""

from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source_text import Source
from porter_triton.port import port

ASKING = "__global__ void k(float* y, const float* bias) { y[threadIdx.x] = bias ? bias[threadIdx.x] : 0.f; }\n"
TOLD = "__global__ void k(float* y, float* part) { if (gridDim.x > 1) part[threadIdx.x] = y[threadIdx.x]; }\n"


def launches(text):
    """The lines of the launcher `f`."""
    made = port(parse(Source(Path("op.cu"), text)), ())
    assert not made.findings, made.findings
    return made.files[0].text.split("def f(")[1]


def test_a_kernel_that_asks_is_passed_none():
    found = launches(f"{ASKING}void f(float* y) {{ k<<<1, 64>>>(y, nullptr); }}")
    assert "k[(1,)](y, None, BLOCK_SIZE=64, num_warps=1)" in found


def test_a_kernel_that_goes_by_something_else_is_passed_an_empty_tensor():
    found = launches(f"{TOLD}void f(float* y) {{ k<<<1, 64>>>(y, nullptr); }}")
    assert "torch.empty(0, dtype=torch.float32, device=y.device)" in found


def test_what_may_be_null_is_replaced_where_it_is():
    found = launches(f"""{TOLD}
    void f(float* y, float* scratch, int blocks) {{
      float* part = blocks > 1 ? scratch : nullptr;
      k<<<blocks, 64>>>(y, part);
    }}""")
    assert "part = scratch if blocks > 1 else None\n" in found
    assert "torch.empty(0, dtype=torch.float32, device=y.device) if part is None else part" in found


def test_a_parameter_of_the_launcher_is_passed_as_it_is():
    found = launches(f"{TOLD}void f(float* y, float* part) {{ k<<<2, 64>>>(y, part); }}")
    assert "k[(2,)](y, part, BLOCK_SIZE=64, num_warps=1)" in found


def test_what_a_launcher_is_passed_by_another_may_be_null():
    found = launches(f"""{TOLD}
    void f(float* y, float* part) {{ k<<<2, 64>>>(y, part); }}
    void between(float* y, float* part) {{ f(y, part); }}
    void first(float* y) {{ between(y, (float*)nullptr); }}""")
    assert "torch.empty(0, dtype=torch.float32, device=y.device) if part is None else part" in found


def test_what_a_run_decides_as_well_is_loaded_only_where_there_is_something():
    kernel = """__global__ void k(float* y, const float* s, int mode) {
      const bool scaled = mode == 2 && s != nullptr;
      y[threadIdx.x] = scaled ? *s : 1.f;
    }\n"""
    text = port(parse(Source(Path("op.cu"), kernel)), ()).files[0].text
    assert "    if s is not None:\n        if is_same:\n" in text


def test_what_only_null_pointers_decide_is_loaded_as_it_stands():
    kernel = "__global__ void k(float* y, const float* s, const float* t) { if (s && t) y[threadIdx.x] = *s + *t; }\n"
    made = port(parse(Source(Path("op.cu"), kernel)), ())
    assert "else:" not in made.files[0].text


def test_what_a_variable_says_of_null_pointers_triton_knows():
    kernel = """__global__ void k(float* y, float* s, const float* t) {
      const bool scaled = s != nullptr, both = scaled && t != nullptr;
      if (scaled) s[threadIdx.x] = 1.f;
      if (both) y[threadIdx.x] = t[threadIdx.x];
    }\n"""
    text = port(parse(Source(Path("op.cu"), kernel)), ()).files[0].text
    assert "if s is not None:\n" in text
    assert "    if s is not None:\n        if t is not None:\n" in text


FLAGGED = TOLD.replace("float* part)", "float* part, bool has)").replace("gridDim.x > 1", "has")


def test_a_parameter_that_the_launcher_asks_about_may_be_null():
    found = launches(f"{FLAGGED}void f(float* y, float* part) {{ k<<<1, 64>>>(y, part, part != nullptr); }}")
    assert "torch.empty(0, dtype=torch.float32, device=y.device) if part is None else part" in found


@pytest.mark.parametrize("asked", ["part", "part != nullptr && n > 2"])
def test_a_parameter_is_a_tensor_where_the_launcher_has_asked(asked):
    found = launches(f"""{FLAGGED}__global__ void none(float* y, float* part) {{ y[0] = 1; }}
    void f(float* y, float* part, int n) {{
        if ({asked}) k<<<1, 64>>>(y, part, true); else none<<<1, 64>>>(y, part);
    }}""")
    assert "k[(1,)](y, part, True, BLOCK_SIZE=64" in found
    assert "none[(1,)](y, part" in found


def test_a_parameter_that_the_launcher_refuses_if_it_is_null_is_none_behind():
    found = launches(f"{TOLD}void f(float* y, float* part) {{ if (!part) return; k<<<2, 64>>>(y, part); }}")
    assert "k[(2,)](y, part, BLOCK_SIZE=64, num_warps=1)" in found


RECORDER = "class Recorder { public: void note(int label); int count; };\n"
TWICE = "__global__ void k(float* y) { y[threadIdx.x] *= 2; }\n"


def test_an_object_that_host_code_asks_for_can_only_be_none():
    found = launches(f"""{RECORDER}{TWICE}
    void f(float* y, Recorder* recorder) {{
      k<<<1, 64>>>(y);
      if (recorder != nullptr && recorder->count > 3) recorder->note(7);
    }}""")
    assert "if recorder is not None:\n        raise NotImplementedError(" in found
    assert "note" not in found


def test_an_object_that_is_called_in_any_case_is_refused():
    text = f"""{RECORDER}{TWICE}
    void f(float* y, Recorder* recorder) {{
      recorder->note(7);
      if (recorder) k<<<1, 64>>>(y);
    }}"""
    (finding,) = port(parse(Source(Path("op.cu"), text)), ()).findings
    assert finding.message == "the method 'note' is not known"
