"""Ports broken on purpose, which `porter regress` has to catch: `python benchmarks/suites/breakages.py [TARGET]`.

Three operators of one CUDA source are brought up; then the port of one gives another answer, that of the second
launches its kernel twice, that of the third no longer builds. Prints what `porter regress` says of each; exit code 0
where all are told by the right words. That the second is slower only a device shows.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from porter.native.place import missing_device

KERNEL = """\
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
__global__ void scale(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}
torch::Tensor forward(torch::Tensor x) {
    auto y = torch::empty_like(x);
    int n = x.numel();
    auto stream = at::cuda::getCurrentCUDAStream();
    scale<<<(n + 255) / 256, 256, 0, stream>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""
LAUNCH = re.compile(r"^ *scale(?:<<<|\[).*$", re.M)
FACTOR = re.compile(r"\b2\.0f?\b")
EXPECTED = {"wrong": "wrong", "twice": "slower", "broken": "not_built"}


def main(target: str) -> int:
    """Bring up, break, replay."""
    expected = {**EXPECTED, **({"twice": "same"} if missing_device() else {})}
    with tempfile.TemporaryDirectory(prefix="breakages-") as name:
        root = Path(name)
        for operator in expected:
            (root / f"{operator}.cu").write_text(KERNEL)
            porter("suite", "new", str(root / f"{operator}.cu"), "--to", str(root / "mine"), "--category", "scaling")
        porter("suite", "run", str(root / "mine"), "--target", target, "-o", str(root / "run"))
        run = root / "run" / target
        for one in json.loads((run / "suite.json").read_text())["results"]:
            break_port(run / one["port"], one["name"])
        return told(json.loads(porter("regress", str(run), "--json")), expected)


def porter(*arguments: str) -> str:
    """Returns what `porter ARGUMENTS` prints."""
    done = subprocess.run([sys.executable, "-m", "porter", *arguments], capture_output=True, text=True, check=False)
    print(f"{' '.join(arguments[:2])}: exit code {done.returncode} {done.stderr[-500:]}", flush=True)
    return done.stdout


def break_port(path: Path, how: str) -> None:
    """Edit the port as its name says."""
    text = path.read_text()
    broken = {
        "wrong": FACTOR.sub("2.01", text),
        "twice": LAUNCH.sub(lambda launch: f"{launch[0]}\n{launch[0]}", text),
        "broken": LAUNCH.sub(lambda launch: launch[0].replace("(", "(no name, ", 1), text),
    }[how]
    if broken == text:
        raise SystemExit(f"{path}: nothing to break")
    path.write_text(broken)


def told(document: dict[str, object], expected: dict[str, str]) -> int:
    """Print what was said of each; 0 where it is what is expected."""
    found = {one["now"]["name"]: one for one in document["operators"]}  # type: ignore[attr-defined]
    for name, words in expected.items():
        print(f"{name:8} {found[name]['change']:10} (expected: {words})  {found[name]['text']}")
    return int(any(found[name]["change"] != words for name, words in expected.items()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "maca"))
