"""Lay out what measuring the Triton ports of public CUDA on a GPU takes, without a GPU.

    python benchmarks/triton_speed/prepare.py CHECKOUTS KEPT OUTPUT [--per-file N] [--records FILE]

KEPT holds the contracts of `benchmarks/coverage/run.py --target triton --keep KEPT`, FILE (corpus_triton.json)
the outcomes.
The first N verified entries of every file get a folder in OUTPUT: the CUDA source with its headers, its port as it is
made now, and case.json with the arguments at the largest of the sizes below that the contract allows. measure.py needs
nothing else. Host functions that an entry has no use for are left out, and with them what they need.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from porter.contract.model.contract import Contract, Entry, EntryKind, ScalarArg, TensorArg, Workload
from porter.contract.model.expressions import evaluate, number
from porter.contract.model.toml import loads
from porter.contract.workload.bench import bench_workload, footprint
from porter.contract.workload.materialise import shape_of
from porter.errors import PorterError
from porter.simt.kernels_only import kernels_only
from porter.source.directives import directives, includes
from porter.source.edit import Edit, apply_edits
from porter.source.headers import is_installed, local_headers
from porter.source.load import load
from porter.source.parse import parse
from porter.source.program import Program
from porter.source_text import Source
from porter_triton.port import lowered

COVERAGE = Path(__file__).parents[1] / "coverage"
sys.path.insert(0, str(COVERAGE))

from run import Item, checkout, folder, kept_name, read_corpus  # noqa: E402 - a script beside this one, no package

MOST_BYTES = 1 << 28


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("kept", type=Path)
    parser.add_argument("output", type=Path)
    parser.add_argument("--per-file", type=int, default=2)
    parser.add_argument("--records", type=Path, default=COVERAGE / "corpus_triton.json")
    arguments = parser.parse_args()
    shutil.rmtree(arguments.output, ignore_errors=True)
    arguments.output.mkdir(parents=True)
    (arguments.output / "commit.txt").write_text(commit())
    taken: Counter[str] = Counter()
    instances: Counter[tuple[str, str]] = Counter()
    items = {kept_name(item.repository, item.path): item for item in read_corpus("")}
    for record in json.loads(arguments.records.read_text()):
        path = kept_name(record["repository"], record["path"])
        nth = instances[path, record["entry"]]
        instances[path, record["entry"]] += 1
        if record["outcome"] == "verified" and taken[path] < arguments.per_file and path in items:
            taken[path] += 1
            place = arguments.output / f"{path}+{record['entry'].split('::')[-1]}{f'+{nth + 1}' if nth else ''}"
            contract = contract_of(record["entry"], nth, arguments.kept / path)
            done = laid_out(record, contract, items[path], arguments.checkouts, place) if contract else "no contract"
            print(place.name, done, flush=True)


def commit() -> str:
    """The commit of the code that makes the ports."""
    described = ["git", "describe", "--always", "--abbrev=12", "--dirty"]
    return subprocess.run(described, cwd=COVERAGE, capture_output=True, text=True, check=True).stdout.strip()


def contract_of(entry: str, nth: int, kept: Path) -> Contract | None:
    """The contract of the `nth` entry of that name."""
    contracts = [c for file in kept.glob("*.contract.toml") for c in loads(file.read_text(), kept)]
    named = [c for c in contracts if c.entry.name == entry]
    return named[nth] if nth < len(named) else None


def laid_out(record: dict, contract: Contract, item: Item, checkouts: Path, place: Path) -> str:
    """Write the folder of one entry; what came of it in words."""
    with tempfile.TemporaryDirectory() as scratch:
        source = load(checkout(item, checkouts, Path(scratch))).sources[0]
        headers = local_headers(source, (folder(item, checkouts) / name for name in item.include_dirs))
    try:
        workload = bench_workload(contract, {}, MOST_BYTES)
        if workload is None:
            return "left out: no size fits"
        program = parse(source)
        text, function = ported(program, tuple(header for _, header in headers), contract.entry)
        described = {**case(record, contract, workload, program), "function": function}
    except (PorterError, StopIteration) as error:
        return f"left out: {error!r}"
    for name, content in original(program, headers, contract).items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    (place / "port.py").write_text(text)
    (place / "case.json").write_text(json.dumps(described, indent=1))
    return f"ready at {dict(workload.sizes)}"


def original(program: Program, headers: tuple[tuple[str, Source], ...], contract: Contract) -> dict[str, str]:
    """The files of the CUDA source, of headers that are not at hand an empty one."""
    names, found = [name for name, _ in headers], [header for _, header in headers]
    source = program.source
    if contract.entry.kind is EntryKind.KERNEL:
        source, *found = kernels_only(source, found)
    else:
        source = Source(source.path, without_main(program), source.first_line)
    texts = {"source.cu": source.text, "headers/README": "Headers of the source.\n"}
    for file in (source, *found):
        named = (i.path for i in includes(file, directives(file.text)) if not (i.angled or is_installed(i.path)))
        texts |= {header_place(name): "" for name in named}
    return texts | {header_place(name): header.text for name, header in zip(names, found, strict=True)}


def header_place(name: str) -> str:
    return f"headers/{name.lstrip('./')}"


def without_main(program: Program) -> str:
    mains = [f for f in program.host_functions if f.name == "main"]
    return apply_edits(program.source.text, [Edit(f.span.start, f.span.end, "") for f in mains])


def ported(program: Program, headers: tuple[Source, ...], entry: Entry) -> tuple[str, str]:
    """The module that has the entry, with a launcher for it where it is a kernel, and the function that answers."""
    done = lowered(program, headers, (entry,))
    function = done.function(entry)
    if not function:
        raise PorterError(f"the port has no function for it: {[f.message for f in done.port.findings]}")
    return done.port.files[0].text, function


def case(record: dict, contract: Contract, workload: Workload, program: Program) -> dict:
    functions = program.kernels if contract.entry.kind is EntryKind.KERNEL else program.host_functions
    function = next(f for f in functions if contract.entry.name in (f.qualified, f.name))
    launch = contract.entry.launch
    body = program.source.text[function.span.start : function.span.end]
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
        "arguments": [argument(a, workload, body) for a in contract.arguments],
    }


def argument(given: TensorArg | ScalarArg, workload: Workload, body: str) -> dict:
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
        # Host code that reads an array of sizes, too, has it where both sides can.
        "pinned": bool(given.elements) and re.search(rf"\b{given.name}\s*\[", body) is not None,
    }


if __name__ == "__main__":
    main()
