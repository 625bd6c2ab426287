"""The operators that a command names: a folder of suites or a part of one, and of these a view."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

from porter.errors import InputError, UsageError
from porter.evaluate.problem.standards import is_reference
from porter.suite.operators import Operator, View, views

_KERNEL, _VIEWS = "kernel.cu", "views.toml"
_LEVEL = re.compile(r"level\d+")


def find_operators(root: Path, view: str = "") -> tuple[Operator, ...]:
    """The operators in `root`, a folder of suites or any folder within, in the order of their keys.

    Where there is no CUDA these are PyTorch modules: the files in `root/level1`, `root/level2` and so on, or in one of
    these. Raises `InputError` where there is none or one lacks its contract, `UsageError` for a view nobody defines.
    """
    if not root.is_dir():
        raise InputError(f"{root}: no such folder", "a suite is a folder of <category>/<operator>/kernel.cu")
    kernels = [_operator(file.absolute()) for file in root.rglob(_KERNEL)]
    found = sorted(kernels or _modules(root.absolute()), key=lambda one: one.key)
    if not found:
        hint = f"an operator is a folder with {_KERNEL} and contract.toml, or a PyTorch module level1/NAME.py"
        raise InputError(f"{root}: no operator in it", hint)
    return _viewed(root, tuple(found), view) if view else tuple(found)


def dtypes_of(operator: Operator) -> tuple[str, ...]:
    """The float types among its tensors, by name, each once, as they come."""
    floats = (t.dtype for contract in operator.contracts() for t in contract.tensors if t.dtype.is_float)
    return tuple(dict.fromkeys(dtype.value for dtype in floats))


def digest_of(operator: Operator) -> str:
    """Changes with any of its files."""
    named = ((path.relative_to(operator.folder).as_posix().encode(), path) for path in operator.files)
    parts = (part for name, path in named for part in (name, path.read_bytes()))
    return hashlib.sha256(b"\0".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()


def _modules(root: Path) -> Iterator[Operator]:
    """Yields the modules of a folder in KernelBench's form, by level; other files of Python are none."""
    levels = [root] if _LEVEL.fullmatch(root.name) else sorted(one for one in root.glob("level*") if one.is_dir())
    for level in levels:
        for file in sorted(level.glob("*.py")):
            if is_reference(file):
                yield Operator(level.parent.name, level.name, file.stem, level, file.name)


def _operator(kernel: Path) -> Operator:
    folder = kernel.parent
    operator = Operator(folder.parent.parent.name, folder.parent.name, folder.name, folder)
    if not operator.contract.is_file():
        raise InputError(f"{folder}: has no contract.toml", f"`porter suite new {kernel}` drafts one")
    return operator


def _viewed(root: Path, operators: tuple[Operator, ...], name: str) -> tuple[Operator, ...]:
    """Those of the suite that defines the view."""
    defined = {view.name: (suite, view) for suite, view in _views(root)}
    if name not in defined:
        raise UsageError(f"no view {name!r} in {root}", f"there are: {', '.join(defined) or 'none'}")
    suite, view = defined[name]
    return view.of(tuple(one for one in operators if one.suite == suite))


def _views(root: Path) -> list[tuple[str, View]]:
    """The views of all suites in `root`, or of the one that it is a part of, with the names of these."""
    whole = root.absolute()
    files = {*whole.rglob(_VIEWS), *(parent / _VIEWS for parent in whole.parents if (parent / _VIEWS).is_file())}
    return [(file.parent.name, view) for file in sorted(files) for view in views(file)]
