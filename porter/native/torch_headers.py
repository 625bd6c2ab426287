"""As much of PyTorch's headers as a source uses: nvcc reads all of them in 80 s of processor time, these in 25.

`torch/extension.h` brings the whole library of modules and optimisers, and every operator there is. A source is
compiled with a header of that name which has tensors, and of the operators those it names; what that does not suffice
for is compiled again with PyTorch's own.
"""

from __future__ import annotations

import re
import sysconfig
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

_WHOLE = ("torch/extension.h", "torch/torch.h", "torch/all.h", "torch/types.h", "ATen/ATen.h")
_NAMED = re.compile(r"\b(?:torch|at)\s*::\s*(\w+)")
_ALWAYS = ("ATen/core/Tensor.h", "ATen/Dispatch.h", "ATen/TensorUtils.h", "torch/csrc/utils/pybind.h")


def narrow_headers(texts: Iterable[str], include_dirs: Iterable[Path]) -> Mapping[str, str]:
    """Headers to be found before PyTorch's own in `include_dirs`, by their paths, for a source of these `texts`."""
    named = sorted({name for text in texts for name in _NAMED.findall(text)})
    operators = tuple(f"ATen/ops/{name}.h" for name in named)
    here = tuple(include_dirs)
    found = (path for path in (*_ALWAYS, *operators) if any((folder / path).is_file() for folder in here))
    text = "".join(_lines(found))
    return dict.fromkeys(_WHOLE, text)


def _lines(included: Iterable[str]) -> Iterator[str]:
    yield "#pragma once\n#define AT_PER_OPERATOR_HEADERS\n"
    yield from (f"#include <{path}>\n" for path in included)
    yield "namespace torch { using namespace at; }\n"


def _roots() -> list[Path]:
    """Where PyTorch lies, found without importing it: a module that the source has may be called so, too."""
    spec = find_spec("torch")
    return [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []


def torch_folders() -> tuple[Path, ...]:
    """Where its headers are."""
    return tuple(folder for root in _roots() for folder in (root / "include", root / "include/torch/csrc/api/include"))


def torch_flags(folders: Sequence[Path]) -> list[str]:
    """Its headers in `folders`, and its libraries."""
    libraries = [flag for root in _roots() for flag in (f"-L{root / 'lib'}", "-Xlinker", f"-rpath,{root / 'lib'}")]
    linked = ("-lc10", "-lc10_cuda", "-ltorch_cpu", "-ltorch_cuda", "-ltorch", "-ltorch_python")
    return [
        *(part for folder in (*folders, Path(sysconfig.get_path("include"))) for part in ("-isystem", str(folder))),
        *("-DTORCH_EXTENSION_NAME=porter_unused", "-DTORCH_API_INCLUDE_EXTENSION_H", *libraries, *linked),
    ]
