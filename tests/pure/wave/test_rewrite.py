from dataclasses import replace
from pathlib import Path

import pytest

from porter.diagnostics.findings import Severity
from porter.source.edit import apply_edits
from porter.source.parse import parse
from porter.source_text import Source
from porter_maca.targets import targets
from porter_maca.wave import rewrite

IDIOMS = sorted((Path(__file__).parents[2] / "toolchain" / "wave" / "idioms").glob("*.cu"))


def test_a_source_without_warps_is_left_alone(rewritten):
    result = rewritten(
        "__global__ void k(float* x, int n) { int i = blockIdx.x * 32 + threadIdx.x; x[i % 32] = i / 32; }"
    )
    assert result.edits == ()
    assert result.helpers == ""


def test_helper_text_comes_only_with_what_needs_it(rewritten):
    assert "namespace warp32" in rewritten("__device__ void f() { __syncwarp(); }").helpers
    assert rewritten("__device__ int f() { return threadIdx.x % 32; }").helpers == ""


def test_target_with_warps_of_32_needs_nothing():
    source = Source(Path("f.cu"), "__device__ void f() { __syncwarp(); }")
    assert rewrite(parse(source), source, replace(targets()[0], warp_size=32)).edits == ()


@pytest.mark.parametrize("path", IDIOMS, ids=lambda p: p.stem)
def test_rewriting_a_port_again_changes_nothing(path, rewritten):
    text = path.read_text("utf-8")
    first = rewritten(text)
    port = first.helpers + apply_edits(text, first.edits)
    if first.helpers:
        assert rewritten(port).edits == ()


@pytest.mark.parametrize("path", IDIOMS, ids=lambda p: p.stem)
def test_nothing_but_the_warp_operations_changes(path, rewritten):
    text = path.read_text("utf-8")
    port = apply_edits(text, rewritten(text).edits)
    assert port.count("\n") == text.count("\n")
    assert [line.lstrip()[:2] for line in port.splitlines() if line.lstrip().startswith("//")] == [
        line.lstrip()[:2] for line in text.splitlines() if line.lstrip().startswith("//")
    ]


def test_what_is_not_compiled_is_worth_a_note(rewritten):
    other_vendor = "#ifdef OTHER_VENDOR\n__device__ int __any_sync(unsigned long long m, int p) { return 0; }\n#endif\n"
    (note,) = rewritten(f"{other_vendor}__global__ void k(int* x) {{ *x = 1; }}").findings
    assert (note.code, note.severity) == ("PORT1020", Severity.NOTE)
    assert note.message.endswith("in a branch that is not compiled")
    shuffle = "return __shfl_down_sync(~0u, x, 1, 32);"
    both = f"#if __CUDACC_VER_MAJOR__ < 9\n{shuffle}\n#else\n{shuffle}\n#endif"
    (found,) = rewritten(f"__device__ float f(float x) {{\n{both}\n}}").findings
    assert (found.code, found.severity, found.span.line) == ("PORT1002", Severity.WARNING, 5)
