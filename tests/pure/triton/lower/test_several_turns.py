"""Which loops do several turns at a time, and what the output says of it."""

from pathlib import Path

import pytest

from porter.source.parse import parse
from porter.source.text import Source
from porter.syntax.read import read_unit
from porter_triton.lower import Dimension, LaunchInfo, lower_kernel
from porter_triton.port import port
from tests.pure.triton.turns_sources import AHEAD, ALONE, TOGETHER, source


def lowered(body: str, threads: int = 128) -> str:
    unit = read_unit(parse(Source(Path("op.cu"), body)))
    return lower_kernel(unit, unit.kernels[0], LaunchInfo((Dimension(threads, ""), Dimension(1), Dimension(1)))).text


@pytest.mark.parametrize("body", [body for _, body in TOGETHER], ids=[name for name, _ in TOGETHER])
def test_turns_that_are_independent_are_done_together(body):
    assert "[:, None]" in lowered(source(body))


@pytest.mark.parametrize("body", [body for _, body in AHEAD], ids=[name for name, _ in AHEAD])
def test_loads_that_do_not_wait_for_the_turn_before_come_first(body):
    text = lowered(source(body))
    body = text[text.index("_tile in range(") :]
    assert body.count("tl.load(") == 4
    assert max(body.rindex("tl.load("), 0) < min(body.find(f"tl.{name}_rn(") % len(body) for name in ("div", "sqrt"))


@pytest.mark.parametrize("body", [body for _, body in ALONE], ids=[name for name, _ in ALONE])
def test_turns_that_are_not_or_may_not_be_stay_alone(body):
    assert "_tile in range(" not in lowered(source(body))


@pytest.mark.parametrize(
    ("type_", "threads", "turns"),
    [("float", 256, 4), ("double", 256, 2), ("__half", 256, 8), ("__half", 512, 4), ("float", 1024, 2)],
)
def test_a_lane_has_16_bytes_on_their_way_and_tiles_stay_small(type_, threads, turns):
    body = f"float s = 0; for (int i = threadIdx.x; i < n; i += {threads}) s += (float)x[i]; out[threadIdx.x] = s;"
    text = lowered(f"__global__ void k(const {type_}* x, float* out, int n) {{ {body} }}", threads)
    assert f", {turns} turns at a time\n" in text
    assert f"range(0, n, {turns * threads}):" in text


def test_what_another_loop_touches_waits_at_a_barrier():
    body = dict(TOGETHER)["what was written before"]
    assert lowered(source(body)).count("tl.debug_barrier()") >= 2
    assert "tl.debug_barrier()" not in lowered(source(dict(TOGETHER)["stores"]))


@pytest.mark.parametrize(("to", "waits"), [("d", True), ("e", False)])
def test_a_buffer_that_a_launch_passes_twice_is_one_buffer(to, waits):
    body = "float s = 0; for (int c = 0; c < n; ++c) s += x[threadIdx.x * n + c]; "
    body += "for (int c = 0; c < n; ++c) out[threadIdx.x * n + c] = x[threadIdx.x * n + c] / s;"
    launcher = f"void f(float* d, float* e, int n) {{ k<<<1, 128>>>(d, {to}, n); }}"
    text = port(parse(Source(Path("op.cu"), source(body) + launcher)), ()).files[0].text
    assert "[:, None]" in text
    assert ("tl.debug_barrier()" in text) == waits


def test_a_launch_may_ask_for_one_turn_after_another():
    unit = read_unit(parse(Source(Path("op.cu"), source(dict(TOGETHER)["a sum"]))))
    info = LaunchInfo((Dimension(128, ""), Dimension(1), Dimension(1)), together=False)
    assert "_tile in range(" not in lower_kernel(unit, unit.kernels[0], info).text


def test_no_threads_sum_is_put_together_where_only_that_of_all_is_asked_for():
    assert "tl.sum(s_turns)" in lowered(source(dict(TOGETHER)["a sum of all threads"]))
    for also in ("a sum of all threads that is asked for twice", "a sum of all threads that begins with 1"):
        assert "tl.sum(s_turns, axis=0)" in lowered(source(dict(TOGETHER)[also]))


def test_parts_that_lanes_exchange_are_put_where_threads_are():
    kernel = "float s = 0; for (int i = threadIdx.x; i < n; i += 128) s += x[i]; {} out[threadIdx.x] = s;"
    assert "s = by_thread(" in lowered(source(dict(TOGETHER)["a sum that lanes exchange one by one"]))
    assert "by_thread" not in lowered(source(kernel.format("s *= 2;")))
