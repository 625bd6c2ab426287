"""A module, imported from its file, and those beside it that it imports."""

from __future__ import annotations

import ast
import builtins as python
import importlib.util
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import cast

from porter.python_tree import module_tree

_Import = Callable[..., object]
Mark = Callable[[ast.Module, Path], Mapping[str, object]]


def load(path: Path, builtins: Mapping[str, object] | None = None, mark: Mark | None = None) -> ModuleType:
    """The module, with `builtins` instead of Python's own where some are given; raises whatever its code does.

    What it imports of its folder is loaded in the same way. `mark` may change what is executed of each file, and gives
    the names that it then needs.
    """
    own = dict(vars(python) if builtins is None else builtins)
    own["__import__"] = _Siblings(path, own, mark)
    return _loaded(path, own, mark)


def _loaded(path: Path, builtins: Mapping[str, object], mark: Mark | None) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python module")
    module = importlib.util.module_from_spec(spec)
    vars(module)["__builtins__"] = builtins
    if mark is None:
        spec.loader.exec_module(module)
        return module
    tree = module_tree(path.read_bytes(), str(path))
    vars(module).update(mark(tree, path))
    exec(compile(tree, str(path), "exec", dont_inherit=True), vars(module))
    return module


class _Siblings:
    """Stands for `import` in a module: gives other files of its folder, each loaded once, else what it gave before."""

    def __init__(self, main: Path, builtins: Mapping[str, object], mark: Mark | None) -> None:
        self._main = main
        self._builtins = builtins
        self._mark = mark
        self._import = cast("_Import", builtins["__import__"])
        self._modules: dict[str, ModuleType] = {}

    def __call__(
        self,
        name: str,
        space: Mapping[str, object] | None = None,
        local: Mapping[str, object] | None = None,
        wanted: Sequence[str] | None = (),
        level: int = 0,
    ) -> object:
        """The module `name`, or one that has all that is `wanted`."""
        if level and not name:
            return SimpleNamespace(**{member: self._sibling(member) for member in wanted or ()})
        if level or (self._path(name).exists() and self._path(name) != self._main):
            return self._sibling(name)
        return self._import(name, space, local, wanted, level)

    def _path(self, name: str) -> Path:
        return self._main.parent / f"{name}.py"

    def _sibling(self, name: str) -> ModuleType:
        if name not in self._modules:
            self._modules[name] = _loaded(self._path(name), self._builtins, self._mark)
        return self._modules[name]
