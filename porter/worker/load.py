"""A generated module, imported from its file."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType


def load(path: Path, builtins: Mapping[str, object] | None = None) -> ModuleType:
    """The module, with `builtins` instead of Python's own where some are given; raises whatever its code does."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is no Python module")
    module = importlib.util.module_from_spec(spec)
    if builtins is not None:
        vars(module)["__builtins__"] = builtins
    spec.loader.exec_module(module)
    return module
