"""Modules that `prepare.py` wrote, and the tensors that they are called with: for `compile.py` and `measure.py`.

It needs PyTorch and Triton alone.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import torch


def folders(folder: Path) -> list[Path]:
    """Returns the folders of all operators, in order."""
    return sorted(path for path in folder.iterdir() if path.is_dir())


def about(folder: Path) -> Mapping[str, Any]:
    """Returns what is known of an operator."""
    found: Mapping[str, Any] = json.loads((folder / "about.json").read_text())
    return found


def loaded(path: Path) -> ModuleType:
    """Returns the module in a file."""
    spec = importlib.util.spec_from_file_location(f"{path.parent.name}_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def made(told: Mapping[str, Any], empty: Callable[..., Any] | None = None) -> Any:
    """Returns an argument; `empty` makes tensors of no content where it is given."""
    if "dtype" not in told:
        return told["value"]
    dtype, shape = getattr(torch, told["dtype"]), told["shape"]
    if empty is not None:
        return empty(shape, dtype=dtype)
    if dtype == torch.bool:
        return torch.rand(shape, device="cuda") < 0.5
    if not dtype.is_floating_point:
        return torch.randint(0, 3, shape, device="cuda", dtype=dtype)
    if told["values"] == "normal":
        return torch.randn(shape, device="cuda", dtype=dtype)
    return 1 - torch.rand(
        shape, device="cuda", dtype=dtype
    )  # one in 256 of bfloat16 would be 0, which has no logarithm


def copied(call: Sequence[Any]) -> list[Any]:
    """Returns arguments that may be written: small tensors, which the batch norm has, are copied."""
    return [one.clone() if isinstance(one, torch.Tensor) and one.numel() < 1 << 20 else one for one in call]


def modules(folder: Path) -> Iterator[Path]:
    """Yields the modules of an operator by number."""
    for number in range(len(about(folder)["schedules"])):
        yield folder / f"{number}.py"
