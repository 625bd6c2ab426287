"""Variables of host code that outlive a call are the module's: those outside of functions, and `static` ones."""

import pytest

from porter_triton.refusal import Refusal
from tests.pure.triton.host_sources import translated

LAUNCH = "add<<<(n + 63) / 64, 64>>>(y, x, n);"


def test_a_counter_goes_on_where_the_last_call_left_it():
    found = translated(f"void f(float* y, float* x, int n) {{ static int calls = 2; if (calls++ < 3) {{ {LAUNCH} }} }}")
    assert found.startswith("f_calls = 2\n\n")
    assert "    global f_calls\n" in found
    assert "(f_calls := f_calls + 1)" in found


def test_what_two_functions_set_is_one_variable_of_the_module():
    found = translated("""static float scale_of;
        void g(float a) { scale_of = a; }
        void f(float* y, float* x, int n) { g(3.f); scale<<<1, 64>>>(y, x, scale_of, n); }""")
    assert found.startswith("scale_of = 0.0\n\n")
    assert "def g(a):\n    # op.cu:11\n    global scale_of\n    scale_of = a" in found
    assert "scale[(1,)](y, x, scale_of, n" in found


def test_memory_that_is_kept_is_made_once():
    found = translated("""static float* kept[2] = {0};
        static int room[2];
        void f(float* y, float* x, int n) {
          if (room[1] < n) { cudaMalloc(&kept[1], n * sizeof(float)); room[1] = n; }
          add<<<(n + 63) / 64, 64>>>(kept[1], x, n); }""")
    assert "kept = [None] * 2" in found
    assert "room = [0] * 2" in found
    assert "if room[1] < n:\n        kept[1] = torch.empty(n, dtype=torch.float32, device=y.device)" in found
    assert "global" not in found


def test_kept_memory_may_be_larger_than_this_call_asked_for():
    found = translated(f"""void f(float* y, float* x, int n) {{
        static float* kept; static int room = 0;
        if (room < n) {{ cudaMalloc(&kept, n * sizeof(float)); room = n; }}
        {LAUNCH} cudaMemcpy(y, kept, n * sizeof(float), cudaMemcpyDeviceToDevice); }}""")
    assert "global f_kept, f_room\n" in found
    assert "copy_(f_kept.view(-1)[:n])" in found


def test_a_local_variable_of_the_same_name_is_another_one():
    found = translated(f"""int rounds = 1;
        void f(float* y, float* x, int n) {{
          {{ int rounds = n + 1; rounds *= 2; n = rounds; }} rounds = n; {LAUNCH} }}""")
    assert "rounds_2 = n + 1\n    rounds_2 *= 2\n    n = rounds_2\n    rounds = n" in found


def test_a_flag_for_what_vanishes_goes_with_it():
    found = translated(f"""void f(float* y, float* x, int n) {{
        static bool ready = false;
        if (!ready) {{ cudaFuncSetAttribute(add, cudaFuncAttributeMaxDynamicSharedMemorySize, 64); ready = true; }}
        {LAUNCH} }}""")
    assert "ready" not in found


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("static int first = n; add<<<first, 64>>>(y, x, n);", "keeps what the first call was given"),
        ("static int last = n; last++; add<<<last, 64>>>(y, x, n);", "keeps what a call leaves in it"),
        ("static int* of = &n; of++; add<<<1, 64>>>(y, x, n);", "keeps what a call leaves in it"),
    ],
)
def test_a_value_that_only_the_first_call_knows_is_refused(text, reason):
    with pytest.raises(Refusal, match=reason):
        translated(f"void f(float* y, float* x, int n) {{ {text} }}")


@pytest.mark.parametrize("declared", ["extern int blocks;", "int blocks[2][2];", "int blocks = other();"])
def test_what_is_not_known_before_any_call_is_refused(declared):
    with pytest.raises(Refusal, match="'blocks' is not known"):
        translated(f"{declared} void f(float* y, float* x, int n) {{ add<<<blocks, 64>>>(y, x, n); }}")
