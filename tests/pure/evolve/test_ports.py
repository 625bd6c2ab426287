"""The space of a port: sizes of its source and knobs of what they are ported to, together."""

from pathlib import Path

import pytest

from porter.evolve.candidate import File, Origin
from porter.evolve.proposing.ports import space_of_files, space_of_port
from porter.evolve.space import AS_IS
from porter.registry import find_backend
from porter.source.parse import parse
from porter.source_text import Source
from porter.translation_unit import original_unit

TEXT = """\
#include <cuda_runtime.h>
constexpr int kThreads = 256;
__global__ void scale(float* x, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x[i] *= 2;
}
void run(float* x, int n) { scale<<<(n + kThreads - 1) / kThreads, kThreads>>>(x, n); }
"""


def space(target, text=TEXT):
    backend = find_backend(target)
    side = original_unit(parse(Source(Path("k.cu"), text)), (), ())
    return backend, side, space_of_port(backend, side, backend.targets()[0])


@pytest.mark.parametrize("target", ["triton", "maca"])
def test_the_seed_is_the_port_itself(target):
    backend, side, found = space(target)
    port = backend.port(side.program, (), backend.targets()[0])
    seed = found.candidate(found.seed(), Origin("seed"))
    assert seed.files == tuple(File(file.name, file.text) for file in port.files)
    assert found.knobs[0].name == "kThreads"
    assert len(found.knobs) > 2


def test_both_kinds_of_knobs_are_turned_in_one_candidate():
    _, _, found = space("triton")
    point = {**found.seed(), "kThreads": 1024, "scale.num_warps": 16, "scale.x.loads": "evict_first"}
    (file,) = found.candidate(point, Origin("test")).files
    assert "BLOCK_SIZE=1024, num_warps=16" in file.text
    assert 'eviction_policy="evict_first"' in file.text


def test_warps_that_the_block_has_no_work_for_are_refused():
    _, _, found = space("triton")
    assert found.candidate({**found.seed(), "scale.num_warps": 16}, Origin("test")) is None


def test_a_port_in_c_has_its_sizes_and_pragmas():
    _, _, found = space("maca")
    (file,) = found.candidate({**found.seed(), "kThreads": 128, "scale.unroll": 4}, Origin("test")).files
    assert "kThreads = 128;" in file.text
    assert "#pragma unroll 4" in file.text


def test_a_size_with_which_less_is_ported_is_refused():
    text = TEXT.replace("constexpr int kThreads = 256;", "#define kThreads 256").replace(
        "x[i] *= 2;", 'x[i] *= 2;\n#if kThreads > 512\n    asm volatile("no such instruction;");\n#endif\n'
    )
    _, _, found = space("triton", text)
    assert found.candidate({**found.seed(), "kThreads": 512}, Origin("test"))
    assert found.candidate({**found.seed(), "kThreads": 1024}, Origin("test")) is None


def test_what_anybody_wrote_has_the_knobs_of_its_text():
    backend, _, found = space("triton")
    seed = found.candidate(found.seed(), Origin("seed"))
    own = space_of_files(backend, seed.files, backend.targets()[0])
    assert {knob.name for knob in own.knobs} == {knob.name for knob in found.knobs} - {"kThreads"}
    (file,) = own.candidate({**own.seed(), "scale.num_warps": 2}, Origin("test")).files
    assert "num_warps=2" in file.text
    assert set(own.seed().values()) == {AS_IS}
