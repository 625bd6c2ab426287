"""The Python files of a repository, read and never imported, with its licence and its commit."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from porter.errors import InputError
from porter.learn.curation.bindings import Binding, bindings, names_read
from porter.learn.curation.stripping import stripped
from porter.python_tree import module_tree

_LICENCES = ("LICENSE*", "LICENCE*", "COPYING*")
_MOST_BYTES = 1 << 20  # of a file: larger ones are tables
_GIT_S = 20


@dataclass(frozen=True, slots=True)
class Prepared:
    """A statement without what changes no result, as text as well, and the names that it reads."""

    node: ast.stmt
    text: str
    names: Sequence[str]


@dataclass
class SourceFile:
    """One file of a repository; `path` is relative to it."""

    path: str
    tree: ast.Module
    _prepared: dict[int, Prepared] = field(default_factory=dict)

    @cached_property
    def bindings(self) -> dict[str, list[Binding]]:
        """Returns what each name of the file may mean, in the order of the file."""
        return bindings(self.tree)

    def prepared(self, node: ast.stmt) -> Prepared:
        """Returns a top-level statement as it is written down."""
        if id(node) not in self._prepared:
            bare = stripped(node)
            self._prepared[id(node)] = Prepared(bare, ast.unparse(bare), sorted(names_read(bare)))
        return self._prepared[id(node)]

    @cached_property
    def stars(self) -> list[ast.ImportFrom]:
        """Returns the imports of all that another module has."""
        return [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names)
        ]


@dataclass
class Repository:
    """A folder of Python files. `unread` counts those that are no Python."""

    root: Path
    files: dict[str, SourceFile] = field(default_factory=dict)
    unread: int = 0

    @cached_property
    def licence(self) -> str:
        """Returns the name of its licence file; empty where there is none."""
        found = sorted(path.name for pattern in _LICENCES for path in self.root.glob(pattern) if path.is_file())
        return found[0] if found else ""

    @cached_property
    def commit(self) -> str:
        """Returns the commit that git says is checked out; empty where the folder is no repository of git."""
        if not (self.root / ".git").exists():
            return ""
        command = ["git", "-C", str(self.root), "rev-parse", "HEAD"]
        try:
            said = subprocess.run(command, capture_output=True, text=True, timeout=_GIT_S, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return ""
        return said.stdout.strip() if said.returncode == 0 else ""

    def module(self, name: str) -> SourceFile | None:
        """Returns the file of the module `name`, with dots, from whichever folder of the repository it is named."""
        tail = name.replace(".", "/")
        for path in (f"{tail}.py", f"{tail}/__init__.py"):
            if path in self.files:
                return self.files[path]
            found = self._by_end.get(path, [])
            if len(found) == 1:
                return self.files[found[0]]
        return None

    @cached_property
    def _by_end(self) -> dict[str, list[str]]:
        ends: dict[str, list[str]] = {}
        for path in self.files:
            parts = path.split("/")
            for start in range(1, len(parts)):
                ends.setdefault("/".join(parts[start:]), []).append(path)
        return ends


def read_repository(root: Path) -> Repository:
    """Returns the repository in the folder `root`. Raises `InputError` where there is no such folder."""
    if not root.is_dir():
        raise InputError(f"{root}: no such folder", "name a folder of Python files, such as a clone of a repository")
    found = Repository(root)
    for path in _python_files(root):
        try:
            tree = module_tree(path.read_bytes(), path.name)
        except (SyntaxError, ValueError, RecursionError, OSError):
            found.unread += 1
            continue
        name = path.relative_to(root).as_posix()
        found.files[name] = SourceFile(name, tree)
    return found


def _python_files(root: Path) -> Iterator[Path]:
    for path in sorted(root.rglob("*.py")):
        hidden = any(part.startswith(".") for part in path.relative_to(root).parts)
        if not hidden and path.is_file() and not path.is_symlink() and path.stat().st_size <= _MOST_BYTES:
            yield path
