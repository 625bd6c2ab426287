"""Lay out what measuring the Triton ports of public CUDA on a GPU takes, without a GPU.

    python benchmarks/triton_speed/prepare.py CHECKOUTS KEPT OUTPUT [--per-file N] [--records FILE]

KEPT holds the contracts of `benchmarks/coverage/run.py --target triton --keep KEPT`, FILE (triton.json) its outcomes.
The first N verified entries of every file get a folder in OUTPUT: the CUDA source, its port as it is made now, and
case.json with the arguments at the largest of the sizes below that the contract allows. measure.py needs nothing else.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from math import prod
from pathlib import Path

from porter.contract.contract import Contract, EntryKind, ScalarArg, TensorArg, Workload
from porter.contract.expressions import evaluate, holds, number
from porter.contract.materialise import shape_of
from porter.contract.toml import loads
from porter.errors import PorterError
from porter.source.headers import local_headers
from porter.source.load import load
from porter.source.parse import parse
from porter.source.program import Program
from porter.source.text import Source
from porter_triton.port import port

COVERAGE = Path(__file__).parents[1] / "coverage"
sys.path.insert(0, str(COVERAGE))

from run import Item, checkout, kept_name  # noqa: E402 - a script beside this one, no package

MOST_BYTES = 1 << 28
# The product of all symbols' choices is tried from large to small.
CHOICES = (1 << 24, 1 << 20, 16384, 8192, 4096, 1024, 512, 256, 128, 64, 32, 16, 8, 4, 3, 2, 1)
BY_COUNT = {1: CHOICES, 2: CHOICES[2:], 3: (1024, 512, 256, 64, 32, 8), 4: (256, 64, 32, 16, 8)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("kept", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--per-file", type=int, default=2)
    parser.add_argument("--records", type=Path, default=COVERAGE / "triton.json")
    arguments = parser.parse_args()
    shutil.rmtree(arguments.output, ignore_errors=True)
    arguments.output.mkdir(parents=True)
    (arguments.output / "commit.txt").write_text(commit())
    taken: Counter[str] = Counter()
    for record in json.loads(arguments.records.read_text()):
        path = kept_name(record["repository"], record["path"])
        if record["outcome"] == "verified" and taken[path] < arguments.per_file:
            taken[path] += 1
            folder = arguments.output / f"{path}+{record['entry'].split('::')[-1]}"
            print(folder.name, laid_out(record, arguments.checkouts, arguments.kept / path, folder), flush=True)


def commit() -> str:
    """The commit of the code that makes the ports."""
    described = ["git", "describe", "--always", "--abbrev=12", "--dirty"]
    return subprocess.run(described, cwd=COVERAGE, capture_output=True, text=True, check=True).stdout.strip()


def laid_out(record: dict, checkouts: Path, kept: Path, folder: Path) -> str:
    """Write the folder of one entry; what came of it in words."""
    with tempfile.TemporaryDirectory() as scratch:
        item = Item(record["repository"], "", record["family"], record["path"])
        source = load(checkout(item, checkouts, Path(scratch))).sources[0]
        headers = local_headers(source)
    try:
        contracts = loads(next(kept.glob("*.contract.toml")).read_text(), kept)
        contract = next(c for c in contracts if c.name == record["entry"])
        workload = bench_workload(contract, {})
        program = parse(source)
        described = case(record, contract, workload, program)
        text = ported(program, tuple(header for _, header in headers), contract)
    except (PorterError, StopIteration) as error:
        return f"left out: {error!r}"
    (folder / "headers").mkdir(parents=True)
    for name, header in headers:
        place = folder / "headers" / name.lstrip("./")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(header.text)
    (folder / "source.cu").write_text(source.text)
    (folder / "port.py").write_text(text)
    (folder / "case.json").write_text(json.dumps(described, indent=1))
    return f"ready at {dict(workload.sizes)}"


def ported(program: Program, headers: tuple[Source, ...], contract: Contract) -> str:
    """The module that has the entry, with a launcher for it where it is a kernel."""
    besides = (contract.entry,) if contract.entry.kind is EntryKind.KERNEL else ()
    return port(program, headers, besides).files[0].text


def bench_workload(contract: Contract, sizes: dict[str, int]) -> Workload:
    """The contract's first workload at the largest sizes that its conditions and memory allow."""
    for chosen in candidates(contract, sizes):
        workload = replace(contract.workloads[0], sizes=chosen, scale=1.0)
        if all(holds(c, chosen) for c in contract.conditions) and footprint(contract, workload) <= MOST_BYTES:
            return workload
    raise PorterError("no size fits")


def candidates(contract: Contract, sizes: dict[str, int]) -> Iterator[dict[str, int]]:
    free = [s for s in contract.symbols if s not in sizes]
    choices = BY_COUNT.get(len(free), (32, 16, 8, 4))
    for values in sorted(product(choices, repeat=len(free)), key=lambda v: (-prod(v), v)):
        yield {**dict(zip(free, values, strict=True)), **sizes}


def footprint(contract: Contract, workload: Workload) -> int:
    """Bytes of all tensors."""
    return sum(prod(shape_of(t, workload)) * t.dtype.bytes for t in contract.tensors)


def case(record: dict, contract: Contract, workload: Workload, program: Program) -> dict:
    functions = program.kernels if contract.entry.kind is EntryKind.KERNEL else program.host_functions
    function = next(f for f in functions if contract.entry.name in (f.qualified, f.name))
    launch = contract.entry.launch
    return {
        "repository": record["repository"],
        "path": record["path"],
        "family": record["family"],
        "entry": contract.entry.name,
        "kind": contract.entry.kind.value,
        "template": list(contract.entry.template),
        "sizes": dict(workload.sizes),
        "bytes": footprint(contract, workload),
        "binding": next((b.python_name for b in program.bindings if b.function == contract.entry.name), ""),
        "has_module": "PYBIND11_MODULE" in program.source.text,
        "parameters": [p.type.text for p in function.params],
        "grid": [evaluate(e, workload.sizes) for e in launch.grid] if launch else None,
        "block": [evaluate(e, workload.sizes) for e in launch.block] if launch else None,
        "shared_bytes": evaluate(launch.shared_bytes, workload.sizes) if launch else 0,
        "arguments": [argument(a, workload) for a in contract.arguments],
    }


def argument(given: TensorArg | ScalarArg, workload: Workload) -> dict:
    if isinstance(given, ScalarArg):
        return {"value": number(given.value, workload.sizes)}
    return {
        "name": given.name,
        "role": given.role.value,
        "dtype": given.dtype.value,
        "shape": list(shape_of(given, workload)),
        "values": given.values.value,
        "bound": evaluate(given.bound, workload.sizes) if given.bound else 0,
        "elements": [evaluate(e, workload.sizes) for e in given.elements],
    }


if __name__ == "__main__":
    main()
