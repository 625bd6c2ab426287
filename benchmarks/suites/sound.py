"""All operators of the suites held to their references at 32 lanes. Writes benchmarks/results/suites_sound.json.

python benchmarks/suites/sound.py [CACHE]

The tests do so for a third of them.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

from porter.resources import resource
from porter.suite.operators import operators
from porter.suite.sound import seen

RESULTS = Path(__file__).parent.parent / "results" / "suites_sound.json"


def main(cache: Path) -> int:
    every = operators(resource("op_suites"))
    found = {}
    for operator in every:
        begin = time.monotonic()
        found[operator.key] = {f"{s.contract}/{s.workload}": s.trouble or "right" for s in seen(operator, cache)}
        print(f"{operator.key}: {time.monotonic() - begin:.1f} s", flush=True)
    right = sum(set(outcomes.values()) == {"right"} for outcomes in found.values())
    document = {"operators": len(every), "right": right, "lanes": 32, "outcomes": found}
    RESULTS.write_text(json.dumps(document, indent=1) + "\n")
    return 0 if right == len(every) else 1


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(main(Path(sys.argv[1])))
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(main(Path(folder)))
