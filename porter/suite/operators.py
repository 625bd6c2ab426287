"""The operators of a suite: folders `<suite>/<category>/<operator>` with kernel, contract and reference."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from porter.contract.model.contract import Contract
from porter.contract.model.reader import load_contracts
from porter.errors import InputError
from porter.source.encoding import read_text


@dataclass(frozen=True, slots=True)
class Operator:
    """A CUDA kernel with its contracts, one for each element type, and its definition in plain torch.

    Or a PyTorch module, which is all of that: the file of the name `module` in `folder`.
    """

    suite: str
    category: str
    name: str
    folder: Path
    module: str = ""

    @property
    def key(self) -> str:
        """Returns what no other operator is called, and where its results lie: `kernelbench/norm/layer_norm`."""
        return f"{self.suite}/{self.category}/{self.name}"

    @property
    def source(self) -> Path:
        """Returns what is ported."""
        return self.folder / self.module if self.module else self.kernel

    @property
    def files(self) -> tuple[Path, ...]:
        """Returns all that it consists of."""
        if self.module:
            return (self.source,)
        every = (path for path in self.folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        return tuple(sorted(path for path in every if not path.name.startswith(".")))

    @property
    def kernel(self) -> Path:
        """The CUDA source: a PyTorch extension with `forward`."""
        return self.folder / "kernel.cu"

    @property
    def contract(self) -> Path:
        """Returns how `forward` is called."""
        return self.folder / "contract.toml"

    @property
    def reference(self) -> Path:
        """A Python file with `reference`, called as `forward` is."""
        return self.folder / "reference.py"

    def contracts(self) -> tuple[Contract, ...]:
        """The contracts of `forward`; a module has none but itself.

        Raises `InputError` where they cannot be read, `ContractError` where they err.
        """
        return () if self.module else load_contracts(self.contract)


def operators(root: Path) -> tuple[Operator, ...]:
    """All operators below `root`, a folder of suites, by suite, category and name."""
    return tuple(
        Operator(suite=path.parts[-4], category=path.parts[-3], name=path.parts[-2], folder=path.parent)
        for path in sorted(root.glob("*/*/*/kernel.cu"))
    )


@dataclass(frozen=True, slots=True)
class View:
    """A selection of a suite: all of it without what is `left_out`, for the reason in `because`."""

    name: str
    left_out: frozenset[str]
    because: str

    def of(self, suite: tuple[Operator, ...]) -> tuple[Operator, ...]:
        """Those of `suite` that are in the view."""
        return tuple(operator for operator in suite if operator.name not in self.left_out)


def views(path: Path) -> tuple[View, ...]:
    """The views that a suite's `views.toml` names. Raises `InputError` for a file that is none."""
    try:
        return tuple(_views(tomllib.loads(read_text(path))))
    except (tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError) as error:
        hint = 'write [[view]] with name = "...", leaves_out = ["..."] and because = "..."'
        raise InputError(f"{path}: not a list of views: {error}", hint) from error


def _views(document: dict[str, list[dict[str, object]]]) -> Iterator[View]:
    for table in document["view"]:
        names = table["leaves_out"]
        if not isinstance(names, list):
            raise TypeError("leaves_out is not a list")
        yield View(str(table["name"]), frozenset(map(str, names)), str(table["because"]))
