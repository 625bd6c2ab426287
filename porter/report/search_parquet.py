"""Trajectories of a search as a Parquet file: a row for each candidate, with the columns that its line of JSON has."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from porter.errors import InputError, MachineError, unwritable
from porter.whole_file import whole_file

SUFFIX = ".parquet"


def write_parquet(lines: Iterable[str], file: Path) -> Path:
    """Write what `lines` of `porter.evolve.trajectories` say into a new `file`; gives its place.

    What lines have by names of their own, files and points, are maps; values of a point are JSON. Raises `InputError`
    where the file exists or cannot be written, `MachineError` without pyarrow.
    """
    try:
        pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError:
        raise MachineError("the package 'pyarrow' is not installed", "pip install 'porter[parquet]'") from None
    if file.exists():
        raise InputError(f"{file}: exists", "name a new file")
    rows = [_row(_written(json.loads(line))) for line in lines]
    try:
        with whole_file(file) as fresh:
            parquet.write_table(pyarrow.Table.from_pylist(rows, _schema(pyarrow)), fresh)
    except OSError as error:
        raise unwritable(file, error) from error
    return file


def _written(value: Any) -> Any:  # noqa: ANN401 - JSON
    """The same with halves of letters, which JSON has and Parquet has not, spelled out."""
    match value:
        case str():
            return value.encode("utf-8", "backslashreplace").decode()
        case dict():
            return {_written(name): _written(one) for name, one in value.items()}
        case list():
            return [_written(one) for one in value]
    return value


def _row(step: Mapping[str, Any]) -> Mapping[str, object]:
    state, action = step["state"], step["action"]
    point = [(name, json.dumps(value)) for name, value in action["point"].items()]
    return {
        "state": {**state, "parents": [{**p, "files": list(p["files"].items())} for p in state["parents"]]},
        "action": {**action, "files": list(action["files"].items()), "point": point},
        "outcome": step["outcome"],
    }


def _schema(pyarrow: ModuleType) -> object:
    text, whole, real = pyarrow.string(), pyarrow.int64(), pyarrow.float64()
    texts = pyarrow.map_(text, text)
    score = pyarrow.struct({"measure": text, "factor": real, "low": real, "high": real})
    scored = {
        **dict.fromkeys(("digest", "outcome", "because", "feedback", "built"), text),
        **{"score": score, "cell": pyarrow.list_(whole)},
    }
    exchange = pyarrow.struct({"prompt": text, "reply": text, "tokens": whole, "model": text, "cost": real})
    action = {
        **{"proposer": text, "note": text, "point": texts, "files": texts},
        "exchanges": pyarrow.list_(exchange),
    }
    parent = pyarrow.struct({"files": texts, **scored})
    state = {"round": whole, "island": whole, "parents": pyarrow.list_(parent)}
    outcome = {**scored, "added": text, "decision": text}
    columns = {"state": state, "action": action, "outcome": outcome}
    return pyarrow.schema([(name, pyarrow.struct(fields)) for name, fields in columns.items()])
