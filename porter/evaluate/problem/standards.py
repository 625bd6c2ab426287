"""Opens what `--against` names: a CUDA source, or a standard of another kind."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from porter.contract.model.asked import check_sizes
from porter.contract.model.contract import Contract, Workload
from porter.contract.model.reader import load_contracts
from porter.errors import InputError
from porter.evaluate.model.migration import MigrateOptions
from porter.evaluate.problem.bench import limits
from porter.evaluate.problem.candidate import only_source
from porter.oracle.golden import GOLDEN, golden_standard
from porter.oracle.python_reference import python_standard
from porter.oracle.standard import Standard
from porter.python_tree import module_tree
from porter.source.encoding import read_text
from porter.source_text import Source

_TOML, _PYTHON = ".toml", ".py"
_SEED = 77_017
_SAYS_SO = frozenset(("reference", "Model"))


@dataclass(frozen=True, slots=True)
class AgainstCuda:
    """A CUDA source, with the contract it is called by; None where porter is to draft that."""

    source: Source
    contract: Path | None


def against_cuda(against: Path, options: MigrateOptions) -> AgainstCuda | None:
    """Returns the CUDA source that `against` is or names; None where it is something else. Raises `InputError`."""
    contract = options.contract
    if against.suffix == _TOML:
        against, contract = _named_reference(against), against
    if against.suffix == GOLDEN or (against.suffix == _PYTHON and is_reference(against)):
        return None
    try:
        return AgainstCuda(only_source(against), contract)
    except InputError as error:
        if against.suffix != _PYTHON:
            raise
        raise InputError(error.message, "a reference in Python is a function 'reference' or a class 'Model'") from error


@contextmanager
def opened(against: Path, options: MigrateOptions) -> Iterator[Standard]:
    """Opens a standard that is not a CUDA source.

    Raises `InputError`, and `UsageError` for a size that a reference does not have.
    """
    if against.suffix == GOLDEN:
        yield golden_standard(against)
        return
    contract = options.contract
    if against.suffix == _TOML:
        against, contract = _named_reference(against), against
    stated = () if contract is None else load_contracts(contract)
    with python_standard(against, stated, limits(options.time_limit_s)) as standard:
        if options.sizes:
            check_sizes(options.sizes, standard.contracts(), against)
        yield standard


def as_written(standard: Standard, contract: Contract) -> tuple[Workload, ...]:
    """Returns the workload for a device at the sizes that a standard is written for; empty where it names none."""
    written = standard.written_sizes(contract)
    return (Workload("as written", written, _SEED, device_only=True),) if written else ()


def named_source(against: Path) -> Path:
    """Returns the file that `against` is, or that it names where it is a contract. Raises `InputError`."""
    return _named_reference(against) if against.suffix == _TOML else against


def _named_reference(path: Path) -> Path:
    """Returns the file that the contracts at `path` name as their reference."""
    names = {contract.reference for contract in load_contracts(path)}
    if names == {""}:
        hint = 'add reference = "kernel.cu" or reference = "reference.py" to each [[contract]]'
        raise InputError(f"{path}: its contracts name no reference", hint)
    if len(names) > 1:
        raise InputError(f"{path}: its contracts name different references", "verify against one at a time")
    named = path.parent / names.pop()
    if not named.is_file():
        raise InputError(f"{path}: there is no reference {named}", "it is looked for beside the contract")
    return named


def is_reference(path: Path) -> bool:
    """Returns whether a Python file defines a function to call, or else holds CUDA in strings. Raises `InputError`."""
    try:
        body = module_tree(read_text(path)).body
    except SyntaxError as error:
        raise InputError(f"{path}:{error.lineno}: is not Python: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: is not Python: {error}") from error
    return any(isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name in _SAYS_SO for node in body)
