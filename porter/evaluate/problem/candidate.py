"""Reads a candidate from its files: one, or a folder in which one file holds the function that is called."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from porter.backend import Backend, Port, PortedFile
from porter.errors import InputError
from porter.source.encoding import read_text
from porter.source.headers import local_headers
from porter.source.load import load
from porter.source_text import Source

_USUAL_NAMES = ("forward", "candidate", "kernel", "main", "__init__")


def candidate_port(path: Path, backend: Backend, include_dirs: tuple[Path, ...]) -> Port:
    """Returns the candidate at `path`, its main file first.

    Raises `InputError` for files that cannot be read, a Python file that does not hold exactly one C++ source, and a
    folder in which no file can be told to be the main one.
    """
    if path.is_dir():
        main, *others = _files_in(path, backend)
        read = [Source(file, read_text(file)) for file in (main, *others)]
        files = [PortedFile(str(s.path.relative_to(path)), s.text, s) for s in read]
    else:
        # Only for C++ a Python file is something that holds sources.
        source = Source(path, read_text(path)) if path.suffix in backend.suffixes else only_source(path)
        files = [PortedFile(path.name, source.text, source)]
    known = {file.name for file in files}
    headers = local_headers(files[0].source, include_dirs) if files[0].source.path.suffix != ".py" else ()
    return Port((*files, *(PortedFile(n, h.text, h) for n, h in headers if n not in known)), ())


def only_source(path: Path) -> Source:
    """Returns the one CUDA source in the file at `path`. Raises `InputError` where it holds none or several."""
    sources = load(path).sources
    if len(sources) != 1:
        raise InputError(f"{path}: holds {len(sources)} sources", "verify one at a time: put it into a file of its own")
    return sources[0]


def _files_in(folder: Path, backend: Backend) -> list[Path]:
    """Returns the files of the backend's language, the main one first."""
    found = sorted(file for file in folder.rglob("*") if file.is_file() and file.suffix in backend.suffixes)
    if not found:
        raise InputError(
            f"{folder}: holds no file of the target's language", f"it ends in {', '.join(backend.suffixes)}"
        )
    main = found[0] if len(found) == 1 else next(_named(found, folder), None)
    if main is None:
        names = ", ".join(str(file.relative_to(folder)) for file in found)
        hint = f"name it {folder.name} or {_USUAL_NAMES[0]}, or verify the file itself"
        raise InputError(f"{folder}: porter cannot tell which of {names} to call", hint)
    return [main, *(file for file in found if file != main)]


def _named(files: list[Path], folder: Path) -> Iterator[Path]:
    """Yields the files at the top whose name says that they are the main file, the plainest first."""
    for stem in (folder.resolve().name, *_USUAL_NAMES):
        yield from (file for file in files if file.stem == stem and file.parent == folder)
