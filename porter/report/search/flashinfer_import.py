"""Turns definitions of flashinfer-bench into standards for porter: Python references with `get_inputs`.

Nothing of a definition is executed here: its text is written to a file, and later runs confined, as all references do.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from porter.errors import InputError
from porter.source.encoding import read_text

_FLOATS = ("float32", "float16", "bfloat16")
_NAME = re.compile(r"\w[\w.+-]*", re.ASCII)
_USUAL = 256  # of an axis where no workload says how long it is
_Object = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class _Imported:
    """A definition, the workload whose sizes are taken, if there is one, and the solutions."""

    definition: _Object
    workload: _Object | None
    solutions: tuple[_Object, ...]


def imported_texts(place: Path) -> Mapping[str, str]:
    """Returns the files for a definition, or for all of a data set, by their paths.

    Raises `InputError` for other files, and for a definition whose inputs porter cannot draw.
    """
    found = tuple(_data_set(place)) if place.is_dir() else (_Imported(_read(place), None, ()),)
    if not found:
        raise InputError(f"{place}: has no definitions", "a data set has a folder `definitions`")
    texts: dict[str, str] = {}
    for one in found:
        name = _name(_text(one.definition, "name"))
        texts[f"{name}/reference.py"] = _reference(one)
        for solution in one.solutions:
            for path, text in _sources(solution):
                texts[f"{name}/{_name(_text(solution, 'name'))}/{path}"] = text
    return texts


def _data_set(place: Path) -> Iterator[_Imported]:
    solutions = [_read(path) for path in sorted((place / "solutions").rglob("*.json"))]
    lines = [line for path in sorted((place / "workloads").rglob("*.jsonl")) for line in read_text(path).splitlines()]
    workloads = [_object(line, place) for line in lines if line.strip()]
    for path in sorted((place / "definitions").rglob("*.json")):
        definition = _read(path)
        name = _text(definition, "name")
        of_it = (one.get("workload") for one in workloads if one.get("definition") == name)
        workload = next((one for one in of_it if isinstance(one, dict)), None)
        yield _Imported(definition, workload, tuple(one for one in solutions if one.get("definition") == name))


def _reference(one: _Imported) -> str:
    definition, name = one.definition, _text(one.definition, "name")
    text = _text(definition, "reference")
    try:
        compile(text, name, "exec", ast.PyCF_ONLY_AST)
    except (SyntaxError, ValueError) as error:
        raise InputError(f"{name}: its reference is no Python: {error}") from error
    inputs = _objects(definition, "inputs")
    values = [_value(one, key, spec) for key, spec in inputs.items()]
    listed = "".join(f"        {value},\n" for value in values)
    return (
        f"{text.rstrip()}\n\n\ndef reference(*inputs):\n    return run(*inputs)\n\n\n"
        f"def get_inputs():\n    import torch\n\n    return [\n{listed}    ]\n"
    )


def _value(one: _Imported, name: str, spec: _Object) -> str:
    """Returns the Python that draws an input. Raises `InputError` for one whose values nothing says."""
    said, dtype = _objects(one.workload or {}, "inputs").get(name, {}), spec.get("dtype")
    shape = spec.get("shape")
    title = _text(one.definition, "name")
    if shape is None:
        if isinstance(value := said.get("value"), int | float):
            return repr(value)
        raise InputError(f"{title}: no workload says the number {name}")
    if dtype not in _FLOATS or said.get("type", "random") != "random":
        raise InputError(f"{title}: {name} is no tensor of random floats, and porter cannot say what it holds")
    if not isinstance(shape, list):
        raise InputError(f"{title}: {name} has no shape")
    extents = ", ".join(str(_extent(one, str(axis))) for axis in shape)
    return f"torch.randn([{extents}], dtype=torch.{dtype})"


def _extent(one: _Imported, axis: str) -> int:
    spec = _objects(one.definition, "axes").get(axis, {})
    axes = one.workload.get("axes") if one.workload else None
    said = axes.get(axis) if isinstance(axes, dict) else None
    value = spec.get("value") if spec.get("type") == "const" else said
    return value if isinstance(value, int) else _USUAL


def _sources(solution: _Object) -> Iterator[tuple[str, str]]:
    sources = solution.get("sources")
    for source in sources if isinstance(sources, list) else ():
        yield "/".join(map(_name, _text(source, "path").split("/"))), _text(source, "content")


def _name(text: str) -> str:
    """Returns a name of a file or folder. Raises `InputError` for what may lead elsewhere."""
    if not _NAME.fullmatch(text):
        raise InputError(f"{text!r} is no name of a file: it has letters, digits and _ . + -")
    return text


def _objects(record: _Object, key: str) -> Mapping[str, _Object]:
    found = record.get(key)
    return {name: one for name, one in found.items() if isinstance(one, dict)} if isinstance(found, dict) else {}


def _text(record: object, key: str) -> str:
    value = record.get(key) if isinstance(record, dict) else None
    if not isinstance(value, str) or not value:
        raise InputError(f"a definition or solution has no text {key!r}")
    return value


def _read(path: Path) -> _Object:
    return _object(read_text(path), path)


def _object(text: str, path: Path) -> _Object:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise InputError(f"{path}: is no JSON object")
    return found
