"""Steps in files: a line of JSON for each, or Parquet with a row for each and the same fields as columns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType, NoneType, UnionType
from typing import Any, cast, get_args, get_origin

from porter.errors import InputError, MachineError, unwritable
from porter.learn.records import fields_of, plain, record
from porter.learn.steps import FORMAT, VERSION, Step
from porter.whole_file import whole_file

PARQUET = ".parquet"


def write_steps(steps: Iterable[Step], file: Path) -> Path:
    """Write `steps` into a new `file`: Parquet where its name ends so, else lines of JSON. Returns its place.

    Raises `InputError` where it exists or cannot be written, and `MachineError` for Parquet without pyarrow.
    """
    if file.exists():
        raise InputError(f"{file}: exists", "name a new file")
    library = _pyarrow() if file.suffix == PARQUET else None
    try:
        with whole_file(file) as fresh:
            if library is None:
                _write_lines(steps, fresh)
            else:
                _write_table(steps, fresh, library)
    except OSError as error:
        raise unwritable(file, error) from error
    return file


def read_steps(file: Path) -> list[Step]:
    """Returns the steps of a file that `write_steps` wrote. Raises `InputError` for any other, naming the line."""
    rows = _rows_of_table(file) if file.suffix == PARQUET else _rows_of_lines(file)
    found = []
    for number, row in rows:
        try:
            if (row.get("format"), row.get("version")) != (FORMAT, VERSION):
                raise ValueError(f"this porter reads {FORMAT} {VERSION}, not {row.get('format')} {row.get('version')}")
            found.append(record(Step, row))
        except (ValueError, AttributeError) as error:
            raise InputError(
                f"{file}:{number}: no step: {error}", "`porter steps RUN --out FILE` writes steps"
            ) from error
    return found


def _write_lines(steps: Iterable[Step], place: Path) -> None:
    with place.open("w", encoding="utf-8") as out:
        for step in steps:
            out.write(json.dumps(plain(step), sort_keys=True) + "\n")


def _rows_of_lines(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    try:
        lines = file.read_text("utf-8").splitlines()
        for number, line in enumerate(lines, start=1):
            yield number, json.loads(line)
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: cannot be read as lines of JSON: {error}") from error


def _write_table(steps: Iterable[Step], place: Path, library: tuple[ModuleType, ModuleType]) -> None:
    arrow, parquet = library
    rows = [_encoded(Step, plain(step)) for step in steps]
    columns = [(name, _arrow(arrow, hint)) for name, hint in fields_of(Step).items()]
    parquet.write_table(arrow.Table.from_pylist(rows, arrow.schema(columns)), place)


def _rows_of_table(file: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    arrow, parquet = _pyarrow()
    try:
        rows = parquet.read_table(file).to_pylist()
    except (OSError, arrow.ArrowException) as error:
        raise InputError(f"{file}: cannot be read as Parquet: {error}") from error
    for number, row in enumerate(rows, start=1):
        yield number, _decoded(Step, row)


def _pyarrow() -> tuple[ModuleType, ModuleType]:
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise MachineError("the package 'pyarrow' is not installed", "pip install 'porter[parquet]'") from None


def _arrow(arrow: ModuleType, hint: Any) -> object:  # noqa: ANN401 - types
    """Returns the column type of a field. The values of maps are JSON, since they are of several types."""
    if isinstance(hint, UnionType):
        return _arrow(arrow, _some(hint))
    if get_origin(hint) is tuple:
        return arrow.list_(_arrow(arrow, get_args(hint)[0]))
    if _is_map(hint):
        return arrow.map_(arrow.string(), arrow.string())
    if is_dataclass(hint):
        return arrow.struct([(name, _arrow(arrow, inner)) for name, inner in fields_of(cast(type, hint)).items()])
    simple = {int: arrow.int64(), float: arrow.float64(), bool: arrow.bool_()}
    return simple.get(hint, arrow.string())


def _encoded(hint: Any, value: Any) -> Any:  # noqa: ANN401 - JSON
    """Returns a field as Parquet holds it: maps as pairs, and halves of letters, which JSON has, spelled out."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    return _mapped(hint, value, _encoded, lambda pairs: [(name, json.dumps(one)) for name, one in pairs.items()])


def _decoded(hint: Any, value: Any) -> Any:  # noqa: ANN401 - JSON
    return _mapped(hint, value, _decoded, lambda pairs: {name: json.loads(one) for name, one in pairs})


def _mapped(hint: Any, value: Any, inner: Any, pairs: Any) -> Any:  # noqa: ANN401 - JSON
    """Returns `value` with `pairs` of each map in it, and `inner` of all else."""
    if value is None:
        return None
    if isinstance(hint, UnionType):
        return inner(_some(hint), value)
    if get_origin(hint) is tuple:
        return [inner(get_args(hint)[0], part) for part in value]
    if _is_map(hint):
        return pairs(value)
    if is_dataclass(hint):
        return {name: inner(one, value[name]) for name, one in fields_of(cast(type, hint)).items()}
    return value


def _some(hint: UnionType) -> object:
    return next(option for option in get_args(hint) if option is not NoneType)


def _is_map(hint: object) -> bool:
    origin = get_origin(hint)
    return isinstance(origin, type) and issubclass(origin, Mapping)
