"""Lists the kernels of the corpus that still keep a shared array in global memory once they are lowered to Triton.

    python benchmarks/coverage/scratch.py CHECKOUTS

Every file is ported and nothing is proven; scratch.json beside this script gets the kernels launched by each module and
those that are passed a scratch buffer. The instances of a template are one kernel.
"""

from __future__ import annotations

import ast
import json
import re
import sys
import tempfile
from pathlib import Path

from run import HERE, Item, checkout, folder, read_corpus

from porter.errors import PorterError
from porter.python_tree import module_tree
from porter.source.headers import local_headers
from porter.source.load import load
from porter.source.parse import parse
from porter_triton.port import port


def main() -> None:
    rows = []
    for item in read_corpus(""):
        row = {"repository": item.repository, "path": item.path, "family": item.family}
        try:
            kernels = launched(ported(item, Path(sys.argv[1])))
        except PorterError as error:
            kernels = {}
            row["trouble"] = str(error)
        row |= {"kernels": len(kernels), "scratch": sorted(name for name, uses in kernels.items() if uses)}
        rows.append(row)
        print(item.path, row["kernels"], row["scratch"], flush=True)
    (HERE / "scratch.json").write_text(json.dumps(rows, indent=1) + "\n")


def ported(item: Item, checkouts: Path) -> str:
    """The module that the file becomes."""
    with tempfile.TemporaryDirectory() as scratch:
        source = load(checkout(item, checkouts, Path(scratch))).sources[0]
        headers = local_headers(source, (folder(item, checkouts) / name for name in item.include_dirs))
    return port(parse(source), tuple(header for _, header in headers)).files[0].text


def launched(module: str) -> dict[str, bool]:
    """The kernels that the module launches, by name, and whether any instance takes a scratch buffer."""
    tree = module_tree(module)
    calls = [n.func.value for n in ast.walk(tree) if isinstance(n, ast.Call) and isinstance(n.func, ast.Subscript)]
    names = {n.id for n in calls if isinstance(n, ast.Name)}
    found: dict[str, bool] = {}
    for function in tree.body:
        if isinstance(function, ast.FunctionDef) and function.name in names:
            plain = re.sub(r"__\d+$", "", function.name)
            uses = any(argument.arg.endswith("_scratch") for argument in function.args.args)
            found[plain] = found.get(plain, False) or uses
    return found


if __name__ == "__main__":
    main()
