"""Host code that measures time: a port leaves it out, and refuses what hangs on it."""

from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source_text import Source
from porter_triton.port import port

KERNEL = """
#include <cstdio>
__global__ void scale(float* y, const float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
}
"""
LAUNCH = "scale<<<n / 64, 64>>>(y, x, n);"


def ported(text):
    return port(parse(Source(Path("op.cu"), KERNEL + text)), ())


def refused(made):
    """Why the only launcher is not ported."""
    (message,) = [f.message for f in made.findings if f.code == "PORT1801"]
    return message


def body(inside, before=""):
    """The lines of a launcher's body."""
    made = ported(f"{before}\nvoid f(float* y, const float* x, int n) {{ {inside} }}")
    assert {f.code for f in made.findings} <= {"PORT1803"}, made.findings
    return made.files[0].text.split("def f(y, x, n):\n")[1].split("\n", maxsplit=1)[1].strip()


EVENTS = f"cudaEvent_t a, b; float ms = 0; {LAUNCH} if (cudaEventElapsedTime(&ms, a, b) != cudaSuccess) exit(1);"
ALONE = "scale[(n // 64,)](y, x, n, BLOCK_SIZE=64, num_warps=1)"


@pytest.mark.parametrize(
    ("inside", "before"),
    [
        pytest.param(
            f'clock_t a = clock(); {LAUNCH} printf("%f", 1e3 * (clock() - a) / CLOCKS_PER_SEC);', "", id="clock"
        ),
        pytest.param(
            f"auto a = std::chrono::high_resolution_clock::now(); {LAUNCH} auto b = std::chrono::steady_clock::now();"
            " std::chrono::duration<double, std::milli> ms = b - a; double s = ms.count() / 1e3; s *= 2;"
            " std::cout << std::chrono::duration_cast<std::chrono::microseconds>(b - a).count() << s;",
            "",
            id="chrono",
        ),
        pytest.param(
            f"double a = seconds(); {LAUNCH} double b = seconds() - a, best = 1e9; if (b < best) best = b;",
            "double seconds() { struct timeval t; gettimeofday(&t, NULL); return t.tv_sec + t.tv_usec * 1e-6; }",
            id="function",
        ),
        pytest.param(
            f'start(&watch); {LAUNCH} stop(&watch); double total = 0; total += elapsed(watch); printf("%f", total);',
            "struct stopwatch { struct timespec begin, end; } watch;"
            " void start(stopwatch* w) { clock_gettime(CLOCK_MONOTONIC, &w->begin); }"
            " void stop(stopwatch* w) { clock_gettime(CLOCK_MONOTONIC, &w->end); }"
            " double elapsed(stopwatch w) { return w.end.tv_sec - w.begin.tv_sec; }",
            id="struct",
        ),
        pytest.param(f'{EVENTS} ms /= 10; printf("%f", ms);', "", id="events"),
        pytest.param(
            f'Timer t; t.start(); {LAUNCH} t.stop(); printf("%f", t.elapsed());',
            """struct Timer {
              cudaEvent_t a, b;
              Timer() { if (cudaError_t e = cudaEventCreate(&a)) std::cerr << cudaGetErrorName(e); }
              void start() { cudaEventRecord(a, 0); }
              void stop() { cudaEventRecord(b, 0); cudaEventSynchronize(b); }
              float elapsed() { float ms; cudaEventElapsedTime(&ms, a, b); return ms; }
            };""",
            id="class",
        ),
    ],
)
def test_what_only_measures_is_left_out(inside, before):
    assert body(inside, before) == ALONE


@pytest.mark.parametrize(
    "inside",
    [
        f"auto a = Clock::now(); while (Clock::now() - a < limit) {{ {LAUNCH} }}",
        f"int limit = clock() % 7; {LAUNCH} if (limit > 3) {LAUNCH}",
        "n = n + time(NULL); " + LAUNCH,
    ],
)
def test_what_hangs_on_a_clock_is_refused(inside):
    before = "using Clock = std::chrono::steady_clock; constexpr int limit = 3;"
    made = ported(f"{before} void f(float* y, const float* x, int n) {{ {inside} }}")
    assert refused(made).startswith("what this does depends on the time that a clock gives")


@pytest.mark.parametrize("inside", [f"double a = clock(); {LAUNCH} return clock() - a;", f"{EVENTS} return ms / 10;"])
def test_a_result_that_is_a_time_is_refused(inside):
    made = ported(f"double f(float* y, const float* x, int n) {{ {inside} }}")
    assert refused(made).startswith("what this does depends on the time that a clock gives")


def test_a_struct_that_holds_memory_is_no_stopwatch():
    made = ported(
        "struct Work { clock_t begun; float* y; void run(const float* x, int n) { scale<<<n / 64, 64>>>(y, x, n); } };"
        " void f(float* y, const float* x, int n) { Work w; w.run(x, n); }"
    )
    assert not made.findings
    assert "    scale[(n // 64,)](w_y, x, " in made.files[0].text  # it is what the source does


def test_a_function_of_that_name_that_launches_is_no_clock():
    text = body("tick(y, x, n);", f"void tick(float* y, const float* x, int n) {{ clock(); {LAUNCH} }}")
    assert text == "tick(y, x, n)"
