"""What a port says about limits and PTX, and that findings stand where the user wrote."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from porter.source.edit import Edit, apply_edits
from porter.source.parse import parse
from porter.source_text import Source
from porter_maca import MacaBackend
from porter_maca.traced import Traced

BACKEND = MacaBackend()
C500, C600, *_ = BACKEND.targets()


def port(text, target=C500):
    return BACKEND.port(parse(Source(Path("op.cu"), text)), (), target)


def codes(text, target=C500):
    return [(f.code, f.span.line) for f in port(text, target).findings]


def test_the_targets_are_metax_devices_and_the_default_is_c500():
    assert [t.arch for t in BACKEND.targets()] == ["xcore1000", "xcore1500", "xcore1600", "c280"]
    assert (C500.warp_size, C500.shared_bytes, C500.max_threads) == (64, 65536, 1024)


def test_dynamic_shared_memory_over_the_limit_of_the_target():
    constants = "#define STAGES 3\nconstexpr int tile = 32 * 1024;\n"
    text = constants + "__global__ void k() {}\nvoid f() {\n    k<<<1, 64, STAGES * tile>>>();\n}\n"
    assert codes(text) == [("PORT1150", 5)]
    assert codes(text, C600) == []


def test_static_shared_arrays_are_summed_up():
    text = "__global__ void k() {\n    __shared__ float a[128][64];\n    __shared__ double b[4096 + 1];\n}\n"
    assert codes(text) == [("PORT1150", 1)]
    assert codes(text.replace(" + 1", "")) == []


def test_blocks_over_the_limit_of_the_target():
    text = "__global__ void k() {}\nvoid f(int n) {\n    k<<<n, dim3(64, 32)>>>();\n    k<<<n, n>>>();\n}\n"
    assert codes(text) == [("PORT1151", 3)]


def test_what_is_not_compiled_is_a_note():
    text = '__global__ void k(float* x) {\n#if __CUDA_ARCH__ >= 900\n    asm("tcgen05.wait;");\n#endif\n}\n'
    found = {f.code: f for f in port(text).findings}
    assert found["PORT1171"].severity == "note"
    assert "not compiled" in found["PORT1171"].message


def test_a_shuffle_within_longer_ptx_is_confined_to_the_warp():
    text = (
        "__device__ unsigned f(unsigned x) {\n    unsigned y;\n"
        '    asm volatile("{ .reg .u32 t; add.u32 t, %1, 1; shfl.sync.bfly.b32 %0, t, 1, 31, 0xffffffff; }"'
        ' : "=r"(y) : "r"(x));\n    return y;\n}\n'
    )
    ported = port(text).files[0].text
    assert "asm" not in ported
    assert "__shfl_xor_sync(warp32::lanes(" in ported
    assert "namespace warp32" in ported


def test_ptx_without_a_form_stays_and_says_why():
    text = '__device__ void f() {\n    asm volatile("cp.async.wait_all;");\n}\n'
    ported = port(text)
    assert 'asm volatile("cp.async.wait_all;")' in ported.files[0].text
    assert [(f.code, f.severity, f.span.line) for f in ported.findings] == [("PORT1171", "error", 2)]


def test_a_fence_for_the_compiler_is_no_ptx():
    assert codes('__device__ void f() { asm volatile("" ::: "memory"); }\n') == []


@pytest.mark.parametrize("pointer", ["x", "&x[3]", "x + 3", "reinterpret_cast<float*>(bytes)"])
def test_atomics_on_plain_types_are_left_to_the_hardware(pointer):
    text = f"__nv_bfloat16 unrelated;\n__device__ void f(float* x, void* bytes) {{ atomicAdd({pointer}, 1.0f); }}\n"
    assert "porter_atomic_add" not in port(text).files[0].text


@pytest.mark.parametrize("declaration", ["__nv_bfloat16* x", "T* x", "__restrict__ __nv_bfloat162* x"])
def test_atomics_that_may_meet_bfloat16_go_through_the_helper(declaration):
    text = f"using B = __nv_bfloat16;\ntemplate <class T> __device__ void f({declaration}) {{ atomicAdd(x, x[1]); }}\n"
    assert "{ porter_atomic_add(x, x[1]); }" in port(text).files[0].text


EDITS = st.lists(st.tuples(st.integers(0, 39), st.integers(0, 4), st.text("xy\n", max_size=3)), max_size=6)


def disjoint(rows):
    """The edits of `rows` that do not touch an earlier one."""
    chosen, position = [], 0
    for start, length, text in sorted(rows):
        if start >= position and start + length <= 40:
            chosen.append(Edit(start, start + length, text))
            position = start + length + 1
    return chosen


@given(EDITS, EDITS)
def test_copied_characters_know_where_they_came_from(first, second):
    original = "".join(chr(0x100 + i) for i in range(40))
    traced = Traced.of(Source(Path("a"), original)).edited(disjoint(first))
    room = [e for e in disjoint(second) if e.end <= len(traced.text)]
    again = traced.edited(room)
    assert again.text == apply_edits(traced.text, room)
    for offset, character in enumerate(again.text):
        if character not in "xy\n":
            assert original[again.origin(offset)] == character


def test_importing_the_backend_imports_nothing_heavy():
    heavy = ["torch", "numpy", "tree_sitter", "triton", "porter.simt", "porter_maca.port"]
    code = f"import sys, porter_maca; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


DRIVER_TEXT = """
static const char* text_of(CUresult error) { const char* text; cuGetErrorString(error, &text); return text; }
static const char* name_of(cudaError_t error) { return cudaGetErrorString(error); }
"""


def test_the_drivers_text_of_an_error_is_stored_where_macas_function_returns_it():
    ported = port(DRIVER_TEXT)
    text = ported.files[0].text
    assert "porter_error_text(error, &text);" in text
    assert "*text = mcGetErrorString(error);" in text
    assert "return mcGetErrorString(error);" in text  # the runtime's keeps its form
    assert [f.code for f in ported.findings] == ["PORT1142"]


def test_a_function_of_the_users_with_that_name_stays():
    own = "int cuGetErrorString(int error, const char** text) { return error; }\n"
    text = port(f"{own}int f() {{ return cuGetErrorString(1, 0); }}\n")
    assert "porter_error_text" not in text.files[0].text
