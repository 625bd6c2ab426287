"""`porter migrate --watch`: a source is ported again when one of its headers changes, and an error does not end it."""

import os
import signal
import subprocess
import sys

import pytest

from porter.simt.compiler import missing_compiler

HEADER = "#define FACTOR 2.0f\n"
SOURCE = """#include "factor.h"
__global__ void scale(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = FACTOR * x[i];
}
void launch(const float* x, float* y, int n) { scale<<<(n + 127) / 128, 128>>>(x, y, n); }
"""


@pytest.mark.usefixtures("interruptible")
def test_a_source_is_ported_again_when_its_header_changes(tmp_path, build_cache):
    if missing_compiler():
        pytest.skip(missing_compiler())
    header, source = tmp_path / "factor.h", tmp_path / "scale.cu"
    header.write_text(HEADER)
    source.write_text(SOURCE)
    process = subprocess.Popen(
        [sys.executable, "-m", "porter", "migrate", "scale.cu", "--target", "maca", "--watch", "--quiet"],
        cwd=tmp_path,
        env={**os.environ, "PORTER_CACHE_DIR": str(build_cache)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    said = [_until("run 1 is done; watching 2 files", process)]
    header.write_text(HEADER.replace("2.0f", "3.0f"))
    said.append(_until("run 2 is done", process))
    source.write_text(SOURCE[:-4])
    said.append(_until("run 3 is done", process))
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 2
    assert [verdict for verdict, *_ in said[:2]] == [said[0][0]] * 2
    assert said[0][0].startswith("verified: scale.cu for maca")
    assert "is never closed" in said[2][0]
    assert "3.0f" in (tmp_path / "porter-out/factor.h").read_text()


def _until(words, process):
    """The lines that `process` prints before one that begins with `words`."""
    lines = []
    for line in process.stdout:
        if line.startswith(words):
            return [one for one in lines if one.strip()]
        lines.append(line)
    raise AssertionError(lines)
