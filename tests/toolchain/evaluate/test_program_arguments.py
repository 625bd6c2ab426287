"""Programs that want numbers: they are run with some, and what these were is said."""

from __future__ import annotations

import pytest

from porter.evaluate.migrate import migrate
from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.model.outcome import Verified
from porter.simt.compiler import missing_compiler

SOURCE = """\
#include <cstdio>
#include <cstdlib>
__global__ void scale(float* y, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = i * a;
}
int main(int argc, char* argv[]) {
    if (argc != 3) return printf("usage: scale <n> <factor>"), 1;
    const int n = atoi(argv[1]);
    if (n != 320 || atof(argv[2]) != 0.5) return 2;
    float* y;
    cudaMalloc(&y, n * sizeof(float));
    scale<<<(n + 255) / 256, 256>>>(y, atof(argv[2]), n);
    float last = 0;
    cudaMemcpy(&last, y + n - 1, sizeof(float), cudaMemcpyDeviceToHost);
    printf("%d %f", n, last);
    return 0;
}
"""


def test_a_program_is_run_with_the_numbers_it_wants(tmp_path, build_cache):
    if missing_compiler():
        pytest.skip(missing_compiler())
    (tmp_path / "op.cu").write_text(SOURCE)
    (migration,) = migrate(tmp_path / "op.cu", MigrateOptions(target="maca", cache=build_cache), lambda _: None)
    (entry,) = migration.entries
    assert isinstance(entry.outcome, Verified)
    assert entry.launched == ("scale",)
    assert "the program was run with the arguments 320 0.5 alone, which porter chose" in entry.outcome.caveat
