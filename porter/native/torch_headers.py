"""Picks as much of PyTorch's headers as a launcher uses: nvcc reads all of them in 80 s of processor time, these in 7.

`torch/extension.h` brings the whole library of modules and optimisers, every operator there is, and Python's bindings,
which are half of what is left without those. A source is compiled with a header of that name that has tensors, and only
the operators it names, all PyTorch's own; a source that needs more is compiled again with all headers.
"""

from __future__ import annotations

import re
import sysconfig
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

_OWN = Path(__file__).with_name("launcher")
_WHOLE = ("torch/extension.h", "torch/torch.h", "torch/all.h", "torch/types.h", "ATen/ATen.h")
_NAMED = re.compile(r"\b(?:torch|at)\s*::\s*(\w+)")


def narrow_headers(texts: Iterable[str], include_dirs: Iterable[Path]) -> Mapping[str, str]:
    """Returns headers to be found before PyTorch's own in `include_dirs`, by their paths, for a source of `texts`."""
    named = sorted({name for text in texts for name in _NAMED.findall(text)})
    here = tuple(include_dirs)
    operators = [path for name in named if _is_in(path := f"ATen/ops/{name}.h", here)]
    included = "".join(f"#include <{path}>\n" for path in ("porter/launcher.h", *operators))
    own = {file.relative_to(_OWN).as_posix(): file.read_text("utf-8") for file in _OWN.rglob("*.h")}
    return {**own, **dict.fromkeys(_WHOLE, f"#pragma once\n#define AT_PER_OPERATOR_HEADERS\n{included}")}


def _is_in(path: str, folders: Iterable[Path]) -> bool:
    return any((folder / path).is_file() for folder in folders)


def _roots() -> list[Path]:
    """Returns where PyTorch lies, without importing it: the source may have a module of that name."""
    spec = find_spec("torch")
    return [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []


def torch_folders() -> tuple[Path, ...]:
    """Returns where its headers are."""
    return tuple(folder for root in _roots() for folder in (root / "include", root / "include/torch/csrc/api/include"))


def torch_flags(folders: Sequence[Path]) -> list[str]:
    """Returns the flags for its headers in `folders`, and for its libraries."""
    libraries = [flag for root in _roots() for flag in (f"-L{root / 'lib'}", "-Xlinker", f"-rpath,{root / 'lib'}")]
    linked = ("-lc10", "-lc10_cuda", "-ltorch_cpu", "-ltorch_cuda", "-ltorch", "-ltorch_python")
    return [
        *(part for folder in (*folders, Path(sysconfig.get_path("include"))) for part in ("-isystem", str(folder))),
        *("-DTORCH_EXTENSION_NAME=porter_unused", "-DTORCH_API_INCLUDE_EXTENSION_H", *libraries, *linked),
    ]
