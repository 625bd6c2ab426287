"""Failures that are known, with the reason why nobody is told of them again."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from porter.errors import InputError
from porter.source.encoding import read_text

KNOWN_FAILURES = "known_failures.toml"


def known_failures(path: Path, target: str) -> Mapping[str, str]:
    """The reasons in the file at `path` for `target`, by the operator's key; none where there is no file.

    A table a target, in it `"kernelbench/norm/layer_norm" = "why"`. Raises `InputError` for anything else.
    """
    if not path.is_file():
        return {}
    try:
        tables = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: is not TOML: {error}") from error
    reasons = tables.get(target, {})
    if not isinstance(reasons, dict) or not all(isinstance(reason, str) and reason for reason in reasons.values()):
        raise InputError(f"{path}: [{target}] has to give a reason for each operator", '"suite/category/name" = "why"')
    return reasons
