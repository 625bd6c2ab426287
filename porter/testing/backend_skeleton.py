"""The distribution of a new backend: a class and its tables, which pass conformance as they are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from porter.errors import InputError, UsageError, unwritable
from porter.registry import backend_names, loadable_backends

# Template and place of each file; `{name}` is the platform's.
_FILES: Mapping[str, str] = {
    "pyproject.toml.j2": "pyproject.toml",
    "README.md.j2": "README.md",
    "init.py.j2": "porter_{name}/__init__.py",
    "backend.py.j2": "porter_{name}/backend.py",
    "targets.toml.j2": "porter_{name}/targets.toml",
    "names.toml.j2": "porter_{name}/names.toml",
    "findings.toml.j2": "porter_{name}/findings.toml",
    "compiler.h.j2": "porter_{name}/include/dialect/compiler.h",
    "language.h.j2": "porter_{name}/include/dialect/language.h",
    "runtime.h.j2": "porter_{name}/include/{name}_runtime.h",
    "test_conformance.py.j2": "tests/test_conformance.py",
}
_CODES = range(1200, 2000, 100)  # each hundred of portability findings is one backend's


def write_skeleton(name: str, folder: Path) -> tuple[Path, ...]:
    """Write the distribution into `folder` and return its files.

    Raises `UsageError` for a name that cannot be a platform's or is taken, `InputError` where `folder` holds something.
    """
    if not (name.isidentifier() and name == name.lower() and name.isascii()):
        raise UsageError(f"{name}: a platform's name is lower-case letters, digits and underscores", "such as acme")
    if name in backend_names():
        raise UsageError(f"{name}: there is a backend of this name already", "`porter doctor` lists them")
    if folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder} is not empty", "name another folder with --out")
    environment = Environment(
        loader=PackageLoader("porter.testing", "skeleton"),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    known = {"name": name, "title": name.title().replace("_", ""), "code": _free_code()}
    texts = {place.format(name=name): environment.get_template(template) for template, place in _FILES.items()}
    return tuple(_write(folder / place, template.render(known)) for place, template in texts.items())


def _free_code() -> int:
    """The first number of a hundred in which no installed backend has a code.

    Raises `UsageError` where there is none.
    """
    taken = {entry.code[4:6] for backend in loadable_backends() for entry in backend.catalogue()}
    for code in _CODES:
        if str(code)[:2] not in taken:
            return code
    raise UsageError("every hundred of codes is some backend's", "number the findings by hand")


def _write(path: Path, text: str) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    except OSError as error:
        raise unwritable(path, error) from error
    return path
