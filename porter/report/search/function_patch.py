"""Puts the winner of a search into a function of another repository: behind a guard, with the old code for all else.

path/function_port.py     the port as it was proven, and `fits`, which says of a call whether it is such a one
path/module.py            asks `fits` first, and goes on as before where it says no
tests/, benchmarks/       port and old code, compared and timed; where the repository has its own of the function
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

import black

from porter.contract.model.contract import ScalarArg, TensorArg
from porter.contract.model.reader import load_contracts
from porter.errors import InputError
from porter.evolve.scoring.subject import CONTRACT, ORIGINAL
from porter.python_tree import expression_tree, module_tree
from porter.report.search.call_site import CallSite, Parameter, call_site, matched
from porter.report.search.course import Course
from porter.report.search.export import render
from porter.report.search.git import Git
from porter.report.search.port_guard import Compared, compared, conditions, drawn, shape_in_python, sizes_told

_WIDTH = 88  # black's own
_OWN = frozenset(("COMPARED", "fits", "launched_on"))  # at the top of the module, behind the port
_TESTS, _BENCHMARKS = ("tests", "test", "unit_tests"), ("benchmarks", "benchmark")


@dataclass(frozen=True)
class _Transfer:
    """A winner, the function that it is to answer for, and what it was compared at."""

    git: Git
    course: Course
    found: Compared
    path: PurePosixPath
    site: CallSite
    given: tuple[str, ...]  # the function's parameter for each of the port's arguments
    fixed: tuple[Parameter, ...]

    @property
    def port(self) -> str:
        """Returns the name of the module of the port."""
        return f"{self.site.function.strip('_')}_port"

    @property
    def package(self) -> str:
        """Returns the dotted name of the package that the function's module is in."""
        names = set(self.git.paths)
        folders = [self.path.parent]
        while folders[0].name and str(folders[0] / "__init__.py") in names:
            folders.insert(0, folders[0].parent)
        return ".".join(folder.name for folder in folders[1:])


def function_changes(git: Git, course: Course, passed: Sequence[str], at: str) -> Mapping[str, str]:
    """Returns the files of the patch by their paths; `at` is `path.py:function`, `passed` what the winner passed.

    Raises `InputError` where the function is not there, does not take what the port does, or has a port already, and
    for ports that are no single file of Python.
    """
    path, _, function = at.partition(":")
    if path not in git.paths:
        raise InputError(f"{git.repository}: there is no file {path}")
    if str(PurePosixPath(path).parent / "__init__.py") not in git.paths:
        raise InputError(f"{git.repository}: {path} lies in no package", "a port is imported from beside it")
    found = compared(load_contracts(course.folder / ORIGINAL / CONTRACT), passed)
    site = call_site(git("show", f"HEAD:{path}"), function, path)
    given, fixed = matched(found.contract.arguments, site, path)
    return _files(_Transfer(git, course, found, PurePosixPath(path), site, given, fixed))


def _files(to: _Transfer) -> Mapping[str, str]:
    module, port = str(to.path), str(to.path.parent / f"{to.port}.py")
    test = to.git.beside(to.site.function, "test", _TESTS) / f"test_{to.port}.py"
    benchmark = to.git.beside(to.site.function, "bench", _BENCHMARKS) / f"benchmark_{to.port}.py"
    changes = {
        module: to.site.with_port(to.port, *_answer(to)),
        port: _port_text(to),
        str(test): _laid_out(to, "function_test.py.j2"),
        str(benchmark): _laid_out(to, "function_benchmark.py.j2"),
    }
    for path in changes.keys() - {module}:
        if path in to.git.paths:
            raise InputError(f"{to.git.repository}: {path} is there already")
    return changes


def _answer(to: _Transfer) -> tuple[str, str]:
    """Returns when the port answers a call, and how."""
    given = ", ".join(to.given)
    usual = [_has_default(parameter, to) for parameter in to.fixed]
    condition = " and ".join((*usual, f"{to.port}.fits({given})"))
    return condition, f"{to.port}.{to.found.contract.entry.name}({given})"


def _has_default(parameter: Parameter, to: _Transfer) -> str:
    """Returns the condition that a parameter the port knows nothing of has its default."""
    try:
        value = ast.literal_eval(expression_tree(parameter.default or ""))
    except ValueError:
        because = f"{to.path}: the port has no {parameter.name}, and its default is no constant"
        raise InputError(because) from None
    same = "is" if value is None or isinstance(value, bool) else "=="
    return f"{parameter.name} {same} {parameter.default}"


def _port_text(to: _Transfer) -> str:
    """Returns the port as it was proven, with the guard behind it."""
    best = to.course.state.best
    assert best is not None
    file, *others = best.candidate.files
    if others or PurePosixPath(file.name).suffix != ".py":
        raise InputError(f"{to.course.folder}: the best candidate is no single file of Python")
    names = _names(file.text)
    if taken := names & _OWN:
        raise InputError(f"{file.name}: has a name that the guard needs: {', '.join(sorted(taken))}")
    text = file.text
    for module in ("torch", "os"):
        text = text if module in names else _with_import(text, module)
    guard = _laid_out(to, "port_guard.py.j2")
    return f"{text.rstrip()}\n\n\n{guard}"


def _names(text: str) -> frozenset[str]:
    """Returns what a module imports and defines at its top."""
    found = set[str]()
    for node in module_tree(text).body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            found |= {(one.asname or one.name).split(".")[0] for one in node.names}
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        else:
            found |= {child.id for child in ast.walk(node) if isinstance(child, ast.Name)}
    return frozenset(found)


def _with_import(text: str, module: str) -> str:
    """Returns a module that imports another one first, behind its docstring and what it takes of the future."""
    first = next(n for n in module_tree(text).body if isinstance(n, ast.Import | ast.ImportFrom) and _is_plain(n))
    lines = text.splitlines(keepends=True)
    return "".join((*lines[: first.lineno - 1], f"import {module}\n", *lines[first.lineno - 1 :]))


def _is_plain(node: ast.Import | ast.ImportFrom) -> bool:
    return not (isinstance(node, ast.ImportFrom) and node.module == "__future__")


def _laid_out(to: _Transfer, template: str) -> str:
    """Returns a generated text, with lines as long as those of the repository."""
    contract = to.found.contract
    text = render(
        template,
        source=to.course.about["source"],
        function=to.site.function,
        port=to.port,
        module=to.path.stem,
        package=to.package,
        arguments=[argument.name for argument in contract.arguments],
        tensors=contract.tensors,
        dtypes=to.found.dtypes,
        sizes=sizes_told(contract),
        conditions=list(conditions(to.found)),
        tried=to.found.sizes,
        timed=[w.sizes for w in contract.workloads if w.device_only] or to.found.sizes,
        tolerance=to.found.tolerance,
        drawn=list(_drawn(to)),
        given=to.given,
        keywords=[f"{name}={name}" for name in to.given],
    )
    return black.format_str(text, mode=black.Mode(line_length=_line_length(to.git))).lstrip("\n")


def _drawn(to: _Transfer) -> Sequence[str]:
    """Returns what a test gives for each argument of the port, in Python over sizes and `dtypes`."""
    found, number = list[str](), 0
    for argument in to.found.contract.arguments:
        if isinstance(argument, ScalarArg):
            found.append(to.found.numbers(argument)[0])
        elif isinstance(argument, TensorArg):
            how, bound = drawn(argument)
            found.append(f'drawn("{how}", {shape_in_python(argument)}, dtypes[{number}]{bound and f", {bound}"})')
            number += 1
    return found


def _line_length(git: Git) -> int:
    if "pyproject.toml" not in git.paths:
        return _WIDTH
    tools = tomllib.loads(git("show", "HEAD:pyproject.toml")).get("tool", {})
    found = [tools.get("ruff", {}).get("line-length"), tools.get("black", {}).get("line-length")]
    return next((length for length in found if isinstance(length, int)), _WIDTH)
