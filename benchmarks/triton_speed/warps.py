"""Time each Triton port with fewer and more warps than its launches name; prints a table, writes JSON.

    python benchmarks/triton_speed/warps.py CASES RESULTS.json

CASES is what prepare.py laid out. Whatever number of warps the launcher passes is multiplied by each of the factors
below; times are those of measure.py, all factors and the original interleaved.
"""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path

import torch
from measure import described, interleaved, on_device, original, port, rows_of, surroundings, tensor
from triton.runtime import JITFunction

FACTORS = (0.25, 0.5, 1.0, 2.0)
MOST_WARPS = 32


class Scaled:
    """A port whose kernels are launched with `factor` times the warps."""

    def __init__(self, function: object, factor: float) -> None:
        self._function, self._factor = function, factor

    def __call__(self) -> object:
        plain = JITFunction.run

        def run(kernel: JITFunction, *args: object, num_warps: int, **named: object) -> object:
            scaled = max(1, min(MOST_WARPS, int(num_warps * self._factor)))
            return plain(kernel, *args, num_warps=scaled, **named)

        JITFunction.run = run
        try:
            return self._function()
        finally:
            JITFunction.run = plain


def main() -> None:
    rows = rows_of(Path(sys.argv[1]), __file__)
    timed = [r for r in rows if "us" in r]
    means = {
        factor: statistics.geometric_mean(r["us"][str(factor)] / r["cuda_us"] for r in timed) for factor in FACTORS
    }
    best = statistics.geometric_mean(min(r["us"].values()) / r["cuda_us"] for r in timed)
    summary = {**surroundings(Path(sys.argv[1])), "of_cuda": {**means, "best_of_all": best}}
    Path(sys.argv[2]).write_text(json.dumps({**summary, "rows": rows}, indent=1) + "\n")
    print(summary)


def measured(folder: Path) -> dict:
    case = json.loads((folder / "case.json").read_text())
    row = described(folder)
    try:
        torch.manual_seed(0)
        mine = [tensor(a) for a in case["arguments"]]
        theirs = [a.clone() if isinstance(a, torch.Tensor) else a for a in mine]
        ours = port(case, folder, mine)
        runs = [original(case, folder, theirs), *(Scaled(ours, factor) for factor in FACTORS)]
        cuda_us, *times = (round(statistics.median(t), 2) for t in interleaved(runs))
    except Exception as error:  # noqa: BLE001 - one broken case must not cost the others their times
        return {**row, "trouble": f"{type(error).__name__}: {str(error)[:300]}"}
    return {**row, "cuda_us": cuda_us, "us": dict(zip(map(str, FACTORS), times, strict=True))}


if __name__ == "__main__":
    if sys.argv[1] == "--case":
        with on_device(Path(sys.argv[2]), alone=True):
            print(f"\n{json.dumps(measured(Path(sys.argv[2])))}")
    else:
        main()
